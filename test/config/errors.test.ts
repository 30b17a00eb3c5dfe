import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf } from './support.ts';

const head = `models: { main: { provider: demo } }
channels: { page: { type: web }, tg: { type: telegram, token: "1:abc" } }
agents: { helper: { model: main, instructions: Help. } }
`;

test('R89: an unknown key names the nearest known one, with its line', (t) => {
  const yaml = `${head}bindings:
  - id: page
    agent: helper
    channel: page
    where: { direct: true }
    scop: thread
`;
  assert.deepEqual(errorsOf(t, yaml), ['config.yaml:9 bindings[0].scop: unknown key, did you mean "scope"?']);
});

test('R89: a port of its own is told where it belongs', (t) => {
  assert.deepEqual(errorsOf(t, `${head}gateway: { port: 8485 }\n`), [
    'config.yaml:4 gateway.port: unknown key; the port is part of listen, such as listen: "127.0.0.1:8485"',
  ]);
});

test('R89: all errors come at once, in the order of the file', (t) => {
  const yaml = `gatway: {}
gateway:
  listen: 8484
  log: { level: loud }
  timezone: Mars/Base
  concurrency: { runs: 0 }
models:
  main: { provider: opnai, model: x }
channels:
  page: { type: webb }
  tg: { type: telegram, mode: poling }
  none: {}
agents:
  helper:
    model: mian
    limits: { run_timeout: 15, max_steps: 2.5, budget_usd: { run: 0 } }
bindings:
  - agent: helpr
    channel: page
    where: {}
    access: { rate_limit: 10 per minute }
`;
  assert.deepEqual(errorsOf(t, yaml), [
    'config.yaml:1 gatway: unknown key, did you mean "gateway"?',
    'config.yaml:3 gateway.listen: must be host:port, such as 127.0.0.1:8484 or [::1]:8484',
    'config.yaml:4 gateway.log.level: must be one of debug, info, warn, error, silent',
    'config.yaml:5 gateway.timezone: is not a time zone; write an IANA name such as Europe/Berlin',
    'config.yaml:6 gateway.concurrency.runs: must be at least 1',
    'config.yaml:8 models.main.provider: must be one of openai, anthropic, google, openai_compatible, demo, auto, did you mean "openai"?',
    'config.yaml:10 channels.page.type: "webb" is not a platform known here, did you mean "web"?',
    'config.yaml:11 channels.tg.token: is missing: the bot token that @BotFather gave',
    'config.yaml:11 channels.tg.mode: must be one of polling, webhook, did you mean "polling"?',
    'config.yaml:12 channels.none.type: is missing; it is one of web, telegram, slack, mattermost, imessage',
    'config.yaml:14 agents.helper.instructions: is missing: what the agent is told; or set instructions_file',
    'config.yaml:15 agents.helper.model: "mian" is not under models, did you mean "main"?',
    'config.yaml:16 agents.helper.limits.max_steps: must be a whole number, not a number',
    'config.yaml:16 agents.helper.limits.run_timeout: must be a duration such as 3s, 15m, 72h or 30d',
    'config.yaml:16 agents.helper.limits.budget_usd.run: must be more than 0',
    'config.yaml:18 bindings[0].id: is missing: permanent name',
    'config.yaml:18 bindings[0].agent: "helpr" is not under agents, did you mean "helper"?',
    'config.yaml:20 bindings[0].where: names no place; set chats (ids, or any), or direct: true',
    'config.yaml:21 bindings[0].access.rate_limit: must be a rate such as 10/min, 2/s or 100/h, or off',
  ]);
});

test('R89: what a value must be is said in words', (t) => {
  const of = (line: string) => errorsOf(t, `${head}${line}\n`);
  assert.deepEqual(of('console: { enabled: yes }'), ['config.yaml:4 console.enabled: must be true or false, not text']);
  assert.deepEqual(of('gateway:'), ['config.yaml:4 gateway: is empty; give it a value or remove the line']);
  assert.deepEqual(of('gateway: { name: "" }'), ['config.yaml:4 gateway.name: must not be empty']);
  assert.deepEqual(of('admins: me'), ['config.yaml:4 admins: must be a list, not text']);
  assert.deepEqual(of('retention: { runs: 3 weeks }'), [
    'config.yaml:4 retention.runs: must be a duration such as 3s, 15m, 72h or 30d',
  ]);
  assert.deepEqual(of('gateway: { public_url: gate.example.com }'), [
    'config.yaml:4 gateway.public_url: must be an http(s) URL such as https://gatehouse.example.com',
  ]);
  assert.deepEqual(of('storage: { url: "mysql://u:hunter2secret@h/db" }'), [
    'config.yaml:4 storage.url: must be sqlite:PATH or postgres://user:password@host:5432/db',
  ]);
  assert.deepEqual(of('secrets: { key: short }'), [
    'config.yaml:4 secrets.key: must be 32 bytes in base64; make one with: openssl rand -base64 32',
  ]);
  assert.deepEqual(of('scopes: [web:reed]'), [
    'config.yaml:4 scopes[0]: must be one of knowledge:read, conversations:read, web:read, web:fetch, web:browse, code:execute, sandbox:execute, agents:delegate, did you mean "web:read"?',
  ]);
  assert.deepEqual(of('context_files: [{ path: x }]'), ['config.yaml:4 context_files[0].id: is missing: its name']);
});

test('R89: an unknown key with nothing near lists what there is', (t) => {
  assert.deepEqual(errorsOf(t, `${head}metrics: { prometheus: true }\n`), [
    'config.yaml:4 metrics.prometheus: unknown key; the keys here are enabled',
  ]);
});

test('R89: the settings of a channel and of a capability are checked by their own schema', (t) => {
  const yaml = `models: { main: { provider: demo } }
channels: { page: { type: web, tokn: x } }
agents:
  helper:
    model: main
    instructions: Help.
    capabilities:
      - { id: clock, config: { granularity: week, zone: x } }
`;
  assert.deepEqual(errorsOf(t, yaml), [
    'config.yaml:2 channels.page.tokn: unknown key; the keys here are type',
    'config.yaml:8 agents.helper.capabilities[0].config.zone: unknown key; the keys here are granularity',
    'config.yaml:8 agents.helper.capabilities[0].config.granularity: must be one of minute, hour, day',
  ]);
});

test('names with characters that would break addresses are refused', (t) => {
  assert.deepEqual(errorsOf(t, 'channels: { "my page": { type: web } }'), [
    'config.yaml:1 channels["my page"]: must be a name of letters, digits, - and _, at most 64, such as acme-support',
  ]);
});

test('a value from the environment is never repeated in an error', (t) => {
  const env = { LEVEL: 'debuq' };
  assert.deepEqual(errorsOf(t, 'gateway: { log: { level: "$' + '{LEVEL}" } }', env), [
    'config.yaml:1 gateway.log.level: must be one of debug, info, warn, error, silent',
  ]);
});
