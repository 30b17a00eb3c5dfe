import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { openStore } from '../../src/store/open.ts';
import { numberPlaceholders } from '../../src/store/postgres_text.ts';
import { eachDatabase } from '../support/databases.ts';

const insert = 'insert into channel_state (channel, key, value) values (?, ?, ?)';
const only = { only: 'postgres' } as const;

test('placeholders are numbered outside quotes and comments', () => {
  assert.equal(
    numberPlaceholders(`select '?', 'it''s ?', "odd?" -- why?\n from t /* ? */ where a = ? and b = ?`),
    `select '?', 'it''s ?', "odd?" -- why?\n from t /* ? */ where a = $1 and b = $2`,
  );
});

eachDatabase(
  'a deadlock is run again: both transactions happen',
  async (_t, open) => {
    const db = await open();
    await db.run(insert, 'c', 'a', '');
    await db.run(insert, 'c', 'b', '');
    let attempts = 0;
    let meet = () => {};
    const bothHoldOne = new Promise<void>((resolve) => {
      let holders = 0;
      meet = () => ++holders >= 2 && resolve();
    });
    const append = (name: string, first: string, second: string) =>
      db.tx(async (q) => {
        attempts++;
        const sql = 'update channel_state set value = value || ? where key = ?';
        await q.run(sql, name, first);
        meet();
        await bothHoldOne;
        await q.run(sql, name, second);
      });
    await Promise.all([append('1', 'a', 'b'), append('2', 'b', 'a')]);
    assert.equal(attempts, 3);
    const values = await db.all<{ value: string }>('select value from channel_state order by key');
    assert.deepEqual(
      values.map(({ value }) => [...value].sort().join('')),
      ['12', '12'],
    );
  },
  only,
);

eachDatabase(
  'a bell is heard by every process that shares the database',
  async (_t, open) => {
    const [ringer, hearer] = [await open(), await open()];
    const heard = new Promise<void>((resolve) => void hearer.onRing('outbox', resolve));
    await ringer.tx(async (q) => q.ring('outbox'));
    await heard;
  },
  only,
);

eachDatabase(
  'when the connection for bells breaks it is opened again and every bell rings',
  async (_t, open) => {
    const db = await open();
    const heard = Promise.all(
      (['run', 'outbox'] as const).map((bell) => new Promise<void>((resolve) => void db.onRing(bell, resolve))),
    );
    const ended = await db.all(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query = 'listen gatehouse'`,
    );
    assert.equal(ended.length, 1);
    await heard;
    const again = new Promise<void>((resolve) => void db.onRing('stop', resolve));
    await db.tx(async (q) => q.ring('stop'));
    await again;
  },
  only,
);

eachDatabase(
  'a connection that breaks inside a transaction rejects it, and the next one works',
  async (_t, open) => {
    const [db, other] = [await open(), await open()];
    const broken = db.tx(async (q) => {
      await q.run(insert, 'c', 'lost', 'v');
      const backend = await q.get<{ pid: number }>('select pg_backend_pid() as pid');
      await other.get('select pg_terminate_backend(?::int)', backend!.pid);
      await q.run(insert, 'c', 'lost too', 'v');
    });
    await assert.rejects(broken, { code: 'store_unavailable' });
    await db.run(insert, 'c', 'kept', 'v');
    assert.deepEqual(await db.all('select key from channel_state'), [{ key: 'kept' }]);
  },
  only,
);

eachDatabase(
  'more transactions at once than clients: all happen',
  async (_t, open) => {
    const db = await open();
    await Promise.all(Array.from({ length: 60 }, (_, index) => db.run(insert, 'c', `k${index}`, 'v')));
    assert.deepEqual(await db.get('select count(*) as n from channel_state'), { n: 60 });
  },
  only,
);

eachDatabase(
  'NUL, which PostgreSQL cannot hold, is replaced',
  async (_t, open) => {
    const db = await open();
    await db.run(insert, 'c', 'k', 'a\u0000b');
    assert.deepEqual(await db.get('select value from channel_state'), { value: 'a\uFFFDb' });
  },
  only,
);

test('a server that is not there is store_unavailable, says what to do, and shows no password', async () => {
  const error = await openStore('postgres://someone:SesameOpen@127.0.0.1:1/db').then(
    () => assert.fail('opened'),
    (reason) => reason,
  );
  assert.equal(error.code, 'store_unavailable');
  assert.match(error.message, /127\.0\.0\.1:1\/db is not available/);
  assert.match(error.hint, /start the database server/);
  assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /SesameOpen/);
});

test('a url of another kind is a configuration error that does not repeat the url', async () => {
  const error = await openStore('mysql://someone:SesameOpen@host/db').then(
    () => assert.fail('opened'),
    (reason) => reason,
  );
  assert.equal(error.code, 'config');
  assert.doesNotMatch(inspect(error, { depth: 10 }), /SesameOpen/);
});
