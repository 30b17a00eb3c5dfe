import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { Db } from '../../src/store/db.ts';
import { createValueStore } from '../../src/store/values.ts';
import type { ToolContext } from '../../src/types/tool.ts';
import { eachDatabase } from '../support/databases.ts';

const ana: ToolContext['owner'] = { kind: 'person', id: 'ana' };

function storeOf(db: Db, owner: ToolContext['owner'] = ana, agent = 'helper') {
  return createValueStore(db, systemClock, agent, owner);
}

eachDatabase('R32: a value is kept, replaced, listed and deleted, across restarts', async (_t, open) => {
  const first = await open();
  assert.equal(await storeOf(first).get('city'), null);
  await storeOf(first).set('city', 'Köln');
  await storeOf(first).set('city', 'Bonn');
  await storeOf(first).set('__proto__', 'a key like any other');
  await first.close();
  const store = storeOf(await open());
  assert.equal(await store.get('city'), 'Bonn');
  assert.deepEqual(Object.entries(await store.list()), [
    ['__proto__', 'a key like any other'],
    ['city', 'Bonn'],
  ]);
  assert.equal(await store.delete('city'), true);
  assert.equal(await store.delete('city'), false);
  assert.equal(await store.get('city'), null);
});

eachDatabase('R32: no other agent, person or group reaches a value', async (_t, open) => {
  const db = await open();
  await storeOf(db).set('k', 'of ana');
  for (const other of [
    storeOf(db, ana, 'other agent'),
    storeOf(db, { kind: 'person', id: 'ben' }),
    storeOf(db, { kind: 'chat', id: 'ana' }),
  ]) {
    assert.equal(await other.get('k'), null);
    assert.deepEqual(await other.list(), {});
    assert.equal(await other.delete('k'), false);
  }
  assert.equal(await storeOf(db).get('k'), 'of ana');
});

eachDatabase('R26: a run without an owner has no store', async (_t, open) => {
  const store = storeOf(await open(), null);
  const refused = { code: 'refused', message: /There is no store in this conversation/ };
  await assert.rejects(store.get('k'), refused);
  await assert.rejects(store.set('k', 'v'), refused);
  await assert.rejects(store.delete('k'), refused);
  await assert.rejects(store.list(), refused);
});

eachDatabase('R32: a value holds 64 KiB of UTF-8 and not a byte more', async (_t, open) => {
  const store = storeOf(await open());
  await store.set('k', 'ä'.repeat(32 * 1024));
  await assert.rejects(store.set('k', `${'ä'.repeat(32 * 1024)}a`), {
    code: 'limit',
    message: 'The value has 65537 bytes and may have 65536: shorten it or split it over several keys.',
  });
  assert.equal((await store.get('k'))?.length, 32 * 1024);
});

eachDatabase('R32: a key has 1 to 256 characters', async (_t, open) => {
  const store = storeOf(await open());
  await store.set('🙂'.repeat(256), 'v');
  await assert.rejects(store.set('k'.repeat(257), 'v'), { code: 'limit', message: /257 characters and may have 256/ });
  await assert.rejects(store.set('', 'v'), { code: 'limit', message: /The key is empty/ });
  await assert.rejects(store.get(''), { code: 'limit' });
  await assert.rejects(store.delete('k'.repeat(257)), { code: 'limit' });
});

eachDatabase('R32: a store holds 1,000 keys, also when many are set at once', async (_t, open) => {
  const db = await open();
  const store = storeOf(db);
  await db.tx(async (q) => {
    for (let count = 0; count < 990; count++)
      await q.run(
        'insert into stored_values (agent, owner, key, value, updated_at) values (?, ?, ?, ?, ?)',
        'helper',
        'person:ana',
        `k${count}`,
        'v',
        1,
      );
  });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => store.set(`new${index}`, 'v')));
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 10);
  await assert.rejects(store.set('one more', 'v'), { code: 'limit', message: /holds 1000 keys at most\. Delete keys/ });
  await store.set('k0', 'replaced');
  await store.delete('k1');
  await store.set('one more', 'v');
});

eachDatabase('R32: a store holds 1 MiB, keys included', async (_t, open) => {
  const store = storeOf(await open());
  // 15 values of 65,536 bytes and one of 65,485 under keys of 3 bytes and 48 bytes together: 1,048,573 + 3.
  for (let count = 10; count < 25; count++) await store.set(`k${count}`, 'x'.repeat(65_536));
  await store.set('k25', 'x'.repeat(65_485));
  await assert.rejects(store.set('abc', 'x'), {
    code: 'limit',
    message: 'The store would hold 1048577 bytes of 1048576. Delete or shorten values first.',
  });
  await store.set('abc', '');
  await store.set('k10', 'shorter');
  await store.set('abc', 'x'.repeat(1_000));
});
