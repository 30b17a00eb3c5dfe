/** The skill that docs/skills.md has the reader write, taken from there and run. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { cli, valid } from '../cli/support.ts';
import { needs } from '../support/needs.ts';
import { needsSandbox } from '../support/sandbox_world.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'skills.md'), 'utf8');

/** The first block of that language, without its indentation in the list. */
function block(language: string): string {
  const found = new RegExp(`^ {3}\`\`\`${language}\n([\\s\\S]*?)^ {3}\`\`\`$`, 'm').exec(text)?.[1] ?? '';
  return found.replace(/^ {3}/gm, '');
}

it('the skill of docs/skills.md works as written', {
  skip: needsSandbox() || needs('python3'),
  timeout: 60_000,
}, async (t) => {
  const { run, folder, give } = cli(t, valid);
  const skill = join(folder, 'skills', 'line_count');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'skill.json'), block('json'));
  writeFileSync(join(skill, 'run.py'), block('python'), { mode: 0o755 });
  assert.equal(
    (await run('skills', 'check', skill)).out,
    `ok line_count (safe) ${skill}/skill.json\n1 right, 0 wrong\n`,
  );

  // Its configuration, with a file that is on every machine.
  const [, ...sandbox] = block('yaml').split(/^(?=sandbox:)|^(?=agents:)/m);
  assert.equal(sandbox.length, 2);
  writeFileSync(
    join(folder, 'config.yaml'),
    `${valid.replace('instructions: Help.', `instructions: Help., capabilities: ["skill:line_count"]`)}skill_dirs: ["${join(folder, 'skills')}"]\n${sandbox[0]?.replace('/var/log', '/etc')}`,
  );
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n').length - 1;
  give('{"path":"/etc/hosts"}');
  assert.deepEqual(await run('skills', 'run', 'line_count'), { code: 0, out: `{"lines": ${lines}}\n`, err: '' });
  give('{"path":"/var/ungranted"}');
  const refused = await run('skills', 'run', 'line_count');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /cannot be read: .*; the operator grants it in sandbox\.skills\.line_count\.read/);
});
