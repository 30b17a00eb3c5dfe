import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../src/store/db.ts';
import { openStore } from '../../src/store/open.ts';
import { eachDatabase } from '../support/databases.ts';

const insert = 'insert into channel_state (channel, key, value) values (?, ?, ?)';
const only = { only: 'sqlite' } as const;

/** A real SQLITE_FULL: the file may not grow by more than this. */
async function limitPages(db: Db, morePages: number): Promise<void> {
  const row = await db.get<{ page_count: number }>('pragma page_count');
  await db.run(`pragma max_page_count = ${row!.page_count + morePages}`);
}

eachDatabase(
  'a full disk: writes reject with what to do, reads go on, writing goes on when there is space',
  async (_t, open) => {
    const db = await open();
    await limitPages(db, 4);
    const acknowledged: string[] = [];
    let error: unknown;
    for (let count = 0; count < 100 && !error; count++)
      await db.run(insert, 'c', `k${count}`, 'x'.repeat(2_000)).then(
        () => acknowledged.push(`k${count}`),
        (reason) => {
          error = reason;
        },
      );
    assert.ok(error instanceof Error);
    assert.equal((error as Error & { code: string }).code, 'store_unavailable');
    assert.match(error.message, /gatehouse\.db cannot grow: the disk is full/);
    assert.equal(
      (error as Error & { hint: string }).hint,
      'To go on, free space on its disk; nothing needs a restart.',
    );

    const keys = async () => (await db.all<{ key: string }>('select key from channel_state')).map((row) => row.key);
    assert.deepEqual((await keys()).sort(), [...acknowledged].sort());
    await limitPages(db, 1_000);
    await db.run(insert, 'c', 'after', 'v');
    assert.ok((await keys()).includes('after'));
  },
  only,
);

eachDatabase(
  'a full disk in the middle of a batch: every closure of it rejects and none is half there',
  async (_t, open) => {
    const db = await open();
    await limitPages(db, 2);
    const results = await Promise.allSettled([
      db.run(insert, 'c', 'small', 'v'),
      db.tx(async (q) => {
        await q.run(insert, 'c', 'large', 'x'.repeat(100_000)).catch(() => {});
        await q.run(insert, 'c', 'outside any transaction', 'v').catch(() => {});
      }),
      db.run(insert, 'c', 'next', 'v'),
    ]);
    const stored = await db.all<{ key: string }>('select key from channel_state order by key');
    const fulfilled = ['small', 'large', 'next'].filter((_, index) => results[index]!.status === 'fulfilled');
    assert.deepEqual(
      stored.map(({ key }) => key),
      fulfilled.sort(),
    );
    assert.equal(results[1]!.status, 'rejected');
  },
  only,
);

eachDatabase(
  'a read-only database is store_unavailable and says what to do',
  async (_t, open, { folder, url }) => {
    await (await open()).close();
    // Root may write everything, so it tries as somebody else.
    const isRoot = process.getuid?.() === 0;
    for (const file of [folder, join(folder, 'gatehouse.db')]) {
      if (isRoot) chownSync(file, 65_534, 65_534);
      chmodSync(file, 0o500);
    }
    if (isRoot) process.seteuid!(65_534);
    try {
      await assert.rejects(openStore(url), {
        code: 'store_unavailable',
        hint: /make the file.* writable for this user/,
      });
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(folder, 0o700);
    }
  },
  only,
);

eachDatabase(
  'a file that is no database, and a folder in its place, are store_unavailable',
  async (_t, _open, { folder }) => {
    const text = join(folder, 'text.db');
    writeFileSync(text, 'this is a letter and not a database, as its first line shows well enough\n'.repeat(50));
    await assert.rejects(openStore(`sqlite:${text}`), {
      code: 'store_unavailable',
      message: /damaged or not a database/,
    });
    const directory = join(folder, 'directory.db');
    mkdirSync(directory);
    await assert.rejects(openStore(`sqlite:${directory}`), { code: 'store_unavailable' });
    const below = join(text, 'gatehouse.db');
    await assert.rejects(openStore(`sqlite:${below}`), {
      code: 'store_unavailable',
      hint: /make the file and its folder/,
    });
  },
  only,
);

/** Runs the child until it has acknowledged `count` rows, kills it, and returns all it acknowledged. */
async function writeUntilKilled(url: string, prefix: string, count: number): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writing_child.ts'), url, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    output += chunk;
    if (output.split('\n').length > count) child.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)));
  assert.equal(signal, 'SIGKILL');
  // A line without its end may be one the kill cut off.
  return output.split('\n').slice(0, -1);
}

eachDatabase(
  'D2: killed five times while it writes, every acknowledged row is there',
  async (_t, open, { url, dialect }) => {
    await (await open()).close();
    const acknowledged: string[] = [];
    for (const [round, count] of [1, 7, 60, 200, 333].entries())
      acknowledged.push(...(await writeUntilKilled(url, `round${round}`, count)));
    const db = await open();
    const stored = new Set((await db.all<{ key: string }>('select key from channel_state')).map((row) => row.key));
    assert.ok(acknowledged.length >= 601);
    assert.deepEqual(
      acknowledged.filter((key) => !stored.has(key)),
      [],
    );
    if (dialect === 'sqlite') assert.deepEqual(await db.get('pragma integrity_check'), { integrity_check: 'ok' });
  },
  { timeoutMs: 60_000 },
);
