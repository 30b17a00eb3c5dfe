import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { lockDataFolder } from '../../src/store/lock.ts';

const bounded = { timeout: 30_000 };

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lock-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function lockInChild(t: TestContext, folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'locking_child.ts'), folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [chunk] = await once(child.stdout!, 'data');
  assert.equal(String(chunk), 'locked\n');
  return child;
}

test('R94: a second gateway on the same data folder is refused and told the pid of the first', bounded, async (t) => {
  const folder = temporaryFolder(t);
  const child = await lockInChild(t, folder);
  assert.throws(() => lockDataFolder(folder), {
    code: 'in_use',
    message: `Another gateway uses the data folder ${folder} (process ${child.pid}).`,
    hint: 'Stop it with "gatehouse stop", or set gateway.data_dir in the config file to another folder.',
  });
});

test('R94: the lock of a killed gateway does not block the next', bounded, async (t) => {
  const folder = temporaryFolder(t);
  const child = await lockInChild(t, folder);
  child.kill('SIGKILL');
  await once(child, 'close');
  lockDataFolder(folder).release();
});

test('R94: a pid that lives again, in a file left behind, does not block', bounded, async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'gatehouse.pid'), `${process.pid}\n`);
  lockDataFolder(folder).release();
});

test('R94: a refused second attempt does not weaken the lock of the first', bounded, async (t) => {
  const folder = temporaryFolder(t);
  const lock = lockDataFolder(folder);
  assert.throws(() => lockDataFolder(folder), { code: 'in_use' });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'locking_child.ts'), folder], { stdio: 'ignore' });
  const [exitCode] = await once(child, 'close');
  assert.equal(exitCode, 1);
  lock.release();
  lock.release();
  await lockInChild(t, folder);
});

test('the data folder and its files have no rights for group and others', bounded, async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const lock = lockDataFolder(folder);
  t.after(() => lock.release());
  const rights = ['.', 'gatehouse.lock', 'gatehouse.pid'].map((name) => statSync(join(folder, name)).mode & 0o777);
  assert.deepEqual(rights, [0o700, 0o600, 0o600]);
});
