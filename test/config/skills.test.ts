import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { errorsOf, load as loadFile } from './support.ts';

const base = `models: { main: { provider: demo } }
channels: { page: { type: web } }
agents: { helper: { model: main, instructions: Help., capabilities: ["skill:disk_usage", { id: "skill:cleaner", approval: required }] } }
bindings:
  - { id: page, agent: helper, channel: page, where: { direct: true } }
`;
const load = (t: TestContext, more: string, env: NodeJS.ProcessEnv = {}) => loadFile(t, base + more, env);
const messages = (t: TestContext, yaml: string) =>
  errorsOf(t, yaml).map((line) => line.replace(/^config\.yaml:\d+ /, ''));

test('skills are resolved with their defaults, and agents keep them', (t) => {
  const { config, notYet } = load(t, '');
  assert.deepEqual(notYet, []);
  assert.deepEqual(config.skills, {
    dirs: [],
    mode: 'required',
    envAllow: null,
    grants: {},
    ownVariables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  });
  assert.deepEqual(
    config.agents.helper?.capabilities.map(({ id, enabled, approval }) => [id, enabled, approval]),
    [
      ['skill:disk_usage', true, 'default'],
      ['skill:cleaner', true, 'required'],
    ],
  );
});

test('R60: every variable that the file substitutes is the gateway’s own, set or not', (t) => {
  const more = `gateway: { name: "$\{NAME}", public_url: "$\{URL:-}" }
skill_dirs: [/srv/skills, "$\{MORE}"]
sandbox:
  subprocess: preferred
  env_allow: [HTTPS_PROXY]
  skills:
    cleaner: { write: [/var/cache] }
    reader: { read: [/srv], network: any, unconfined: true }
`;
  const { config } = load(t, more, { NAME: 'Gate', MORE: '/opt/skills' });
  assert.deepEqual(config.skills, {
    dirs: ['/srv/skills', '/opt/skills'],
    mode: 'preferred',
    envAllow: ['HTTPS_PROXY'],
    grants: {
      cleaner: { read: [], write: ['/var/cache'], network: 'none', unconfined: false },
      reader: { read: ['/srv'], write: [], network: 'any', unconfined: true },
    },
    ownVariables: ['NAME', 'URL', 'MORE', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  });
});

test('R89: what is wrong with them is an error with its place', (t) => {
  const wrong = `skill_dirs: [relative]
sandbox:
  subprocess: maybe
  env_allow: ["A B"]
  skills:
    Bad-Name: {}
    cleaner: { write: [cache], network: some, unconfined: yes please }
policies: { "skill:cleaner": { clean: ask } }
`;
  const agent = base.replace('"skill:disk_usage"', '"skill:Disk-Usage"');
  assert.deepEqual(
    messages(t, agent + wrong).map((line) => line.replace(/, did you mean.*/, '')),
    [
      'agents.helper.capabilities[0]: "Disk-Usage" is not the name of a skill: those are of a-z, 0-9 and _',
      'skill_dirs[0]: must be an absolute path',
      'sandbox.subprocess: must be one of required, preferred, off',
      'sandbox.env_allow[0]: must be the name of a variable, such as HTTPS_PROXY',
      'sandbox.skills.Bad-Name: must be the name of a skill: a-z, 0-9 and _',
      'sandbox.skills.cleaner.write[0]: must be an absolute path',
      'sandbox.skills.cleaner.network: must be one of none, any',
      'sandbox.skills.cleaner.unconfined: must be true or false, not text',
      'policies["skill:cleaner"].clean: "clean" is not a tool of skill:cleaner',
    ],
  );
});

test('R41: an override may not take the name of a skill that the agent has', (t) => {
  const taken = base.replace(
    '{ id: "skill:cleaner", approval: required }',
    '{ id: "skill:cleaner", tool_overrides: { cleaner: { name: disk_usage } } }',
  );
  assert.deepEqual(messages(t, taken), [
    'agents.helper.capabilities[1].tool_overrides.cleaner.name: "disk_usage" is already the name of disk_usage of skill:disk_usage; choose another',
  ]);
});

test('hosts for workspaces are not available yet', (t) => {
  const { notYet } = load(t, 'sandbox: { connections: { one: { docker: "unix:///var/run/docker.sock" } } }\n');
  assert.deepEqual(
    notYet.map(({ path }) => path),
    ['sandbox.connections'],
  );
});
