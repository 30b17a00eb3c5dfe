import assert from 'node:assert/strict';
import type { Bell, Db } from '../../src/store/db.ts';
import { eachDatabase } from '../support/databases.ts';

const insert = 'insert into counters (name, value) values (?, ?)';

async function createCounters(db: Db): Promise<void> {
  await db.run('create table counters (name text primary key, value bigint not null)');
}

async function namesIn(db: Db): Promise<string[]> {
  return (await db.all<{ name: string }>('select name from counters order by name')).map((row) => row.name);
}

/** Resolves with the bell's next ring. */
function nextRing(db: Db, bell: Bell): Promise<void> {
  return new Promise((resolve) => {
    const off = db.onRing(bell, () => {
      off();
      resolve();
    });
  });
}

eachDatabase('what a transaction resolved is there for others, and not a moment earlier', async (_t, open) => {
  const [db, other] = [await open(), await open()];
  await createCounters(db);
  const during = await db.tx(async (q) => {
    await q.run(insert, 'a', 1);
    return [...(await namesIn(db)), ...(await namesIn(other))];
  });
  assert.deepEqual(during, []);
  assert.deepEqual(await namesIn(other), ['a']);
});

eachDatabase('a closure that throws is rolled back alone', async (_t, open) => {
  const db = await open();
  await createCounters(db);
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((name) =>
      db.tx(async (q) => {
        await q.run(insert, name, 1);
        if (name === 'b') throw new Error('not b');
        return name;
      }),
    ),
  );
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ['a', 'not b', 'c'],
  );
  assert.deepEqual(await namesIn(db), ['a', 'c']);
});

eachDatabase('a query that fails fails its transaction, also when the closure catches it', async (_t, open) => {
  const db = await open();
  await createCounters(db);
  await db.run(insert, 'a', 1);
  const attempt = db.tx(async (q) => {
    await q.run(insert, 'b', 1);
    await q.run(insert, 'a', 2).catch(() => {});
    await q.run(insert, 'c', 1).catch(() => {});
    return 'went on';
  });
  await assert.rejects(attempt, /unique/i);
  assert.deepEqual(await namesIn(db), ['a']);
});

eachDatabase('a hundred increments at once lose nothing: forUpdate', async (_t, open) => {
  const db = await open();
  await createCounters(db);
  await db.run(insert, 'n', 0);
  await Promise.all(
    Array.from({ length: 100 }, () =>
      db.tx(async (q) => {
        const row = await q.get<{ value: number }>(`select value from counters where name = 'n'${q.forUpdate}`);
        await q.run(`update counters set value = ? where name = 'n'`, row!.value + 1);
      }),
    ),
  );
  assert.deepEqual(await db.get('select value from counters'), { value: 100 });
});

eachDatabase('a hundred increments at once lose nothing: lock', async (_t, open) => {
  const [db, other] = [await open(), await open()];
  await createCounters(db);
  await db.run(insert, 'n', 0);
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 ? db : other).tx(async (q) => {
        await q.lock('counters');
        const row = await q.get<{ value: number }>(`select value from counters where name = 'n'`);
        await q.run(`update counters set value = ? where name = 'n'`, row!.value + 1);
      }),
    ),
  );
  assert.deepEqual(await db.get('select value from counters'), { value: 100 });
});

eachDatabase(
  'a name that another transaction holds is not waited for by tryLock',
  async (_t, open) => {
    const [db, other] = [await open(), await open()];
    const attempt = (name: string) => other.tx((q) => q.tryLock(name));
    await db.tx(async (q) => {
      assert.equal(await q.tryLock('counters'), true);
      assert.equal(await attempt('counters'), false);
      assert.equal(await attempt('others'), true);
    });
    assert.equal(await attempt('counters'), true);
  },
  { only: 'postgres' },
);

eachDatabase('a bell rings after the commit, and not after a rollback', async (_t, open) => {
  const [db, other] = [await open(), await open()];
  await createCounters(db);
  let outboxRings = 0;
  db.onRing('outbox', () => outboxRings++);
  await assert.rejects(
    db.tx(async (q) => {
      q.ring('outbox');
      throw new Error('no');
    }),
  );
  const seenAtRing = new Promise((resolve) => void db.onRing('run', () => resolve(namesIn(other))));
  await db.tx(async (q) => {
    await q.run(insert, 'a', 1);
    q.ring('run');
  });
  assert.deepEqual(await seenAtRing, ['a']);
  assert.equal(outboxRings, 0);
});

eachDatabase('a bell rings once for one commit; a listener that threw or left hinders nobody', async (_t, open) => {
  const db = await open();
  const heard: string[] = [];
  db.onRing('run', () => {
    throw new Error('broken listener');
  });
  db.onRing('run', () => heard.push('run'));
  db.onRing('run', () => heard.push('left'))();
  const ended = nextRing(db, 'journal');
  await db.tx(async (q) => {
    q.ring('run');
    q.ring('run');
    q.ring('journal');
  });
  await ended;
  assert.deepEqual(heard, ['run']);
});

eachDatabase('queries of a transaction that is over are refused', async (_t, open) => {
  const db = await open();
  await createCounters(db);
  const q = await db.tx(async (own) => own);
  await assert.rejects(q.run(insert, 'late', 1), /This transaction is over/);
  assert.throws(() => q.ring('run'), /This transaction is over/);
  assert.deepEqual(await namesIn(db), []);
});

eachDatabase('a commit that fails rejects, leaves nothing and hinders nothing after it', async (_t, open) => {
  const db = await open();
  await createCounters(db);
  await db.run(
    'create table parts (id text primary key, counter text references counters(name) deferrable initially deferred)',
  );
  await assert.rejects(db.run('insert into parts (id, counter) values (?, ?)', 'p', 'nobody'), /foreign key/i);
  await db.run(insert, 'a', 1);
  assert.deepEqual(await namesIn(db), ['a']);
  assert.deepEqual(await db.all('select id from parts'), []);
});

eachDatabase('values come back as they went in, alike in both databases', async (_t, open) => {
  const db = await open();
  await db.run('create table things (n bigint, t text, r double precision)');
  await db.run('insert into things (n, t, r) values (?, ?, ?)', 1_764_480_000_000, 'ä?🙂', 0.25);
  assert.deepEqual(await db.get('select * from things'), { n: 1_764_480_000_000, t: 'ä?🙂', r: 0.25 });
  assert.deepEqual(
    await db.get(`select count(*) as count, sum(n) as sum, 'what?' as quoted, n > ? as more from things group by n`, 5),
    { count: 1, sum: 1_764_480_000_000, quoted: 'what?', more: 1 },
  );
  assert.equal(await db.get('select n from things where n is null'), undefined);
  assert.equal(await db.run('update things set t = ?', null), 1);
  assert.deepEqual(await db.get('update things set r = 1 returning t, r'), { t: null, r: 1 });
});

eachDatabase('a closed database refuses with store_unavailable', async (_t, open) => {
  const db = await open();
  await db.ping();
  await db.close();
  await assert.rejects(db.ping(), { code: 'store_unavailable' });
  await assert.rejects(db.run('delete from people'), { code: 'store_unavailable' });
});
