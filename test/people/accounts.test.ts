import assert from 'node:assert/strict';
import { ensureOwner, mintClaim } from '../../src/people/admission.ts';
import { findAccount, listAdmins, setAdmin } from '../../src/store/accounts.ts';
import type { Query } from '../../src/store/db.ts';
import { eachDatabase } from '../support/databases.ts';
import { group } from '../support/inbox_world.ts';
import { createLinkWorld } from './link_world.ts';

const directChatOf = async (q: Query, channel: string, user: string) =>
  (await findAccount(q, channel, user))?.directChat ?? null;

eachDatabase('R40: the direct chat of an account is the last one it wrote in', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  assert.equal(await directChatOf(db, 'tg', 'ana'), null);
  await world.from('tg:ana', '@bot hello', { chat: group, mentionsBot: true });
  assert.equal((await findAccount(db, 'tg', 'ana'))?.directChat, null, 'a room is none');
  await world.from('tg:ana', 'hello');
  await world.from('page:ann', '/whoami');
  assert.deepEqual([await directChatOf(db, 'tg', 'ana'), await directChatOf(db, 'page', 'ann')], ['dm-ana', 'ann']);
  await world.from('tg:ana', '@bot hello', { chat: group, mentionsBot: true });
  assert.equal(await directChatOf(db, 'tg', 'ana'), 'dm-ana');
  await world.from('tg:ana', 'hello', { chat: { id: 'dm-new', kind: 'direct' } });
  assert.equal(await directChatOf(db, 'tg', 'ana'), 'dm-new');
});

eachDatabase('R40: nothing is written for an account that is as it was', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  await world.from('tg:ana', 'hello');
  const fail =
    db.dialect === 'sqlite'
      ? ["create trigger still before update on accounts begin select raise(abort, 'written'); end"]
      : [
          "create function still() returns trigger language plpgsql as $$ begin raise exception 'written'; end $$",
          'create trigger still before update on accounts for each row execute function still()',
        ];
  for (const sql of fail) await db.run(sql);
  await world.from('tg:ana', 'hello again');
  await world.from('tg:ana', '@bot hello', { chat: group, mentionsBot: true });
  assert.deepEqual(await world.states(), ['waiting', 'waiting', 'waiting']);
  await assert.rejects(world.from('tg:ana', 'hello', { chat: { id: 'dm-new', kind: 'direct' } }));
});

eachDatabase('R14, R16: who was admitted, claimed, or owns the page is reached where they asked', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db, { direct: 'pairing' });
  const claim = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.from('tg:boss', `claim ${claim}`);
  await world.from('tg:eve', 'hello');
  assert.equal(await findAccount(db, 'tg', 'eve'), null, 'a stranger leaves no account');
  await world.from('tg:boss', '/pair tg:eve');
  await db.tx((q) => ensureOwner(q, { channel: 'page', userId: 'owner', name: 'Owner' }, 1));
  const chats = [['tg', 'boss'] as const, ['tg', 'eve'] as const, ['page', 'owner'] as const];
  assert.deepEqual(await Promise.all(chats.map(([channel, user]) => directChatOf(db, channel, user))), [
    'dm-boss',
    'dm-eve',
    'owner',
  ]);
});

eachDatabase('R47: admins are those of the rows and those of the configuration, once each', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  for (const account of ['tg:ana', 'tg:ben', 'tg:eve', 'page:ann']) await world.from(account, 'hello');
  await db.tx((q) => setAdmin(q, 'tg', 'ana', true));
  const admins = await listAdmins(db, new Set(['tg:ana', 'page:ann', 'tg:never']));
  assert.deepEqual(
    admins.map(({ personId, ...admin }) => ({ ...admin, known: personId !== null })),
    [
      { channel: 'tg', userId: 'ana', name: 'ana', directChat: 'dm-ana', known: true },
      { channel: 'page', userId: 'ann', name: 'ann', directChat: 'ann', known: true },
      { channel: 'tg', userId: 'never', name: '', directChat: null, known: false },
    ],
  );
});
