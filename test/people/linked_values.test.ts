import assert from 'node:assert/strict';
import type { Db } from '../../src/store/db.ts';
import { createValueStore } from '../../src/store/values.ts';
import type { ToolContext } from '../../src/types/tool.ts';
import { eachDatabase } from '../support/databases.ts';
import { createLinkWorld, type LinkWorld } from './link_world.ts';

async function storesOf(db: Db, world: LinkWorld) {
  for (const account of ['tg:ana', 'page:ann', 'tg:eve']) await world.from(account, 'hello');
  const storeOf = (owner: ToolContext['owner']) => createValueStore(db, world.clock, 'helper', owner);
  const own = async (account: string) => storeOf({ kind: 'person', id: await world.personOf(account) });
  const [ana, ann, eve] = [await own('tg:ana'), await own('page:ann'), await own('tg:eve')];
  return { ana, ann, eve, storeOf };
}

eachDatabase('R15: linked accounts see what each of them stored, and unlinking separates it', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const { ana, ann, eve } = await storesOf(db, world);
  await ana.set('city', 'Bonn');
  await ann.set('food', 'Kale');
  await eve.set('own', 'of eve');
  await world.link('tg:ana', 'page:ann');
  for (const store of [ana, ann]) assert.deepEqual(await store.list(), { city: 'Bonn', food: 'Kale' });
  assert.deepEqual([await ana.get('food'), await ann.get('city'), await ana.get('own')], ['Kale', 'Bonn', null]);
  assert.deepEqual(await eve.list(), { own: 'of eve' });
  await world.from('tg:ana', '/unlink');
  assert.deepEqual(await ana.list(), { city: 'Bonn' });
  assert.deepEqual(await ann.list(), { food: 'Kale' });
  assert.equal(await ann.get('city'), null);
});

eachDatabase('R15: of equal keys the newest is read, of one moment the own one', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const { ana, ann } = await storesOf(db, world);
  await world.link('tg:ana', 'page:ann');
  await ana.set('city', 'Bonn');
  await ann.set('city', 'Jena');
  assert.deepEqual([await ana.get('city'), await ann.get('city')], ['Bonn', 'Jena']);
  await world.clock.advance(1);
  await ann.set('city', 'Mainz');
  assert.deepEqual([await ana.get('city'), await ann.get('city')], ['Mainz', 'Mainz']);
  assert.deepEqual(await ana.list(), { city: 'Mainz' });
  await world.clock.advance(1);
  await ana.set('city', 'Ulm');
  assert.deepEqual([await ana.list(), await ann.list()], [{ city: 'Ulm' }, { city: 'Ulm' }]);
});

eachDatabase('R15: writing and deleting move nothing of another account', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const { ana, ann } = await storesOf(db, world);
  await ann.set('food', 'Kale');
  await world.link('tg:ana', 'page:ann');
  await assert.rejects(ana.delete('food'), {
    code: 'refused',
    message:
      'This value was stored from another linked account of this person, and only from that account it can be deleted.',
  });
  assert.equal(await ana.delete('nothing'), false);
  await ana.set('food', 'Leek');
  assert.equal(await ana.delete('food'), true);
  assert.equal(await ann.get('food'), 'Kale');
  assert.equal(await ann.delete('food'), true);
  assert.equal(await ana.get('food'), null);
});

eachDatabase('P2: in a group nothing of a person is read, however many accounts are linked', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const { ana, ann, storeOf } = await storesOf(db, world);
  await ana.set('secret', 'of ana');
  await ann.set('secret', 'of ann');
  await world.link('tg:ana', 'page:ann');
  const chats = ['tg:-1', await world.personOf('tg:ana'), 'tg:ana'];
  for (const id of chats) {
    const room = storeOf({ kind: 'chat', id });
    assert.deepEqual([await room.list(), await room.get('secret')], [{}, null], id);
    assert.equal(await room.delete('secret'), false);
  }
});
