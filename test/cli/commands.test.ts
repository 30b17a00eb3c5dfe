import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../../src/cli/index.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { locateGateway } from '../../src/config/locate_gateway.ts';
import { startControl } from '../../src/control/server.ts';
import { plugins } from '../../src/plugins.ts';
import { cli, valid } from './support.ts';

test('R89: check prints that the file is valid, touches nothing else, and exits 0', async (t) => {
  const { run, folder } = cli(t, valid);
  assert.deepEqual(await run('check'), { code: 0, out: 'config.yaml is valid\n', err: '' });
  assert.deepEqual(readdirSync(folder), ['config.yaml']);
});

test('R89: check prints every error on standard error and exits 1', async (t) => {
  const { run } = cli(t, valid.replace('model: main', 'modl: main').replace('helper, channel', 'helpr, channel'));
  assert.deepEqual(await run('check'), {
    code: 1,
    out: '',
    err: `config.yaml:3 agents.helper.model: is missing: a name under \`models\`
config.yaml:3 agents.helper.modl: unknown key, did you mean "model"?
config.yaml:5 bindings[0].agent: "helpr" is not under agents, did you mean "helper"?
`,
  });
});

test('check names each key that is not available yet', async (t) => {
  const { run } = cli(t, `${valid}mcp_servers: { x: { command: npx } }\n`);
  assert.deepEqual(await run('check'), {
    code: 0,
    out: 'config.yaml is valid\nconfig.yaml:6 mcp_servers: not available yet in this version; ignored\n',
    err: '',
  });
});

test('--config names another file, and one that is not there is an error', async (t) => {
  const { run, folder } = cli(t, 'gatway: {}\n');
  writeFileSync(join(folder, 'other.yaml'), valid);
  assert.deepEqual(await run('check', '--config', 'other.yaml'), { code: 0, out: 'other.yaml is valid\n', err: '' });
  const missing = await run('check', '--config', 'nope.yaml');
  assert.equal(missing.code, 1);
  assert.equal(missing.err, `nope.yaml: there is no file ${join(folder, 'nope.yaml')}; name one with --config FILE\n`);
});

test('start hands over the settled configuration and says what it found', async (t) => {
  const started: { loaded: LoadedConfig; options: { open: boolean } }[] = [];
  const yaml = valid.replace('provider: demo', 'provider: auto');
  const { run } = cli(
    t,
    `${yaml}gateway: { listen: "0.0.0.0:1" }\nscopes: [web:read]\n`,
    {
      start: async (loaded, options) => {
        started.push({ loaded, options });
        return 7;
      },
    },
    { OPENAI_API_KEY: 'sk-1' },
  );
  assert.deepEqual(await run('start', '--no-open'), {
    code: 7,
    out: `config.yaml:6 gateway.listen: warning: 0.0.0.0 can be reached from other machines; 127.0.0.1 behind a proxy with TLS is safer
config.yaml:1 models.main: uses gpt-5.4, because OPENAI_API_KEY is set
config.yaml:7 scopes: not available yet in this version; ignored
`,
    err: '',
  });
  assert.equal(started[0]?.loaded.config.models.main?.model, 'gpt-5.4');
  assert.deepEqual(started[0]?.options, { open: false });
});

test('start asks Ollama only when no key is there', async (t) => {
  const server = createServer((_request, response) => response.end('{"models":[{"name":"llama3:8b"}]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const yaml = valid.replace('provider: demo', 'provider: auto');
  const { run } = cli(t, yaml, {}, { OLLAMA_HOST: host });
  assert.equal(
    (await run('start')).out,
    `config.yaml:1 models.main: uses llama3:8b, because Ollama answers at http://${host}\n`,
  );
  assert.equal((await run('check')).out, 'config.yaml is valid\n');
});

test('a wrong configuration starts nothing', async (t) => {
  const { run } = cli(t, 'gatway: {}\n', { start: () => assert.fail('it started') });
  const ran = await run('start');
  assert.equal(ran.code, 1);
  assert.equal(ran.err, 'config.yaml:1 gatway: unknown key, did you mean "gateway"?\n');
});

test('what is used wrongly exits 2 and says what is right', async (t) => {
  const { run } = cli(t, valid);
  const of = async (...argv: string[]) => {
    const { code, out, err } = await run(...argv);
    assert.equal(out, '');
    assert.equal(code, 2);
    return err;
  };
  assert.equal(await of('chek'), 'gatehouse: there is no command "chek", did you mean "check"?\n');
  assert.equal(await of('frobnicate'), 'gatehouse: there is no command "frobnicate"; "gatehouse help" lists them\n');
  assert.equal(
    await of('check', '--confg', 'x'),
    'gatehouse: Unknown option \'--confg\', did you mean "--config"?; see gatehouse help check\n',
  );
  assert.equal(
    await of('start', '--port', '8485'),
    'gatehouse: there is no --port: the port is gateway.listen in the config file\n',
  );
  assert.equal(await of('link', '--name', ' '), 'gatehouse: --name needs the name of a person\n');
  assert.equal(
    await of('pair', '--admin'),
    'gatehouse: --admin needs the code or the account of whom to make an admin\n',
  );
  assert.equal(await of('check', 'now'), 'gatehouse: check does not take "now"; see gatehouse help check\n');
  assert.equal(
    await of('pair', 'nope'),
    'gatehouse: "nope" is neither a code of 8 characters nor an account <channel>:<user id>\n',
  );
  assert.equal(await of('usage', '--days', '0'), 'gatehouse: --days takes a number from 1 to 3650\n');
  assert.match(await of(), /^Usage: gatehouse COMMAND \[OPTIONS\]\n/);
});

test('help names every command, and explains each with options and examples', async (t) => {
  const { run } = cli(t, valid);
  const overview = await run('help');
  assert.equal(overview.code, 0);
  assert.deepEqual(
    commands.map((command) => command.name),
    [
      'start',
      'check',
      'version',
      'doctor',
      'reload',
      'link',
      'claim',
      'pair',
      'status',
      'usage',
      'stop',
      'approvals',
      'token',
      'audit',
      'skills',
      'policy',
      'tools',
      'help',
    ],
  );
  for (const { name } of commands) {
    assert.match(overview.out, new RegExp(`^ {2}${name} `, 'm'));
    const help = await run('help', name);
    assert.equal(help.code, 0);
    assert.match(help.out, new RegExp(`^Usage: gatehouse ${name} `));
    assert.match(help.out, /^ {2}--config FILE /m);
    assert.match(help.out, new RegExp(`Examples:\n {2}gatehouse ${name}`));
    assert.deepEqual(await run(name, '--help'), help);
  }
  assert.deepEqual(await run('--help'), overview);
});

test('version prints the version alone', async (t) => {
  const { run } = cli(t, 'not: [valid');
  assert.deepEqual(await run('version'), { code: 0, out: '9.8.7\n', err: '' });
  assert.deepEqual(await run('--version'), { code: 0, out: '9.8.7\n', err: '' });
});

test('R94: commands that need a running gateway say that there is none', async (t) => {
  const { run, folder } = cli(t, valid);
  for (const command of ['reload', 'link', 'claim', 'status', 'stop'])
    assert.deepEqual(await run(command), {
      code: 1,
      out: '',
      err: `gatehouse: no gateway is running on ${join(folder, 'data')}; start it with "gatehouse start"\n`,
    });
});

test('R94: pair and usage work on the database when no gateway runs', async (t) => {
  const asked: unknown[] = [];
  const { run } = cli(t, valid, {
    offline: async (_loaded, command, args) => {
      asked.push([command, args]);
      if (command === 'usage') return { since: 0, rows: [] };
      return { account: 'tg:5', name: 'Ann', isAdmin: args.admin === true };
    },
  });
  assert.equal((await run('pair', 'tg:5')).out, 'tg:5 (Ann) may use the bot now.\n');
  assert.equal((await run('pair', 'k7wq2mxa')).code, 0);
  assert.equal((await run('pair', 'tg:5', '--admin')).out, 'tg:5 (Ann) is an admin now.\n');
  assert.equal((await run('usage', '--days', '7', '--json')).out, '{\n  "since": 0,\n  "rows": []\n}\n');
  assert.deepEqual(asked, [
    ['pair', { action: 'account', account: 'tg:5' }],
    ['pair', { action: 'code', code: 'K7WQ2MXA' }],
    ['pair', { action: 'account', account: 'tg:5', admin: true }],
    ['usage', { days: 7 }],
  ]);
});

test('R94: a running gateway does the commands, and the answers are printed for people and for scripts', async (t) => {
  const dataDir = join(tmpdir(), `gh-cli-${process.pid}`);
  mkdirSync(dataDir, { recursive: true });
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  t.after(() => other.kill());
  const asked: unknown[] = [];
  const control = await startControl(dataDir, {
    reload: async () => ({ remarks: ['config.yaml:1 x: a remark'] }),
    link: async (args) => {
      asked.push(args);
      return {
        url: 'http://127.0.0.1:1/signin?code=abc',
        expiresAt: 0,
        account: args.name ? 'page:ann' : 'page:owner',
        name: args.name ?? 'Owner',
        isOwner: args.name === undefined,
        localOnly: args.name === undefined,
      };
    },
    claim: async () => ({ code: 'ABCD', expiresAt: 0 }),
    pair: async () => ({ pending: [{ account: 'tg:5', name: 'Ann', createdAt: 0, expiresAt: 0 }] }),
    status: async () => ({
      version: '1.2.3',
      pid: 42,
      startedAt: Date.now(),
      url: 'http://127.0.0.1:8484',
      channels: [{ name: 'tg', type: 'telegram', state: 'failed', reason: 'the token is wrong' }],
      runs: { active: 1, waiting: 2 },
      outbox: { waiting: 3 },
    }),
    usage: async () => ({
      since: 0,
      rows: [{ agent: 'helper', runs: 2, input: 100, cachedInput: 40, output: 7, usd: 0.0123, partial: true }],
    }),
    stop: async () => {
      setImmediate(() => other.kill());
      return { pid: other.pid };
    },
  });
  t.after(async () => {
    await control.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { run } = cli(t, `${valid}gateway: { data_dir: ${dataDir} }\n`);
  assert.equal((await run('reload')).out, 'config.yaml:1 x: a remark\nThe new configuration is in use.\n');
  assert.match(
    (await run('link', '--name', 'Ann')).out,
    /^http:\/\/127\.0\.0\.1:1\/signin\?code=abc\nSigns in as Ann \(page:ann\)\. Works once, until .{16}\.\n$/,
  );
  assert.match(
    (await run('link')).out,
    /\nSigns in as the owner \(page:owner\)\. Works once, .*\nThis address works on this machine only; /,
  );
  assert.deepEqual(asked, [{ name: 'Ann' }, {}]);
  assert.match((await run('claim')).out, /^Send this to the bot in a direct chat: {2}claim ABCD\n/);
  assert.match((await run('pair')).out, /^ACCOUNT {2}NAME {2}ASKED .*\ntg:5 {5}Ann /);
  const status = (await run('status')).out;
  assert.match(status, /^Gatehouse 1\.2\.3, process 42, up \d+ s, http:\/\/127\.0\.0\.1:8484\n/);
  assert.match(status, /Runs: 1 active, 2 waiting\. Messages to send: 3\./);
  assert.match(status, /tg {7}telegram {2}failed {2}the token is wrong/);
  assert.match((await run('usage')).out, /helper {2}2 {5}100 {4}40 {6}7 {7}at least \$0\.0123/);
  assert.equal(JSON.parse((await run('status', '--json')).out).pid, 42);
  assert.equal((await run('stop')).out, `The gateway (process ${other.pid}) is stopping.\nstopped\n`);
  assert.equal(other.signalCode, 'SIGTERM');
});

const idle = {
  version: '1.2.3',
  pid: 42,
  startedAt: 0,
  url: 'http://127.0.0.1:8484',
  channels: [],
  runs: { active: 0, waiting: 0 },
  outbox: { waiting: 0 },
};

/** `${NAME}` without a template string. */
const place = (inner: string) => `$\{${inner}}`;

test('R94: a command reaches the running gateway from a terminal in which the file is not valid', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gh-cli-'));
  const control = await startControl(dataDir, { status: async () => idle });
  t.after(async () => {
    await control.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const broken = `${valid.replace('provider: demo', `provider: openai, model: m, api_key: "${place('KEY')}"`)}gatway: { [\n`;
  const { run } = cli(t, `gateway: { data_dir: "${place('DATA')}" }\n${broken}`, {}, { DATA: dataDir });
  assert.match((await run('status')).out, /^Gatehouse 1\.2\.3, /);
  assert.equal((await run('check')).code, 1);

  const unknown = cli(t, `gateway: { data_dir: "${place('DATA')}" }\n${valid}`);
  assert.deepEqual(await unknown.run('status'), {
    code: 1,
    out: '',
    err: `config.yaml: gateway.data_dir: the environment variable DATA is not set; set it before starting (export DATA=…), or give a value to use without it: ${place('DATA:-VALUE')}\n`,
  });
});

test('R94: without gateway.data_dir it is looked for where the gateway keeps it by default', (t) => {
  const { folder } = cli(t, valid);
  const file = join(folder, 'config.yaml');
  assert.equal(locateGateway(file, {}), join(folder, 'data'));
  assert.equal(locateGateway(file, {}), loadConfig(file, {}, plugins).config.gateway.dataDir);
});

test('R94: a command on the database still needs the whole file', async (t) => {
  const { run } = cli(t, `${valid}gatway: {}\n`);
  assert.equal((await run('usage')).err, 'config.yaml:6 gatway: unknown key, did you mean "gateway"?\n');
});

test('who started the gateway through npm is told commands they can type', async (t) => {
  const { run } = cli(t, valid, {}, { npm_lifecycle_event: 'gatehouse' });
  assert.equal(
    (await run('check', 'now')).err,
    'gatehouse: check does not take "now"; see npm run gatehouse -- help check\n',
  );
});
