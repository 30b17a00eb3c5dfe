import type { Json, JsonObject } from '../types/json.ts';
import { entries, items, object } from './check_context.ts';
import type { ConfigDocument } from './document.ts';
import { type ConfigIssue, formatPath, type Path } from './issue.ts';
import { laterCapabilities, laterChannels, laterSections } from './later.ts';
import type { Plugins } from './schema.ts';

const ignored = 'not available yet in this version; ignored';

/** Keys of a binding whose feature is not built, with what happens instead. */
const bindingKeys: Record<string, string> = {
  channel_tools: ignored,
  workspace_scope: ignored,
  thread_context: ignored,
  share_across_audiences: ignored,
};
const agentKeys: Record<string, string> = {
  subagents: ignored,
  collections: ignored,
  context: ignored,
  skills: ignored,
};
/** The same keys as the documentation writes them. */
export const laterKeys: readonly string[] = [
  'console',
  'secrets.key',
  'sandbox.connections',
  ...Object.keys(agentKeys).map((key) => `agents.<name>.${key}`),
  'agents.<name>.capabilities[].secret',
  ...Object.keys(bindingKeys).map((key) => `bindings[].${key}`),
];
const placeholders = /\{(channel_name|channel_purpose|channel_topic|member_count|member_list)\}/;

/**
 * One line for every key that the file really sets and whose feature this version does not have. `data` is the file as
 * written, before defaults.
 */
export function findNotYet(
  data: JsonObject,
  document: Pick<ConfigDocument, 'lineOf'>,
  plugins: Plugins,
): ConfigIssue[] {
  const found: ConfigIssue[] = [];
  const say = (path: Path, message: string) => {
    const line = document.lineOf(path);
    found.push({ path: formatPath(path), ...(line === undefined ? {} : { line }), message });
  };
  const each = (path: Path, at: JsonObject, keys: Record<string, string>) => {
    for (const [key, message] of Object.entries(keys)) if (at[key] !== undefined) say([...path, key], message);
  };

  for (const key of Object.keys(laterSections)) if (data[key] !== undefined && !isEmpty(data[key])) say([key], ignored);
  if (data.console !== undefined) say(['console'], ignored);
  const { connections } = object(data.sandbox);
  if (connections !== undefined && !isEmpty(connections)) say(['sandbox', 'connections'], ignored);
  if (typeof object(data.secrets).key === 'string') say(['secrets', 'key'], ignored);
  for (const [name, channel] of entries(data.channels))
    if (isLaterChannel(plugins, channel.type))
      say(
        ['channels', name],
        `${String(channel.type)} is not available yet in this version; ignored with its bindings`,
      );

  for (const [name, agent] of entries(data.agents)) {
    const path = ['agents', name];
    each(path, agent, agentKeys);
    for (const [index, item] of items(agent.capabilities)) {
      const at = [...path, 'capabilities', index];
      const entry = object(item);
      const id = String(typeof item === 'string' ? item : entry.id);
      if (isLaterCapability(plugins, id)) say(at, `${id} is ${ignored}`);
      else {
        if (typeof entry.secret === 'string') say([...at, 'secret'], ignored);
      }
    }
  }
  for (const [index, item] of items(data.bindings)) {
    const binding = object(item);
    const path = ['bindings', index];
    each(path, binding, bindingKeys);
    if (typeof binding.prompt === 'string' && placeholders.test(binding.prompt))
      say([...path, 'prompt'], 'placeholders are not available yet in this version; they stay as they are');
  }
  return found.sort((left, right) => (left.line ?? 0) - (right.line ?? 0));
}

export function isLaterChannel(plugins: Plugins, type: Json | undefined): boolean {
  return laterChannels.some((later) => later.type === type) && !plugins.adapters.some((one) => one.type === type);
}

export function isLaterCapability(plugins: Plugins, id: string): boolean {
  if (plugins.capabilities.some((plugin) => plugin.id === id)) return false;
  return Object.hasOwn(laterCapabilities, id) || /^(container|mcp):/.test(id);
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
