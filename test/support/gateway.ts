/** A whole gateway in this process over real emulators: what end-to-end tests start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import type { Clock } from '../../src/base/clock.ts';
import { createLog, type Log } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Plugins } from '../../src/config/schema.ts';
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts';
import { plugins as shipped } from '../../src/plugins.ts';
import type { CommitHooks } from '../../src/store/db.ts';
import type { AdapterPlugin } from '../../src/types/adapter.ts';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import { type ModelServer, type ModelServerOptions, startModelServer } from '../emulators/model_server.ts';
import { type StartOptions, startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/index.ts';

export interface Lines {
  lines: Record<string, unknown>[];
  text(): string;
}

/** A log that a test can read. Message text must not be in it. */
export function recordingLog(): Log & Lines {
  const raw: string[] = [];
  const log = createLog({ level: 'info', format: 'json', secrets: () => [], write: (line) => void raw.push(line) });
  const lines = { get: () => raw.map((line) => JSON.parse(line) as Record<string, unknown>) };
  return Object.defineProperties(log, { lines, text: { value: () => raw.join('') } }) as Log & Lines;
}

export type Yaml = Record<string, unknown>;

export interface TestGatewayOptions {
  /** Merged over the defaults at the first level of each section. */
  config?: {
    gateway?: Yaml;
    storage?: Yaml;
    agent?: Yaml;
    binding?: Yaml;
    bindings?: Yaml[];
    model?: Yaml;
    models?: Yaml;
    channels?: Yaml;
    admins?: string[];
    policies?: Yaml;
    agents?: Yaml;
    skill_dirs?: string[];
    sandbox?: Yaml;
  };
  telegram?: StartOptions;
  model?: ModelServerOptions;
  clock?: Clock;
  /** As the program does; only with a clock that tells the real time. */
  comparesClock?: boolean;
  hooks?: CommitHooks;
  capabilities?: CapabilityPlugin[];
  adapters?: AdapterPlugin[];
}

export interface TestGateway {
  gateway: Gateway;
  telegram: TelegramEmulator;
  model: ModelServer;
  log: Log & Lines;
  dataDir: string;
  /** Stops the gateway and starts another over the same data. */
  restart(changes?: TestGatewayOptions['config']): Promise<void>;
  /** As a reload of a changed file. */
  reload(changes: TestGatewayOptions['config']): Promise<void>;
  stop(): Promise<void>;
}

/**
 * One agent `helper` on a scripted model (OpenAI wire) and a Telegram bot on which everybody may write. Everything is
 * stopped and removed at the end of the test.
 */
export async function startTestGateway(t: TestContext, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  const telegram = await startTelegramEmulator(options.telegram ?? {});
  const model = await startModelServer(options.model ?? {});
  const log = recordingLog();
  const plugins: Plugins = {
    adapters: [...shipped.adapters, ...(options.adapters ?? [])],
    capabilities: [...shipped.capabilities, ...(options.capabilities ?? [])],
  };
  let secrets: readonly string[] = [];
  const load = async (over: TestGatewayOptions['config'] = {}) => {
    const file = join(dataDir, 'config.yaml');
    await writeFile(file, stringify(configOf({ ...options.config, ...over }, dataDir, telegram, model)));
    const { config, secretValues } = loadConfig(file, {}, plugins);
    secrets = secretValues;
    return config;
  };
  const start = async (over?: TestGatewayOptions['config']) =>
    startGateway({
      config: await load(over),
      plugins,
      log,
      secrets: () => secrets,
      ...(options.clock ? { clock: options.clock } : {}),
      comparesClock: options.comparesClock ?? false,
      ...(options.hooks ? { hooks: options.hooks } : {}),
    });
  const test: TestGateway = {
    gateway: await start(),
    telegram,
    model,
    log,
    dataDir,
    async restart(changes) {
      await test.gateway.stop();
      test.gateway = await start(changes);
    },
    reload: async (changes) => test.gateway.reload(await load(changes)),
    stop: () => test.gateway.stop(),
  };
  t.after(
    async () => {
      await test.gateway.stop();
      await model.close();
      await telegram.close();
      await rm(dataDir, { recursive: true, force: true });
    },
    { timeout: 30_000 },
  );
  return test;
}

export function configOf(
  over: NonNullable<TestGatewayOptions['config']>,
  dataDir: string,
  telegram: TelegramEmulator,
  model: ModelServer,
): Yaml {
  const binding = {
    id: 'bot',
    agent: 'helper',
    channel: 'tg',
    where: { direct: true },
    access: { direct: 'open', rate_limit: 'off' },
    ...over.binding,
  };
  return {
    gateway: { data_dir: dataDir, listen: '127.0.0.1:0', log: { level: 'error' }, ...over.gateway },
    storage: { url: `sqlite:${dataDir}/gatehouse.db`, ...over.storage },
    models: {
      main: {
        provider: 'openai_compatible',
        model: 'test',
        base_url: `${model.url}/v1`,
        api_key: 'test-key-of-the-model',
        price: { input: 1, cached_input: 0.1, output: 10 },
        ...over.model,
      },
      ...over.models,
    },
    channels: {
      tg: { type: 'telegram', token: telegram.token, api_url: telegram.url },
      page: { type: 'web' },
      ...over.channels,
    },
    agents: {
      helper: { name: 'Helper', model: 'main', instructions: 'You help.', ...over.agent },
      ...over.agents,
    },
    bindings: over.bindings ?? [binding, { id: 'page', agent: 'helper', channel: 'page', where: { direct: true } }],
    ...(over.admins ? { admins: over.admins } : {}),
    ...(over.policies ? { policies: over.policies } : {}),
    ...(over.skill_dirs ? { skill_dirs: over.skill_dirs } : {}),
    ...(over.sandbox ? { sandbox: over.sandbox } : {}),
  };
}
