/** Stand-ins for the plug-ins of the product: the schemas of the reference, no platform behind them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ConfigError } from '../../src/config/issue.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import type { Plugins } from '../../src/config/schema.ts';
import type { AdapterPlugin } from '../../src/types/adapter.ts';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { Tool } from '../../src/types/tool.ts';

const create = () => {
  throw new Error('this plug-in is a stand-in');
};

const telegram: AdapterPlugin = {
  type: 'telegram',
  configSchema: {
    description: 'Telegram.',
    required: ['token'],
    properties: {
      token: { type: 'string', minLength: 1, 'x-secret': true, description: 'The token.' },
      mode: { type: 'string', enum: ['polling', 'webhook'], default: 'polling', description: 'How it receives.' },
      webhook_secret: { type: ['string', 'null'], default: null, 'x-secret': true, description: 'A secret.' },
      api_url: { type: 'string', default: 'https://api.telegram.org', description: 'The API.' },
    },
  },
  defaultAccess: { direct: 'pairing', group: 'open' },
  groupsNeedAdmission: true,
  accountIds: { pattern: '^[0-9]+$', hint: 'on Telegram a number' },
  create,
};

const web: AdapterPlugin = {
  type: 'web',
  configSchema: { description: 'The chat page.', properties: {} },
  defaultAccess: { direct: 'open', group: 'open' },
  groupsNeedAdmission: false,
  create,
};

const tool = (id: string): Tool => ({
  id,
  name: id,
  effect: 'safe',
  description: id,
  returns: 'text',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  call: async () => ({ content: '' }),
});

const builtin: CapabilityPlugin = {
  id: '__builtin__',
  name: 'Built-in',
  category: 'utility',
  description: 'Built-in tools.',
  configSchema: {},
  tools: ['store_get', 'store_set', 'store_delete', 'store_list'].map(tool),
  always: true,
  attach: () => {},
};

const clock: CapabilityPlugin = {
  id: 'clock',
  name: 'Date and time',
  category: 'utility',
  description: 'The clock.',
  configSchema: {
    properties: {
      granularity: { type: 'string', enum: ['minute', 'hour', 'day'], default: 'minute', description: 'How exact.' },
    },
  },
  tools: [],
  attach: () => {},
};

export const plugins: Plugins = { adapters: [telegram, web], capabilities: [builtin, clock] };

/** A folder with `config.yaml` (and other files) in it, gone after the test. */
export function folderWith(t: TestContext, yaml: string | Uint8Array, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'config.yaml'), yaml);
  return folder;
}

export function load(t: TestContext, yaml: string | Uint8Array, env: NodeJS.ProcessEnv = {}): LoadedConfig {
  return loadConfig(join(folderWith(t, yaml), 'config.yaml'), env, plugins);
}

/** The lines of the error that loading this gives, or none. */
export function errorsOf(t: TestContext, yaml: string | Uint8Array, env: NodeJS.ProcessEnv = {}): string[] {
  try {
    load(t, yaml, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
