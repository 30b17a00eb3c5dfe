import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { JsonObject } from '../../src/types/json.ts';
import { isRoot, needsSandbox } from '../support/sandbox_world.ts';
import { cli, valid } from './support.ts';

const bounded = { timeout: 60_000 } as const;
const echo = '#!/bin/sh\necho reading >&2\nread -r line\necho "{\\"got\\":$line,\\"name\\":\\"$NAME$KEY\\"}"\n';

function world(t: TestContext, more = '', env: NodeJS.ProcessEnv = {}) {
  const made = cli(t, valid, {}, env);
  const skills = join(made.folder, 'skills');
  mkdirSync(skills);
  const agent = valid.replace(
    'instructions: Help.',
    'instructions: Help., capabilities: ["skill:reader", "skill:gone"]',
  );
  writeFileSync(join(made.folder, 'config.yaml'), `${agent}skill_dirs: ["${skills}"]\n${more}`);
  return {
    ...made,
    skills,
    skill(name: string, manifest: JsonObject = {}, program = echo) {
      mkdirSync(join(skills, name));
      const text = JSON.stringify({ name, description: `The ${name}.`, entry: 'run', ...manifest });
      writeFileSync(join(skills, name, 'skill.json'), text);
      writeFileSync(join(skills, name, 'run'), program, { mode: 0o755 });
    },
  };
}

describe('gatehouse skills', bounded, () => {
  it('check of the configuration says which skill an agent misses, and why', async (t) => {
    const { run, skills, skill } = world(t, 'sandbox: { skills: { other: { read: [/not/there] } } }\n');
    skill('reader', { class: 'evil', timeout_seconds: -1 });
    const { code, out } = await run('check');
    assert.equal(code, 0);
    assert.deepEqual(out.replaceAll(skills, 'SKILLS').trim().split('\n'), [
      'config.yaml is valid',
      'config.yaml: agents.helper.capabilities: warning: skill:reader is not there: SKILLS/reader/skill.json was rejected: class "evil" must be one of safe, mutating, dangerous; timeout_seconds must be a whole number from 0 to 86400. The agent works without it',
      'config.yaml: agents.helper.capabilities: warning: skill:gone is not there: no skill.json below SKILLS has that name. The agent works without it',
      'config.yaml: sandbox.skills.other: warning: there is no skill "other": no skill.json below SKILLS has that name',
      'config.yaml: sandbox.skills.other: warning: its calls will be refused: sandbox.skills grants /not/there, which does not exist',
    ]);
  });

  it('without skill_dirs the reason is that', async (t) => {
    const { run } = cli(t, valid.replace('instructions: Help.', 'instructions: Help., capabilities: ["skill:a"]'));
    assert.match((await run('check')).out, /skill:a is not there: skill_dirs names no folder to look in\. The agent/);
    assert.equal(
      (await run('skills', 'list')).out.split('\n')[0],
      'There are no skills: skill_dirs names no folder. How to make one: docs/skills.md',
    );
  });

  it('check: every error of every manifest at once, and exit code 1', async (t) => {
    const { run, skills, skill, folder } = world(t);
    skill('reader', { extra: 1 });
    skill('first', { name: 'Bad Name', description: '', entry: '/bin/sh' });
    skill('second', { name: 'reader' });
    skill('third', { name: 'store_get' });
    const all = await run('skills', 'check');
    assert.equal(all.code, 1);
    assert.deepEqual(all.out.replaceAll(skills, 'SKILLS').trim().split('\n'), [
      'ok reader (safe) SKILLS/reader/skill.json',
      '   warning: unknown field "extra" is ignored',
      'SKILLS/first/skill.json: name "Bad Name" must match [a-z0-9_]+',
      'SKILLS/first/skill.json: description is required',
      'SKILLS/first/skill.json: entry /bin/sh escapes allowlist root SKILLS',
      'SKILLS/second/skill.json: its name is taken by a skill found earlier or by a tool of the gateway',
      'SKILLS/third/skill.json: its name is taken by a skill found earlier or by a tool of the gateway',
      'config.yaml: agents.helper.capabilities: warning: skill:gone is not there: no skill.json below SKILLS has that name. The agent works without it',
      '1 right, 3 wrong',
    ]);
    const one = await run('skills', 'check', 'first');
    assert.equal(one.code, 1);
    assert.equal(one.out.split('\n').length, 5);
    const report = JSON.parse((await run('skills', 'check', '--json')).out) as { ok: boolean; problems: unknown[] };
    assert.deepEqual([report.ok, report.problems.length], [false, 3]);
    const right = await run('skills', 'check', join(skills, 'reader'));
    assert.equal(right.code, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['config.yaml', 'skills'], 'nothing is made');
  });

  it('check of a folder needs no configuration', async (t) => {
    const { run, skills, skill, folder } = world(t);
    skill('reader');
    writeFileSync(join(folder, 'config.yaml'), 'gatway: {}\n');
    const { code, out } = await run('skills', 'check', 'skills/reader');
    assert.deepEqual([code, out], [0, `ok reader (safe) ${skills}/reader/skill.json\n1 right, 0 wrong\n`]);
    mkdirSync(join(folder, 'empty'));
    assert.match((await run('skills', 'check', 'empty')).err, /^gatehouse: there is no skill\.json below /);
    assert.match((await run('skills', 'check', './nothing')).err, /^gatehouse: there is no folder /);
  });

  it('list shows name, class, category and state, with the reason', { skip: needsSandbox() }, async (t) => {
    const { run, skills, skill } = world(t, 'sandbox: { skills: { free: { unconfined: true } } }\n');
    skill('reader');
    skill('free', { class: 'mutating', category: 'ops' });
    skill('wrong', { schema: 7 });
    const { code, out } = await run('skills', 'list');
    assert.equal(code, 0);
    assert.deepEqual(out.replaceAll(skills, 'SKILLS').trim().split('\n'), [
      'NAME    CLASS     CATEGORY  STATE            AGENTS  WHERE',
      'free    mutating  ops       without sandbox  -       SKILLS/free/skill.json',
      'reader  safe      external  ready            helper  SKILLS/reader/skill.json',
      'wrong   -         -         rejected         -       SKILLS/wrong/skill.json',
      'SKILLS/wrong/skill.json: schema must be a JSON Schema object',
      'config.yaml: agents.helper.capabilities: warning: skill:gone is not there: no skill.json below SKILLS has that name. The agent works without it',
      'The skill free runs WITHOUT the sandbox (sandbox.skills.free.unconfined).',
    ]);
    const json = JSON.parse((await run('skills', 'list', '--json')).out) as {
      skills: { name: string; state: string }[];
      sandbox: { runs: string };
    };
    assert.equal(json.sandbox.runs, 'confined');
    assert.deepEqual(
      json.skills.map(({ name, state }) => [name, state]),
      [
        ['free', 'without sandbox'],
        ['reader', 'ready'],
        ['wrong', 'rejected'],
      ],
    );
  });

  it('R60: run: arguments in, result out, log lines beside it, variables as the rules say', {
    skip: needsSandbox(),
  }, async (t) => {
    const env = { NAME: 'Ada', KEY: 'the-gateways-own' };
    const { run, skill, give } = world(t, `gateway: { name: "$\{KEY}" }\n`, env);
    skill('reader', { env_allow: ['NAME', 'KEY'] });
    give('{"a":1}');
    assert.deepEqual(await run('skills', 'run', 'reader'), {
      code: 0,
      out: '{"got":{"a":1},"name":"Ada"}\n',
      err: 'reading\n',
    });
    give('');
    assert.equal((await run('skills', 'run', 'reader')).out, '{"got":{},"name":"Ada"}\n');
  });

  it('R62: run asks for --yes before what changes something', { skip: needsSandbox() }, async (t) => {
    const { run, skill, give } = world(t);
    skill('writer', { class: 'mutating' });
    skill('killer', { class: 'dangerous' });
    give('{}');
    assert.deepEqual(await run('skills', 'run', 'writer'), {
      code: 1,
      out: '',
      err: 'gatehouse: writer is mutating: it changes something; add --yes to run it all the same\n',
    });
    assert.equal((await run('skills', 'run', 'writer', '--yes')).out, '{"got":{},"name":""}\n');
    assert.match((await run('skills', 'run', 'killer')).err, /^gatehouse: killer is dangerous: .*; add --yes /);
    const killer = await run('skills', 'run', 'killer', '--yes');
    assert.equal(killer.code, 0);
    assert.match(killer.err, /^Warning: killer is dangerous: what it does cannot be undone/);
  });

  it('R49: run: a skill writes no control sequences to the terminal', { skip: needsSandbox() }, async (t) => {
    const { run, skill, give } = world(t);
    skill('painter', {}, "#!/bin/sh\nprintf '\\033[2Jgone\\n' >&2\nexit 3\n");
    give('{}');
    assert.equal(
      (await run('skills', 'run', 'painter')).err,
      '\\u001b[2Jgone\npainter failed with exit code 3.\nThe end of its log (stderr):\n\\u001b[2Jgone\n',
    );
  });

  it('run: what goes wrong is said, with an exit code', { skip: needsSandbox() }, async (t) => {
    const { run, skill, give } = world(t);
    skill('reader', { schema: { properties: { a: { type: 'string' } }, required: ['a'] } });
    skill('failing', {}, '#!/bin/sh\necho "no such set" >&2\nexit 3\n');
    skill('broken', { entry: 'nothing' });
    const failed = async (stdin: string | null, ...words: string[]) => {
      give(stdin);
      const { code, out, err } = await run('skills', 'run', ...words);
      assert.equal(out, '');
      return [code, err.trim().split('\n')[0]];
    };
    assert.deepEqual(await failed('{}', 'reader'), [
      1,
      "reader was not run: arguments must have required property 'a'",
    ]);
    assert.deepEqual(await failed('{}', 'failing'), [1, 'no such set']);
    assert.deepEqual(await failed('{}', 'readr'), [1, 'gatehouse: there is no skill "readr", did you mean "reader"?']);
    assert.match(
      String((await failed('{}', 'broken'))[1]),
      /broken\/skill\.json is not a skill: entry nothing does not/,
    );
    assert.deepEqual(await failed(null, 'reader'), [
      2,
      'gatehouse: the arguments are read from standard input: gatehouse skills run NAME < args.json',
    ]);
    assert.equal((await failed('[1]', 'reader'))[0], 2);
    assert.equal((await failed('{', 'reader'))[0], 2);
    assert.equal((await failed('{}'))[0], 2);
    assert.equal((await run('skills', 'dance')).code, 2);
  });

  it('off is said in words wherever it counts', async (t) => {
    const { run, skill, give, skills } = world(t, 'sandbox: { subprocess: off }\n'.replace('off', '"off"'));
    skill('reader');
    const line = /Skills run WITHOUT a sandbox \(sandbox\.subprocess: off\): they can read and reach whatever/;
    assert.match((await run('skills', 'list')).out, line);
    give('{}');
    const { code, err } = await run('skills', 'run', 'reader');
    assert.equal(code, 0, `${skills} ${isRoot} ${err}`);
    assert.match(err, line);
  });
});
