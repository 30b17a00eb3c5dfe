import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIssue } from '../../src/config/issue.ts';
import { errorsOf, load } from './support.ts';

/** `${NAME}` without a template string. */
const place = (inner: string) => `$\{${inner}}`;

const yaml = (token: string) => `models: { main: { provider: demo } }
channels:
  page: { type: web }
  tg:
    type: telegram
    token: ${token}
agents: { helper: { model: main, instructions: Help. } }
bindings:
  - { id: page, agent: helper, channel: page, where: { direct: true } }
  - { id: tg, agent: helper, channel: tg, where: { direct: true } }
`;

test('a variable is put in, in quotes or not, and is a secret where the key is', (t) => {
  const loaded = load(t, yaml(place('TOKEN')), { TOKEN: '12345:abcdefgh' });
  assert.equal(loaded.config.channels.tg?.settings.token, '12345:abcdefgh');
  assert.deepEqual(loaded.secretValues, ['12345:abcdefgh']);
  const quoted = load(t, yaml(`"${place('ID')}:${place('REST')}"`), { ID: '777', REST: 'rest-of-it' });
  assert.equal(quoted.config.channels.tg?.settings.token, '777:rest-of-it');
  assert.deepEqual(quoted.secretValues, ['777:rest-of-it', '777', 'rest-of-it']);
});

test('a variable that is not set is an error that names key and variable, with others', (t) => {
  assert.deepEqual(errorsOf(t, `${yaml(place('TOKEN'))}gatway: {}\n`), [
    `config.yaml:6 channels.tg.token: the environment variable TOKEN is not set; set it before starting (export TOKEN=…), remove this line, or write ${place('TOKEN:-')} if it may be absent`,
    'config.yaml:11 gatway: unknown key, did you mean "gateway"?',
  ]);
});

test('what to do about a variable that is not set depends on what it is for', (t) => {
  const model = `models: { main: { provider: openai, model: gpt-5.4, api_key: "${place('OPENAI_API_KEY')}" } }\n`;
  assert.deepEqual(errorsOf(t, `${model}gateway: { name: "${place('NAME')}" }\n`), [
    'config.yaml:1 models.main.api_key: the environment variable OPENAI_API_KEY is not set; set it before starting (export OPENAI_API_KEY=…), or use provider: auto, which needs no key',
    `config.yaml:2 gateway.name: the environment variable NAME is not set; set it before starting (export NAME=…), or give a value to use without it: ${place('NAME:-VALUE')}`,
  ]);
});

test('a variable that is set to nothing is an error too', (t) => {
  assert.deepEqual(errorsOf(t, yaml(place('TOKEN')), { TOKEN: '' }), [
    'config.yaml:6 channels.tg.token: must not be empty',
  ]);
});

test('a default stands in for a variable that is not set or empty', (t) => {
  const of = (env: NodeJS.ProcessEnv) => load(t, `gateway: { name: "${place('NAME:-Gate: one')}" }`, env);
  assert.equal(of({}).config.gateway.name, 'Gate: one');
  assert.equal(of({ NAME: '' }).config.gateway.name, 'Gate: one');
  assert.equal(of({ NAME: 'Own' }).config.gateway.name, 'Own');
});

test('a line whose variable may be absent counts as absent', (t) => {
  assert.equal(load(t, `gateway: { public_url: "${place('URL:-')}" }`).config.gateway.publicUrl, null);
});

test('a channel without its token is left out with its bindings, and says so', (t) => {
  const loaded = load(t, yaml(place('TOKEN:-')));
  assert.deepEqual(Object.keys(loaded.config.channels), ['page']);
  assert.deepEqual(
    loaded.config.bindings.map((binding) => binding.id),
    ['page'],
  );
  assert.deepEqual(
    loaded.notices.map((issue) => formatIssue(loaded.file, issue)),
    ['config.yaml:4 channels.tg: left out, because TOKEN is not set'],
  );
  const there = load(t, yaml(place('TOKEN:-')), { TOKEN: '1:abc' });
  assert.deepEqual(Object.keys(there.config.channels), ['page', 'tg']);
  assert.deepEqual(there.notices, []);
});

test('a channel that is left out is still checked', (t) => {
  assert.deepEqual(errorsOf(t, yaml(`${place('TOKEN:-')}\n    mdoe: polling`)), [
    'config.yaml:7 channels.tg.mdoe: unknown key, did you mean "mode"?',
  ]);
});

test('two dollars escape, and what looks like a place but is none is an error', (t) => {
  const escaped = load(t, `gateway: { name: "$${place('NAME')}" }`);
  assert.equal(escaped.config.gateway.name, place('NAME'));
  for (const wrong of [place(''), place('a b'), '${NAME'])
    assert.deepEqual(errorsOf(t, `gateway: { name: "${wrong}" }`), [
      `config.yaml:1 gateway.name: \${ must be followed by the name of a variable and }; write $\${ for the characters themselves`,
    ]);
});

test('keys and comments are not substituted', (t) => {
  assert.deepEqual(errorsOf(t, `# ${place('NOT_SET')}\ngateway: { "${place('NAME')}": x }`, { NAME: 'name' }), [
    `config.yaml:2 gateway["${place('NAME')}"]: unknown key, did you mean "name"?`,
  ]);
});

test('a value is not substituted again', (t) => {
  const loaded = load(t, `gateway: { name: "${place('A')}" }`, { A: place('B'), B: 'wrong' });
  assert.equal(loaded.config.gateway.name, place('B'));
});

test('the password of the database is a secret, plain and encoded; its URL is not', (t) => {
  const loaded = load(t, `storage: { url: "${place('DB')}" }`, { DB: 'postgres://gate:p%40ss-word@db:5432/gate' });
  assert.equal(loaded.config.storage.url, 'postgres://gate:p%40ss-word@db:5432/gate');
  assert.deepEqual(loaded.secretValues, ['p%40ss-word', 'p@ss-word']);
});

test('headers of an MCP server are secrets', (t) => {
  const loaded = load(
    t,
    `mcp_servers: { x: { url: "https://x.example/", headers: { A: "Bearer ${place('KEY')}" } } }`,
    {
      KEY: 'key-of-x',
    },
  );
  assert.deepEqual(loaded.secretValues, ['Bearer key-of-x', 'key-of-x']);
});
