import assert from 'node:assert/strict';
import * as sessions from '../../src/store/sessions.ts';
import { eachDatabase } from '../support/databases.ts';

const ada = { channel: 'web', userId: 'ada', name: 'Ada' };
const minute = 60_000;
const day = 24 * 60 * minute;

eachDatabase('R93: a link is redeemed once, by one of many at the same time', async (_t, open) => {
  const db = await open();
  const code = await sessions.mintLink(db, { ...ada, owner: true }, 0);
  const tries = Array.from({ length: 10 }, () => db.tx((q) => sessions.redeemLink(q, code, 1)));
  const redeemed = (await Promise.all(tries)).filter((link) => link !== null);
  assert.deepEqual(redeemed, [{ channel: 'web', userId: 'ada', name: 'Ada', owner: true }]);
});

eachDatabase('R93: a link ends after 15 minutes, a session after 30 days', async (_t, open) => {
  const db = await open();
  const code = await sessions.mintLink(db, { ...ada, owner: false }, 0);
  assert.equal(await sessions.redeemLink(db, code, 15 * minute), null);
  assert.deepEqual(await sessions.redeemLink(db, code, 15 * minute - 1), { ...ada, owner: false });
  const token = await sessions.createSession(db, ada, 0);
  assert.deepEqual(await sessions.readSession(db, token, 30 * day - 1), ada);
  assert.equal(await sessions.readSession(db, token, 30 * day), null);
  assert.equal(await sessions.readSession(db, `${token}x`, 0), null);
});

eachDatabase('R93: ending one session leaves the others', async (_t, open) => {
  const db = await open();
  const first = await sessions.createSession(db, ada, 0);
  const second = await sessions.createSession(db, ada, 0);
  await sessions.endSession(db, first);
  assert.equal(await sessions.readSession(db, first, 1), null);
  assert.deepEqual(await sessions.readSession(db, second, 1), ada);
});

eachDatabase(
  'R16: when somebody else is the first admin the owner link is void, other links are not',
  async (_t, open) => {
    const db = await open();
    const owner = await sessions.mintLink(db, { ...ada, owner: true }, 0);
    const plain = await sessions.mintLink(db, { ...ada, owner: false }, 0);
    await sessions.dropOwnerLinks(db);
    assert.equal(await sessions.redeemLink(db, owner, 1), null);
    assert.deepEqual(await sessions.redeemLink(db, plain, 1), { ...ada, owner: false });
  },
);

eachDatabase('what has expired is removed, the rest stays', async (_t, open) => {
  const db = await open();
  await sessions.mintLink(db, { ...ada, owner: false }, 0);
  await sessions.mintLink(db, { ...ada, owner: false }, 10 * minute);
  await sessions.createSession(db, ada, 0);
  const later = await sessions.createSession(db, ada, day);
  await sessions.removeExpiredSignIns(db, 15 * minute);
  assert.equal((await db.all('select * from sign_in_links')).length, 1);
  await sessions.removeExpiredSignIns(db, 30 * day);
  assert.equal((await db.all('select * from sign_in_links')).length, 0);
  assert.equal((await db.all('select * from sessions')).length, 1);
  assert.deepEqual(await sessions.readSession(db, later, 30 * day), ada);
});
