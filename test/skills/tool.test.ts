import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { attachCapabilities } from '../../src/capability/attach.ts';
import type { Grant } from '../../src/sandbox/grant.ts';
import { findMeans } from '../../src/sandbox/means.ts';
import { createSkillCapability } from '../../src/skills/capability.ts';
import { type EnvironmentRules, skillEnvironment } from '../../src/skills/environment.ts';
import { createSkillTool } from '../../src/skills/tool.ts';
import type { RunFacts } from '../../src/types/capability.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { AgentSpec } from '../../src/types/spec.ts';
import { createWorld, needsSandbox, node } from '../support/sandbox_world.ts';
import { contextWith, createFolders, valid } from './support.ts';

const rules: EnvironmentRules = { env: {}, substituted: new Set(), operatorAllow: null };

async function toolOf(
  t: TestContext,
  text: string,
  fields: JsonObject = {},
  more: { grant?: Grant; environment?: () => EnvironmentRules; mask?: (text: string) => string } = {},
) {
  const world = createWorld(t);
  const { write, load } = createFolders(t);
  write({ 'a/skill.json': { ...valid, ...fields }, 'a/run.sh': text });
  const { skills, lines } = await load();
  assert.equal(skills.length, 1, lines[0]);
  const tool = createSkillTool({ skill: skills[0]!, sandbox: world.confined, environment: () => rules, ...more });
  const progress: string[] = [];
  const call = (input: JsonObject = {}, signal?: AbortSignal) => tool.call(input, contextWith(progress, signal));
  return { tool, call, progress, skill: skills[0]!, world };
}

describe('a skill as a tool', { skip: needsSandbox() }, () => {
  it('R62: what it is follows from its class', async (t) => {
    const of = async (name: string) => {
      const { effect, annotations, dualSign } = (await toolOf(t, '#!/bin/sh\n', { class: name })).tool;
      return [effect, annotations.readOnlyHint, annotations.destructiveHint, annotations.idempotentHint, dualSign];
    };
    assert.deepEqual(await of('safe'), ['safe', true, false, true, undefined]);
    assert.deepEqual(await of('mutating'), ['mutating', false, false, false, undefined]);
    assert.deepEqual(await of('dangerous'), ['dangerous', false, true, false, true]);
  });

  it('R60: arguments come as JSON on stdin and as nothing else; the result goes back as it was written', async (t) => {
    const { tool, call } = await toolOf(
      t,
      node('process.stdout.write(JSON.stringify({ input, argv: process.argv.slice(2) }, null, 1) + "\\n");'),
    );
    assert.deepEqual([tool.id, tool.name, tool.description], ['disk_cleaner', 'disk_cleaner', 'Frees disk space.']);
    assert.deepEqual(await call({ path: '/var/cache', note: 'ü\n"' }), {
      content: '{\n "input": {\n  "path": "/var/cache",\n  "note": "ü\\n\\""\n },\n "argv": []\n}',
    });
  });

  it('R62: arguments that do not fit the schema start nothing', async (t) => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const { call, progress } = await toolOf(t, '#!/bin/sh\necho started >&2\necho 1\n', { schema });
    assert.deepEqual(await call({ path: 1 }), {
      isError: true,
      retry: true,
      content: 'disk_cleaner was not run: /path must be string',
    });
    assert.deepEqual(progress, []);
    assert.deepEqual(await call({ path: 'x' }), { content: '1' });
    assert.deepEqual(progress, ['started']);
  });

  it('R61: a non-zero exit is an error with the last 4 KiB of stderr, and its lines are the progress', async (t) => {
    const { call, progress } = await toolOf(
      t,
      `#!/bin/sh\nprintf '%05000d\\n' 7 >&2\necho 'no such path' >&2\necho '{"a":1}'\nexit 3\n`,
    );
    const outcome = await call();
    assert.equal(outcome.isError, true);
    assert.equal(outcome.retry, undefined);
    assert.match(
      outcome.content,
      /^disk_cleaner failed with exit code 3\.\nThe end of its log \(stderr\):\n0+7\nno such path$/,
    );
    assert.equal(outcome.content.split(':\n')[1]?.length, 4_095);
    assert.deepEqual([progress.length, progress[0]?.length, progress[1]], [2, 2_000, 'no such path']);
  });

  it('R61: what is not one JSON value is an error', async (t) => {
    for (const said of ['', 'done', '{} {}', '{"a":1'])
      assert.deepEqual(await (await toolOf(t, `#!/bin/sh\nprintf '%s' '${said}'\n`)).call(), {
        isError: true,
        content: 'disk_cleaner answered with something that is not one JSON value.',
      });
    for (const said of ['null', '[1]', '"x"', ' 7\n'])
      assert.deepEqual(await (await toolOf(t, `#!/bin/sh\nprintf '%s' '${said}'\n`)).call(), { content: said.trim() });
  });

  it('R61: a call over its time is stopped, and one that changes things is not to be repeated blindly', async (t) => {
    const text = '#!/bin/sh\necho working >&2\nexec /bin/sleep 30\n';
    const mutating = await (await toolOf(t, text, { timeout_seconds: 1, class: 'mutating' })).call();
    assert.deepEqual(mutating, {
      isError: true,
      content:
        'disk_cleaner was stopped: it did not end within 1 s.\nIt may have taken effect in part: check before you try it again.\nThe end of its log (stderr):\nworking',
    });
    const safe = await (await toolOf(t, text, { timeout_seconds: 1 })).call();
    assert.equal(safe.retry, true);
  });

  it('R75: a cancelled call ends at once', async (t) => {
    const { tool } = await toolOf(t, '#!/bin/sh\necho working >&2\nexec /bin/sleep 30\n');
    const abort = new AbortController();
    const from = systemClock.now();
    const context = { ...contextWith([], abort.signal), progress: () => abort.abort(new Error('stopped')) };
    await assert.rejects(tool.call({}, context), { message: 'stopped' });
    assert.ok(systemClock.now() - from < 5_000);
  });

  it('R60: gets exactly the variables that it asks for and may have', async (t) => {
    const env = { PATH: '/usr/bin', GATEHOUSE_KEY: 'key-of-the-gateway', SLACK_TOKEN: 'xoxb-secret', OTHER: 'o' };
    const environment = () => ({ ...rules, env, substituted: new Set(['SLACK_TOKEN']) });
    const asked = { env_allow: ['PATH', 'GATEHOUSE_KEY', 'SLACK_TOKEN', 'NOT_SET'] };
    const text = node('say(process.env);');
    assert.deepEqual(JSON.parse((await (await toolOf(t, text, asked, { environment })).call()).content), {
      PATH: '/usr/bin',
    });
    const operatorAllow = ['GATEHOUSE_KEY'];
    const opened = await toolOf(t, text, asked, { environment: () => ({ ...environment(), operatorAllow }) });
    assert.deepEqual(JSON.parse((await opened.call()).content), { GATEHOUSE_KEY: 'key-of-the-gateway' });
  });

  it('R60: without asking it gets none, and a list of the operator gives none that was not asked for', () => {
    const all = { env: { A: '1', B: '2' }, substituted: new Set<string>(), operatorAllow: ['A', 'B'] };
    assert.deepEqual(skillEnvironment([], all), {});
    assert.deepEqual(skillEnvironment(['A'], all), { A: '1' });
    assert.deepEqual(skillEnvironment(['A', 'B'], { ...all, operatorAllow: [] }), {});
    assert.deepEqual(skillEnvironment(['toString', 'A'], { ...all, operatorAllow: null }), { A: '1' });
  });

  it('R90: secrets are masked in results, errors and progress', async (t) => {
    const mask = (text: string) => text.replaceAll('hunter22', '[secret]');
    const { call, progress } = await toolOf(t, '#!/bin/sh\necho hunter22 >&2\necho \'"hunter22"\'\n', {}, { mask });
    assert.deepEqual(await call(), { content: '"[secret]"' });
    assert.deepEqual(progress, ['[secret]']);
    const failing = await toolOf(t, '#!/bin/sh\necho hunter22 >&2\nexit 1\n', {}, { mask });
    assert.match((await failing.call()).content, /\n\[secret\]$/);
  });

  it('R63: a sandbox that refuses is told with what to do', async (t) => {
    const { skill } = await toolOf(t, '#!/bin/sh\necho 1\n');
    const world = createWorld(t, { found: missingBubblewrap() });
    const tool = createSkillTool({ skill, sandbox: world.confined, environment: () => rules });
    assert.deepEqual(await tool.call({}, contextWith([])), {
      isError: true,
      content:
        'disk_cleaner was not run: skills do not run here: bubblewrap is not installed. The operator can change that: sudo apt-get install bubblewrap.',
    });
  });

  it('R39: is offered to agents that name it as skill:NAME, under its name and its own rules', async (t) => {
    const { tool } = await toolOf(t, '#!/bin/sh\n', { class: 'mutating', category: 'ops' });
    const plugin = createSkillCapability(tool);
    assert.deepEqual([plugin.id, plugin.category], ['skill:disk_cleaner', 'ops']);
    const use = (id: string) => ({
      id,
      enabled: true,
      config: {},
      approval: 'default' as const,
      toolApproval: {},
      toolOverrides: {},
      tools: null,
    });
    const spec = (id: string): AgentSpec => ({
      id: 'helper',
      name: 'helper',
      model: 'main',
      instructions: '',
      permissionMode: 'mutating-with-confirm',
      limits: { maxSteps: 1, runTimeoutMs: 1, budgetUsd: { run: null, day: null } },
      capabilities: [use(id)],
    });
    const facts = {} as RunFacts;
    const offered = attachCapabilities([plugin], spec('skill:disk_cleaner'), facts).tools;
    assert.deepEqual(
      offered.map(({ capability, tool }) => [capability, tool.name]),
      [['skill:disk_cleaner', 'disk_cleaner']],
    );
    assert.deepEqual(attachCapabilities([plugin], spec('skill:other'), facts).tools, []);
    assert.deepEqual([offered[0]?.own.effect, offered[0]?.own.policy], ['mutating', undefined]);
  });

  it('R50: its definition changes with description, schema and folder', async (t) => {
    const of = async (text: string, fields: JsonObject) => (await toolOf(t, text, fields)).tool.definition;
    const one = await of('#!/bin/sh\n', {});
    assert.equal(await of('#!/bin/sh\n', {}), one);
    assert.notEqual(await of('#!/bin/sh\n#\n', {}), one);
    assert.notEqual(await of('#!/bin/sh\n', { description: 'Other.' }), one);
    assert.match(one, /^[0-9a-f]{64}$/);
  });
});

function missingBubblewrap() {
  const found = findMeans('');
  return {
    ...found,
    means: { ...found.means, bwrap: null },
    missing: { reason: 'bubblewrap is not installed', hint: 'sudo apt-get install bubblewrap' },
  };
}
