/** The example skills, run in the real sandbox with the grant that their READMEs name. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { noGrant } from '../../src/sandbox/grant.ts';
import { loadSkills } from '../../src/skills/load.ts';
import { createSkillTool } from '../../src/skills/tool.ts';
import type { JsonObject } from '../../src/types/json.ts';
import { needs } from '../support/needs.ts';
import { createWorld, needsSandbox, quietLog } from '../support/sandbox_world.ts';
import { contextWith, createFolders } from './support.ts';

const examples = join(import.meta.dirname, '..', '..', 'capabilities', 'examples', 'skills');
const skip = needsSandbox();

/** A copy of the examples, as an operator makes one, and a folder that the skills' user may write. */
async function world(t: TestContext) {
  const { confined, open } = createWorld(t);
  const { root, store } = createFolders(t);
  cpSync(examples, root, { recursive: true });
  const { skills, lines } = await loadSkills({ roots: [root], store, log: quietLog });
  const progress: string[] = [];
  return {
    open,
    lines,
    skills,
    progress,
    async call(
      name: string,
      input: JsonObject,
      grant: { read?: string[]; write?: string[] },
      env: NodeJS.ProcessEnv = {},
    ) {
      const skill = skills.find(({ manifest }) => manifest.name === name)!;
      const environment = () => ({ env, substituted: new Set<string>(), operatorAllow: null });
      const tool = createSkillTool({ skill, sandbox: confined, grant: { ...noGrant, ...grant }, environment });
      return tool.call(input, contextWith(progress));
    },
  };
}

/** Open to the skills' user whoever that is. */
function file(path: string, text: string, ageDays = 0): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  const seconds = Date.now() / 1_000 - ageDays * 86_400;
  utimesSync(path, seconds, seconds);
}

/** What a file takes depends on the file system. */
function onDisk(path: string): number {
  return statSync(path).blocks * 512;
}

function openAll(folder: string): void {
  chmodSync(folder, 0o777);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openAll(join(folder, entry.name));
}

describe('example skills', { skip }, () => {
  it('are all registered, one of each class', async (t) => {
    const { skills, lines } = await world(t);
    assert.equal(lines.at(-1), 'skill loader: 3 registered, 0 skipped, 0 rejected');
    assert.deepEqual(
      skills.map(({ manifest }) => [manifest.name, manifest.class]),
      [
        ['cache_cleaner', 'mutating'],
        ['disk_usage', 'safe'],
        ['snapshot_purge', 'dangerous'],
      ],
    );
    for (const { manifest } of skills) {
      const readme = readFileSync(join(examples, manifest.name, 'README.md'), 'utf8');
      assert.match(readme, new RegExp(`${manifest.name}: \\{ (?:read|write): \\[/`));
      assert.match(readme, new RegExp(`\`${manifest.class}\``));
    }
  });

  it('disk_usage says what is largest in a granted folder', { skip: needs('python3') }, async (t) => {
    const { call, open } = await world(t);
    file(join(open, 'logs', 'old', 'big.log'), 'x'.repeat(300_000));
    file(join(open, 'logs', 'small.log'), 'x'.repeat(5_000));
    file(join(open, 'cache', 'middle'), 'x'.repeat(100_000));
    const [big, small] = [onDisk(join(open, 'logs/old/big.log')), onDisk(join(open, 'logs/small.log'))];
    const outcome = await call('disk_usage', { path: open, largest: 1 }, { read: [open] });
    const answer = JSON.parse(outcome.content) as Record<string, unknown> & { disk: { free_bytes: number } };
    assert.deepEqual([answer.files, answer.unreadable], [3, 0]);
    assert.deepEqual(answer.largest_files, [{ path: join(open, 'logs/old/big.log'), bytes: big }]);
    assert.deepEqual(answer.largest_folders, [{ path: join(open, 'logs'), bytes: big + small }]);
    assert.ok(answer.disk.free_bytes > 0);
    const ungranted = await call('disk_usage', { path: open }, {});
    assert.equal(ungranted.isError, true);
    assert.match(ungranted.content, /the operator grants folders in sandbox\.skills\.disk_usage\.read/);
  });

  it('cache_cleaner counts in a dry run, then deletes what is old', async (t) => {
    const { call, open } = await world(t);
    file(join(open, 'old', 'a'), 'x'.repeat(5_000), 40);
    file(join(open, 'old', 'deep', 'b'), 'x', 40);
    file(join(open, 'mixed', 'c'), 'x', 40);
    file(join(open, 'mixed', 'new'), 'x', 1);
    openAll(open);
    const freed = ['old/a', 'old/deep/b', 'mixed/c'].map((path) => onDisk(join(open, path)));
    const expected = {
      freed_bytes: freed[0]! + freed[1]! + freed[2]!,
      files_deleted: 3,
      folders_deleted: 2,
      kept_files: 1,
      failed: [],
    };
    const dry = await call('cache_cleaner', { path: open }, { write: [open] });
    assert.deepEqual(JSON.parse(dry.content), { dry_run: true, ...expected });
    assert.ok(existsSync(join(open, 'old', 'a')));
    const wet = await call('cache_cleaner', { path: open, dry_run: false }, { write: [open] });
    assert.deepEqual(JSON.parse(wet.content), { dry_run: false, ...expected });
    assert.deepEqual(readdirSync(open, { recursive: true }).sort(), ['mixed', 'mixed/new']);
    file(join(open, 'mixed', 'c'), 'x', 40);
    const readOnly = await call('cache_cleaner', { path: open, dry_run: false }, { read: [open] });
    assert.deepEqual((JSON.parse(readOnly.content) as { failed: string[] }).failed, [
      `${join(open, 'mixed/c')}: EROFS`,
    ]);
    const none = await call('cache_cleaner', { path: '/var/cache' }, {});
    assert.match(none.content, /exit code 1\.\n[\s\S]*\/var\/cache is no folder that this skill can see/);
  });

  it('snapshot_purge deletes all but the newest snapshots of one set', async (t) => {
    const { call, open, progress } = await world(t);
    const names = ['2026-11-01', '2026-11-02', '2026-11-02T0400', '2026-10-30', 'notes', '2026-11-01.tar'];
    for (const set of ['daily', 'weekly']) for (const name of names) file(join(open, set, name, 'file'), 'x');
    openAll(open);
    const run = (input: JsonObject) =>
      call('snapshot_purge', input, { write: [open] }, { SNAPSHOT_ROOT: open, PATH: '/nowhere' });
    assert.deepEqual(await run({ keep: 2, set: 'daily' }), {
      content: '{"set":"daily","kept":2,"deleted":["2026-11-01","2026-10-30"]}',
    });
    assert.deepEqual(progress, ['deleting 2026-11-01', 'deleting 2026-10-30']);
    assert.deepEqual(readdirSync(join(open, 'daily')).sort(), [
      '2026-11-01.tar',
      '2026-11-02',
      '2026-11-02T0400',
      'notes',
    ]);
    assert.equal(readdirSync(join(open, 'weekly')).length, 6);
    for (const input of [{ set: '../weekly', keep: 1 }, { set: 'weekly', keep: 0 }, { set: 'weekly' }])
      assert.equal((await run(input)).retry, true, JSON.stringify(input));
    assert.match((await run({ set: 'monthly', keep: 1 })).content, /there is no set \S+\/monthly/);
  });
});
