import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { plugins } from '../../src/plugins.ts';
import { folderWith, load } from './support.ts';

const small = `
models: { main: { provider: demo } }
channels: { page: { type: web }, tg: { type: telegram, token: "1:abc" } }
agents: { helper: { model: main, instructions: Help. } }
bindings:
  - { id: page, agent: helper, channel: page, where: { direct: true } }
  - { id: tg, agent: helper, channel: tg, where: { direct: true, chats: [-1001234567890, "C1"] } }
`;

test('every default of the gateway, as a literal', (t) => {
  const folder = folderWith(t, small);
  const { config } = loadConfig(join(folder, 'config.yaml'), {}, plugins);
  assert.equal(config.file, join(folder, 'config.yaml'));
  assert.deepEqual(config.gateway, {
    name: 'Gatehouse',
    dataDir: join(folder, 'data'),
    listen: { host: '127.0.0.1', port: 8484 },
    publicUrl: null,
    log: { level: 'info', format: 'auto' },
    language: 'en',
    timezone: 'UTC',
    concurrency: { runs: 64 },
  });
  assert.deepEqual(config.storage, { url: `sqlite:${join(folder, 'data', 'gatehouse.db')}` });
  assert.deepEqual(config.admins, []);
  assert.deepEqual(config.policies, {});
  assert.deepEqual(config.metrics, { enabled: true });
  assert.deepEqual(config.retention, {
    messagesMs: 365 * 86_400_000,
    runsMs: 90 * 86_400_000,
    uploadsMs: 30 * 86_400_000,
  });
});

test('every default of a model profile', (t) => {
  const { config } = load(t, 'models: { m: { provider: openai, model: gpt-x, api_key: sk-1 } }');
  assert.deepEqual(config.models.m, {
    name: 'm',
    provider: 'openai',
    model: 'gpt-x',
    apiKey: 'sk-1',
    baseUrl: null,
    contextWindow: 128_000,
    maxOutputTokens: 8192,
    price: null,
    timeoutMs: 120_000,
    retries: 2,
    fallbacks: [],
  });
});

test('R73: the demo model costs nothing, so its price is known', (t) => {
  const { config } = load(t, 'models: { m: { provider: demo } }');
  assert.deepEqual(config.models.m?.price, { input: 0, cachedInput: 0, output: 0 });
});

test('a price without cached_input counts cached tokens as input', (t) => {
  const { config } = load(
    t,
    'models: { m: { provider: openai, model: gpt-x, api_key: sk-1, context_window: 9000, price: { input: 2, output: 8 } } }',
  );
  assert.deepEqual(config.models.m?.price, { input: 2, cachedInput: 2, output: 8 });
  assert.equal(config.models.m?.contextWindow, 9000);
});

test('every default of an agent and of a capability in the short form', (t) => {
  const { config } = load(t, small.replace('instructions: Help.', 'instructions: Help., capabilities: [clock]'));
  assert.deepEqual(config.agents.helper, {
    id: 'helper',
    name: 'helper',
    model: 'main',
    instructions: 'Help.',
    permissionMode: 'mutating-with-confirm',
    limits: { maxSteps: 25, runTimeoutMs: 900_000, budgetUsd: { run: null, day: null } },
    capabilities: [
      {
        id: 'clock',
        enabled: true,
        config: { granularity: 'minute' },
        approval: 'default',
        toolApproval: {},
        toolOverrides: {},
        tools: null,
      },
    ],
  });
});

test('R13: every default of a binding, access by platform', (t) => {
  const { config } = load(t, small);
  const [page, telegram] = config.bindings;
  assert.deepEqual(page, {
    id: 'page',
    agent: 'helper',
    channel: 'page',
    where: { chats: [], direct: true },
    scope: 'thread',
    directThreads: false,
    trigger: 'follow',
    prompt: null,
    access: { direct: 'open', group: 'allowlist', allow: [], rateLimit: { count: 10, perMs: 60_000 } },
    onBusy: 'queue',
    bots: 'ignore',
    stream: true,
    footer: { when: 'near_limit' },
    approvals: { approvers: 'requester', expiresMs: 72 * 3_600_000, waive: false },
    budgetUsd: { day: null },
  });
  assert.deepEqual(telegram?.access, {
    direct: 'pairing',
    group: 'open',
    allow: [],
    rateLimit: { count: 10, perMs: 60_000 },
  });
  assert.deepEqual(telegram?.where, { chats: ['-1001234567890', 'C1'], direct: true });
  assert.deepEqual(config.channels.tg?.settings, {
    token: '1:abc',
    mode: 'polling',
    webhook_secret: null,
    api_url: 'https://api.telegram.org',
  });
});

test('R19: direct chats are split by thread only when the file says so', (t) => {
  const said = load(t, small.replace('where: { direct: true } }', 'where: { direct: true }, scope: thread }'));
  assert.equal(said.config.bindings[0]?.directThreads, true);
  assert.equal(said.config.bindings[1]?.directThreads, false);
});

test('the written forms of a binding', (t) => {
  const of = (more: string) =>
    load(t, small.replace('where: { direct: true } }', `where: { direct: true }, ${more} }`)).config.bindings[0]!;
  assert.deepEqual(of('footer: { every: 20 }').footer, { when: 'every', turns: 20 });
  assert.deepEqual(of('footer: "every: 5"').footer, { when: 'every', turns: 5 });
  assert.deepEqual(of('footer: always').footer, { when: 'always' });
  assert.equal(of('access: { rate_limit: "off" }').access.rateLimit, null);
  assert.deepEqual(of('access: { rate_limit: 2/s }').access.rateLimit, { count: 2, perMs: 1000 });
  assert.deepEqual(of('access: { rate_limit: 100/h }').access.rateLimit, { count: 100, perMs: 3_600_000 });
});

test('ids keep every digit, however they are written', (t) => {
  const { config } = load(t, small.replace('[-1001234567890, "C1"]', '[12345678901234567890, 77e1, any]'));
  assert.deepEqual(config.bindings[1]?.where.chats, ['12345678901234567890', '77e1', 'any']);
});

test('paths begin at the folder of the file, or at the one that is given', (t) => {
  const folder = folderWith(t, `${small}gateway: { data_dir: ../elsewhere }\nstorage: { url: "sqlite:db/x.db" }\n`);
  const path = join(folder, 'config.yaml');
  const own = loadConfig(path, {}, plugins).config;
  assert.equal(own.gateway.dataDir, join(dirname(folder), 'elsewhere'));
  assert.equal(own.storage.url, `sqlite:${join(folder, 'db', 'x.db')}`);
  assert.equal(loadConfig(path, {}, plugins, '/srv/gate').config.storage.url, 'sqlite:/srv/gate/db/x.db');
});

test('the database is in the data folder unless the file says otherwise', (t) => {
  const { config } = load(t, `${small}gateway: { data_dir: /srv/gate }\n`);
  assert.equal(config.storage.url, 'sqlite:/srv/gate/gatehouse.db');
});

test('an address of IPv6 has no brackets, and a public URL no slash at the end', (t) => {
  const { config } = load(t, `${small}gateway: { listen: "[::1]:0", public_url: "https://gate.example.com/" }\n`);
  assert.deepEqual(config.gateway.listen, { host: '::1', port: 0 });
  assert.equal(config.gateway.publicUrl, 'https://gate.example.com');
});

test('instructions come from a file when the file names one', (t) => {
  const yaml = small.replace('instructions: Help.', 'instructions_file: ./agent.md');
  const folder = folderWith(t, yaml, { 'agent.md': 'You help.\nBriefly.\n' });
  const { config } = loadConfig(join(folder, 'config.yaml'), {}, plugins);
  assert.equal(config.agents.helper?.instructions, 'You help.\nBriefly.');
});

test('the configuration is frozen all through', (t) => {
  const { config } = load(t, small);
  assert.throws(() => {
    config.bindings[0]!.access.direct = 'linked';
  }, TypeError);
  assert.throws(() => {
    config.channels.tg!.settings.token = 'other';
  }, TypeError);
});

test('an empty section gives the defaults too', (t) => {
  const { config } = load(t, '{}');
  assert.deepEqual(config.bindings, []);
  assert.equal(config.gateway.name, 'Gatehouse');
});
