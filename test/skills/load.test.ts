import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { removeOldCopies } from '../../src/skills/register.ts';
import { createWorld, needsSandbox } from '../support/sandbox_world.ts';
import { createFolders, program, valid } from './support.ts';

const only = async (t: TestContext, files: Record<string, string | object>) => {
  const folders = createFolders(t);
  folders.write(files as Record<string, string>);
  const loaded = await folders.load();
  return { ...folders, ...loaded, line: loaded.lines[0] };
};

describe('skill loader', () => {
  it('R58: finds skill.json at any depth and says one line for each, then the counts', async (t) => {
    const { root, write, load } = createFolders(t);
    write({
      'a/skill.json': valid,
      'a/run.sh': program,
      'b/deep/er/skill.json': { ...valid, name: 'other' },
      'b/deep/er/run.sh': program,
      'c/skill.json': valid,
      'c/run.sh': program,
      'd/skill.json': '{"name": ,}',
      'e/skill.json': { ...valid, name: 'bad_path', entry: '/bin/sh' },
      'f/skill.json.bak': 'not one',
    });
    const { lines, skills, problems, ...counts } = await load({
      roots: [root, 'relative/skills', join(root, 'missing')],
    });
    assert.deepEqual(
      lines.map((line) => line.replaceAll(root, '/skills').replace(/(skill\.json: ).*JSON.*/, '$1reason')),
      [
        'skill loader: skipping "relative/skills": not an absolute path',
        'skill loader: skipping /skills/missing: it does not exist',
        'skill loader: registered subprocess skill "disk_cleaner" from /skills/a/skill.json',
        'skill loader: registered subprocess skill "other" from /skills/b/deep/er/skill.json',
        'skill loader: skill "disk_cleaner" already registered, skipping /skills/c/skill.json',
        'skill loader: parse /skills/d/skill.json: reason',
        'skill loader: build "bad_path": entry /bin/sh escapes allowlist root /skills',
        'skill loader: 2 registered, 1 skipped, 2 rejected',
      ],
    );
    assert.deepEqual(counts, { registered: 2, skipped: 1, rejected: 2 });
    assert.deepEqual(
      problems.map(({ path, name, kind }) => [path.replace(root, '/skills'), name, kind]),
      [
        ['/skills/c/skill.json', 'disk_cleaner', 'duplicate'],
        ['/skills/d/skill.json', '', 'rejected'],
        ['/skills/e/skill.json', 'bad_path', 'rejected'],
      ],
    );
    assert.match(problems[2]?.reasons[0] ?? '', /^entry \/bin\/sh escapes allowlist root /);
    assert.deepEqual(
      skills.map((skill) => [skill.manifest.name, skill.program]),
      [
        ['disk_cleaner', 'run.sh'],
        ['other', 'run.sh'],
      ],
    );
  });

  it('R58: no roots, an empty root and a name that a tool has are all fine', async (t) => {
    const { load, write } = createFolders(t);
    assert.deepEqual((await load({ roots: [] })).lines, ['skill loader: 0 registered, 0 skipped, 0 rejected']);
    assert.deepEqual((await load()).lines, ['skill loader: 0 registered, 0 skipped, 0 rejected']);
    write({ 'a/skill.json': valid, 'a/run.sh': program });
    assert.equal((await load({ taken: new Set(['disk_cleaner']) })).skipped, 1);
  });

  it('R58: a line shows what cannot be seen', async (t) => {
    const { line, root } = await only(t, { 'a/skill.json': { ...valid, entry: '../../../\u202eoops' } });
    assert.equal(line, `skill loader: build "disk_cleaner": entry ../../../\\u202eoops escapes allowlist root ${root}`);
  });

  it('R59: entry must be an executable regular file', async (t) => {
    const build = (entry: string, files: object) => only(t, { 'a/skill.json': { ...valid, entry }, ...files });
    assert.match((await build('none.sh', {})).line ?? '', /: entry none\.sh does not exist$/);
    assert.match((await build('folder', { 'a/folder/x': '' })).line ?? '', /: entry folder is not a regular file$/);
    assert.match(
      (await build('plain', { 'a/plain': 'x' })).line ?? '',
      /: entry plain is not executable: chmod \+x \S+$/,
    );
  });

  it('R59: entry must lie below the root, wherever links lead', async (t) => {
    const { folder, root, write, load } = createFolders(t);
    mkdirSync(join(folder, 'outside'));
    writeFileSync(join(folder, 'outside', 'run.sh'), program, { mode: 0o755 });
    write({ 'shared/run.sh': program, 'a/skill.json': valid });
    const entry = join(root, 'a', 'run.sh');
    const escapes = `skill loader: build "disk_cleaner": entry run.sh escapes allowlist root ${root}`;
    symlinkSync(join(folder, 'outside', 'run.sh'), entry);
    assert.equal((await load()).lines[0], escapes);
    rmSync(entry);
    symlinkSync(join(folder, 'outside'), join(root, 'way'));
    symlinkSync('../way/run.sh', entry);
    assert.equal((await load()).lines[0], escapes);
    rmSync(entry);
    symlinkSync('../shared/run.sh', entry);
    assert.equal((await load()).registered, 1);
    // A root whose name begins like ours is another root.
    renameSync(join(folder, 'outside'), `${root}_2`);
    write({ 'a/skill.json': { ...valid, entry: '../../root_2/run.sh' } });
    assert.match((await load()).lines[0] ?? '', /escapes allowlist root/);
    write({ 'a/skill.json': { ...valid, entry: '../shared/run.sh' } });
    const shared = (await load()).skills[0];
    assert.equal(shared?.program, '.entry/run.sh');
    assert.equal(readFileSync(join(shared?.folder ?? '', '.entry/run.sh'), 'utf8'), program);
  });

  it('R59: skill.json itself must lie below the root, and nothing of another file is told', async (t) => {
    const { folder, root, load } = createFolders(t);
    writeFileSync(join(folder, 'passwords'), 'root:secret');
    mkdirSync(join(root, 'a'));
    symlinkSync(join(folder, 'passwords'), join(root, 'a', 'skill.json'));
    const { lines } = await load();
    assert.equal(lines[0], `skill loader: parse ${root}/a/skill.json: it escapes allowlist root ${root}`);
  });

  it('R59: the copy holds what the folder held, for the gateway alone, and links that lead nowhere else', async (t) => {
    const { folder, root, store, write, load } = createFolders(t);
    writeFileSync(join(folder, 'passwords'), 'root:secret');
    write({ 'a/skill.json': valid, 'a/run.sh': program, 'a/lib/part.sh': 'part', 'shared.txt': 'shared' });
    symlinkSync('../shared.txt', join(root, 'a', 'shared.txt'));
    symlinkSync(join(folder, 'passwords'), join(root, 'a', 'passwords'));
    symlinkSync('lib', join(root, 'a', 'library'));
    symlinkSync('/usr', join(root, 'a', 'system'));
    const skill = (await load()).skills[0]!;
    assert.equal(skill.folder, join(store, skill.folderDigest));
    assert.deepEqual(readdirSync(skill.folder).sort(), [
      'lib',
      'library',
      'passwords',
      'run.sh',
      'shared.txt',
      'skill.json',
      'system',
    ]);
    assert.equal(readFileSync(join(skill.folder, 'shared.txt'), 'utf8'), 'shared');
    rmSync(join(folder, 'passwords'));
    assert.ok(!existsSync(join(skill.folder, 'passwords')), 'a link, not a copy');
    for (const path of ['.', 'lib', 'run.sh', 'shared.txt', 'lib/part.sh'])
      assert.equal(statSync(join(skill.folder, path)).mode & 0o077, 0, path);
    assert.equal(statSync(join(skill.folder, 'run.sh')).mode & 0o222, 0);
  });

  it('R50: the digest changes with contents, names, links and rights, and with nothing else', async (t) => {
    const { root, store, write, load } = createFolders(t);
    write({ 'a/skill.json': valid, 'a/run.sh': program, 'a/note.txt': 'one' });
    const digest = async () => (await load()).skills[0]?.folderDigest;
    const seen = [await digest()];
    assert.equal(await digest(), seen[0]);
    const changes: (() => void)[] = [
      () => writeFileSync(join(root, 'a', 'note.txt'), 'two'),
      () => renameSync(join(root, 'a', 'note.txt'), join(root, 'a', 'notes.txt')),
      () => chmodSync(join(root, 'a', 'notes.txt'), 0o755),
      () => symlinkSync('/usr', join(root, 'a', 'link')),
      () => write({ 'a/skill.json': { ...valid, description: 'Other words.' } }),
      () => mkdirSync(join(root, 'a', 'empty')),
    ];
    for (const change of changes) {
      change();
      seen.push(await digest());
    }
    assert.equal(new Set(seen).size, changes.length + 1);
    assert.equal(readdirSync(store).length, changes.length + 1);
    assert.equal(await removeOldCopies(store, new Set([seen.at(-1) ?? ''])), changes.length);
    assert.deepEqual(readdirSync(store), [seen.at(-1)]);
  });

  it('R59: a copy that was tampered with is not used', async (t) => {
    const { write, load } = createFolders(t);
    write({ 'a/skill.json': valid, 'a/run.sh': program });
    const { folder } = (await load()).skills[0]!;
    chmodSync(join(folder, 'run.sh'), 0o700);
    writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\necho tampered\n');
    assert.equal((await load()).skills[0]?.folder, folder);
    assert.equal(readFileSync(join(folder, 'run.sh'), 'utf8'), program);
  });

  it('a folder that is too large is rejected, and no trace of it stays', async (t) => {
    const { store, write, load } = createFolders(t);
    write({ 'a/skill.json': valid, 'a/run.sh': program });
    write(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`a/files/${index}`, ''])));
    assert.equal((await load()).lines[0], 'skill loader: build "disk_cleaner": its folder has more than 2000 files');
    assert.deepEqual(readdirSync(store), []);
  });

  it("knows the programs that the gateway's Node runs", async (t) => {
    const interpreter = async (line: string) =>
      (await only(t, { 'a/skill.json': valid, 'a/run.sh': `${line}\nx\n` })).skills[0]?.interpreter;
    for (const line of ['#!/usr/bin/env node', '#!/usr/bin/node', '#! /usr/bin/env -S node --no-warnings'])
      assert.equal(await interpreter(line), 'node', line);
    for (const line of ['#!/bin/sh', '#!/usr/bin/env nodejs', '#!/usr/bin/env python3 node'])
      assert.equal(await interpreter(line), null, line);
  });

  it('R59: an entry swapped for a link after it was checked does not run', { skip: needsSandbox() }, async (t) => {
    const world = createWorld(t);
    const { folder, root, write, load } = createFolders(t);
    write({ 'a/skill.json': valid, 'a/run.sh': program });
    const skill = (await load()).skills[0]!;
    writeFileSync(join(folder, 'evil.sh'), '#!/bin/sh\necho \'"evil"\'\n', { mode: 0o755 });
    rmSync(join(root, 'a', 'run.sh'));
    symlinkSync(join(folder, 'evil.sh'), join(root, 'a', 'run.sh'));
    const run = (at: string, sandbox = world.confined) =>
      sandbox.run({ ...skill, folder: at, stdin: '{}', env: {}, timeoutMs: 20_000 });
    assert.equal((await run(skill.folder)).stdout, '{"ok":true}\n');
    assert.equal((await run(skill.folder, world.free)).stdout, '{"ok":true}\n');
    assert.equal((await run(join(root, 'a'), world.free)).stdout, '"evil"\n', 'where it was checked it would run');
    assert.match((await load()).lines[0] ?? '', /escapes allowlist root/);
  });
});
