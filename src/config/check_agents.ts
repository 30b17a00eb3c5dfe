import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Json, JsonObject } from '../types/json.ts';
import { type CheckContext, checkName, entries, items, keys, object } from './check_context.ts';
import { type Path, suggestion } from './issue.ts';
import { channelToolIds, laterBuiltinTools, laterCapabilities } from './later.ts';
import type { Plugins } from './schema.ts';

const instructionsBytesMax = 256 * 1024;
const prefixed = /^(container|skill|mcp):(.+)$/;
const skillName = /^[a-z0-9_]+$/;

export function checkAgents(context: CheckContext): void {
  const { data } = context;
  for (const [name, agent] of entries(data.agents)) {
    const path = ['agents', name];
    checkName(context, [...path, 'model'], agent.model, 'models', keys(data.models));
    checkInstructions(context, name, agent);
    checkCapabilities(context, name, agent);
    for (const [index, other] of items(agent.subagents)) {
      const at = [...path, 'subagents', index];
      checkName(context, at, other, 'agents', keys(data.agents));
      if (other === name) context.error(at, 'an agent cannot delegate to itself; remove it');
    }
    const collections = keys(object(data.knowledge).collections);
    for (const [index, one] of items(agent.collections))
      checkName(context, [...path, 'collections', index], one, 'knowledge.collections', collections);
    const files = items(data.context_files).map(([, file]) => String(object(file).id));
    for (const [index, one] of items(agent.context))
      checkName(context, [...path, 'context', index], one, 'context_files', files);
  }
}

function checkInstructions(context: CheckContext, name: string, agent: JsonObject): void {
  const path = ['agents', name, 'instructions_file'];
  const file = agent.instructions_file;
  if (file === undefined) {
    if (agent.instructions === undefined)
      context.error(['agents', name, 'instructions'], 'is missing: what the agent is told; or set instructions_file');
    return;
  }
  if (agent.instructions !== undefined) {
    context.error(path, 'there is also instructions; keep one of the two');
    return;
  }
  const full = resolve(context.folder, String(file));
  try {
    if (statSync(full).size > instructionsBytesMax) {
      context.error(path, `${full} is larger than 256 KiB; shorten it`);
      return;
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(full)).trim();
    if (text === '') context.error(path, `${full} is empty; write the instructions into it`);
    else context.instructions.set(name, text);
  } catch (error) {
    context.error(path, `${full} cannot be read (${reasonOf(error)}); correct the path or make the file`);
  }
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'no permission';
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8 text' : messageOf(error);
}

/** Tool ids of a capability by its id; null = not known before it runs (containers, MCP) or not at all. */
export function toolIds(plugins: Plugins, capability: string): readonly string[] | null {
  const plugin = plugins.capabilities.find((one) => one.id === capability);
  const own = plugin?.tools.map((tool) => tool.id) ?? [];
  if (capability === '__builtin__') return [...new Set([...laterBuiltinTools, ...own])];
  if (plugin !== undefined) return own;
  if (capability === 'channel_tools') return channelToolIds;
  if (capability.startsWith('skill:')) return [capability.slice('skill:'.length)];
  return Object.hasOwn(laterCapabilities, capability) ? laterCapabilities[capability]! : null;
}

/** Names of tools that no skill may take, so that every agent can have both. */
export function ownToolNames(plugins: Plugins): Set<string> {
  return new Set([...laterBuiltinTools, ...plugins.capabilities.flatMap(({ tools }) => tools.map(({ name }) => name))]);
}

export function capabilityIds(plugins: Plugins): string[] {
  const built = plugins.capabilities.filter((one) => one.always !== true).map((one) => one.id);
  return [...new Set([...built, ...Object.keys(laterCapabilities)])];
}

export interface Use {
  id: string;
  path: Path;
  entry: JsonObject;
}

/** The entries of `capabilities`, short forms written out. */
export function usesOf(name: string, agent: JsonObject): Use[] {
  return items(agent.capabilities).map(([index, item]) => {
    const path = ['agents', name, 'capabilities', index];
    return typeof item === 'string'
      ? { id: item, path, entry: {} }
      : { id: String(object(item).id), path, entry: object(item) };
  });
}

function checkCapabilities(context: CheckContext, name: string, agent: JsonObject): void {
  const seen = new Set<string>();
  const visible = visibleNames(context, '__builtin__', {}, new Map(), null);
  for (const { id, path, entry } of usesOf(name, agent)) {
    if (id === 'undefined') continue;
    const at = context.written([...path, 'id']) ? [...path, 'id'] : path;
    if (seen.has(id)) context.error(at, `${id} is listed twice; keep one`);
    seen.add(id);
    checkId(context, at, id);
    const known = toolIds(context.plugins, id);
    for (const key of ['tool_approval', 'tool_overrides'])
      for (const tool of keys(entry[key])) checkTool(context, [...path, key, tool], tool, known, id);
    for (const [index, tool] of items(entry.tools))
      checkTool(context, [...path, 'tools', index], String(tool), known, id);
    if (entry.enabled !== false) visibleNames(context, id, entry, visible, path);
  }
}

function checkId(context: CheckContext, path: Path, id: string): void {
  if (id === 'channel_tools') {
    context.error(path, 'channel_tools is granted per binding, not per agent; move it to bindings[].channel_tools');
    return;
  }
  if (id === '__builtin__') {
    context.error(path, 'its tools are offered to every agent without being listed; remove it');
    return;
  }
  const match = prefixed.exec(id);
  if (match?.[1] === 'mcp') checkName(context, path, match[2], 'mcp_servers', keys(context.data.mcp_servers));
  else if (match?.[1] === 'skill' && !skillName.test(match[2]!))
    context.error(path, `"${match[2]}" is not the name of a skill: those are of a-z, 0-9 and _`);
  else if (match === null) {
    const known = capabilityIds(context.plugins);
    if (!known.includes(id)) context.error(path, `"${id}" is not a capability${suggestion(id, known, 'capabilities')}`);
  }
}

export function checkTool(
  context: CheckContext,
  path: Path,
  tool: string,
  known: readonly string[] | null,
  of: string,
) {
  if (known !== null && !known.includes(tool))
    context.error(path, `"${tool}" is not a tool of ${of}${suggestion(tool, known, `tools of ${of}`)}`);
}

/** Adds the names the model will see; an override that takes a name already there is an error (rule 41). */
export function visibleNames(
  context: CheckContext,
  id: string,
  entry: JsonObject,
  names: Map<string, string>,
  path: Path | null,
): Map<string, string> {
  const overrides = object(entry.tool_overrides);
  const subset = Array.isArray(entry.tools) ? entry.tools.map(String) : null;
  const own = context.plugins.capabilities.find((one) => one.id === id)?.tools ?? [];
  const ids = (toolIds(context.plugins, id) ?? keys(overrides)).filter(
    (tool) => subset === null || subset.includes(tool),
  );
  const later: [string, string][] = [];
  for (const tool of ids) {
    const name: Json | undefined = object(overrides[tool]).name;
    if (typeof name === 'string') later.push([tool, name]);
    else names.set(own.find((one) => one.id === tool)?.name ?? tool, `${tool} of ${id}`);
  }
  for (const [tool, name] of later) {
    const taken = names.get(name);
    if (taken !== undefined && path !== null)
      context.error(
        [...path, 'tool_overrides', tool, 'name'],
        `"${name}" is already the name of ${taken}; choose another`,
      );
    names.set(name, `${tool} of ${id}`);
  }
  return names;
}
