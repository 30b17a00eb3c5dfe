import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openSqlite } from '../../src/store/sqlite.ts';
import { eachDatabase } from '../support/databases.ts';

const insert = 'insert into channel_state (channel, key, value) values (?, ?, ?)';
const only = { only: 'sqlite' } as const;

eachDatabase(
  'closures of one tick share a commit',
  async (_t, open) => {
    let commits = 0;
    const db = await open({ hooks: { afterCommit: () => commits++ } });
    commits = 0;
    await Promise.all(Array.from({ length: 50 }, (_, index) => db.run(insert, 'c', `k${index}`, 'v')));
    // One, unless the machine is so slow that a batch runs out of time.
    assert.ok(commits >= 1 && commits <= 10, `${commits} commits for 50 closures`);
    assert.deepEqual(await db.get('select count(*) as n from channel_state'), { n: 50 });
  },
  only,
);

eachDatabase(
  'a batch ends after 256 closures',
  async (_t, open) => {
    let commits = 0;
    const db = await open({ hooks: { beforeCommit: () => commits++ } });
    commits = 0;
    await Promise.all(Array.from({ length: 300 }, async () => db.tx(async () => {})));
    assert.ok(commits >= 2, `${commits} commits for 300 closures`);
  },
  only,
);

eachDatabase(
  'a bell rings once for a batch',
  async (_t, open) => {
    let commits = 0;
    const db = await open({ hooks: { afterCommit: () => commits++ } });
    commits = 0;
    let rings = 0;
    db.onRing('run', () => rings++);
    await Promise.all(Array.from({ length: 50 }, () => db.tx(async (q) => q.ring('run'))));
    assert.ok(rings < 50);
    assert.equal(rings, commits);
  },
  only,
);

eachDatabase(
  'a closure that awaits anything but its queries is rolled back and poisoned, its neighbours are not',
  async (_t, open) => {
    const db = await open();
    let late: Promise<unknown> = Promise.resolve();
    const waiting = db.tx(async (q) => {
      await q.run(insert, 'c', 'waits', 'v');
      await nextTurn();
      late = q.run(insert, 'c', 'late', 'v');
      await late;
    });
    const neighbour = db.run(insert, 'c', 'neighbour', 'v');
    await assert.rejects(waiting, /awaited something other than its own queries/);
    await neighbour;
    await nextTurn();
    await assert.rejects(late, /awaited something other than its own queries/);
    assert.deepEqual(await db.all('select key from channel_state'), [{ key: 'neighbour' }]);
  },
  only,
);

eachDatabase(
  'a transaction inside a transaction is refused instead of waiting for itself',
  async (_t, open) => {
    const db = await open();
    await assert.rejects(
      db.tx(() => db.run(insert, 'c', 'inner', 'v')),
      /awaited something other than its own queries/,
    );
    await db.run(insert, 'c', 'after', 'v');
  },
  only,
);

eachDatabase(
  'a commit that fails rejects every closure of its batch',
  async (_t, open) => {
    let full = false;
    const db = await open({
      hooks: {
        beforeCommit() {
          if (full) throw new Error('stopped before the commit');
        },
      },
    });
    full = true;
    const results = await Promise.allSettled(['a', 'b'].map((key) => db.run(insert, 'c', key, 'v')));
    assert.deepEqual(
      results.map((result) => result.status === 'rejected' && result.reason.message),
      ['stopped before the commit', 'stopped before the commit'],
    );
    full = false;
    await db.run(insert, 'c', 'after', 'v');
    assert.deepEqual(await db.all('select key from channel_state'), [{ key: 'after' }]);
  },
  only,
);

eachDatabase(
  'the database files have no rights for group and others',
  async (_t, open, { folder }) => {
    const db = await open();
    await db.run(insert, 'c', 'k', 'v');
    const rights = ['', '-wal', '-shm'].map((end) => statSync(join(folder, `gatehouse.db${end}`)).mode & 0o777);
    assert.deepEqual(rights, [0o600, 0o600, 0o600]);
  },
  only,
);

eachDatabase(
  'a missing folder is made with no rights for group and others',
  async (t, _open, { folder }) => {
    const db = await openSqlite(join(folder, 'new', 'gatehouse.db'));
    t.after(() => db.close());
    assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700);
  },
  only,
);

eachDatabase(
  'WAL, synchronous FULL and foreign keys are on',
  async (_t, open) => {
    const db = await open();
    const pragmas = await db.tx(async (q) => [
      await q.get('pragma journal_mode'),
      await q.get('pragma synchronous'),
      await q.get('pragma foreign_keys'),
    ]);
    assert.deepEqual(pragmas, [{ journal_mode: 'wal' }, { synchronous: 2 }, { foreign_keys: 1 }]);
  },
  only,
);

test('a database in memory is refused: it could not be shared by two connections', async () => {
  await assert.rejects(openSqlite(':memory:'), { code: 'config' });
});

eachDatabase(
  'a statement is planned once, whatever values it is given',
  async (t, open) => {
    const db = await open();
    // The driver makes the function that makes its rows anew each time SQLite has planned the statement anew.
    const original = globalThis.Function;
    let planned = 0;
    globalThis.Function = new Proxy(original, {
      apply(target, self, args: string[]) {
        if (args[0]?.startsWith('return (v0')) planned += 1;
        return Reflect.apply(target, self, args);
      },
    });
    t.after(() => {
      globalThis.Function = original;
    });
    const statement = 'select value from channel_state where channel = ? and key in (?) and value=? limit ?';
    for (let count = 0; count < 10; count++) await db.all(statement, `c${count}`, `k${count}`, `v${count}`, count + 1);
    assert.equal(planned, 0, 'no row, no function');
    await db.run(insert, 'c', 'k', 'v');
    for (let count = 0; count < 10; count++)
      assert.deepEqual(await db.all(statement, 'c', 'k', 'v', count + 1), [{ value: 'v' }]);
    assert.equal(planned, 1);
  },
  only,
);
