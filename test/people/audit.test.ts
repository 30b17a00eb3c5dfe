/** Rule 91: every change of access is in the audit, and stands only together with its row. */
import assert from 'node:assert/strict';
import { ensureOwner, mintClaim } from '../../src/people/admission.ts';
import { confirmLink, peopleOf, unlink } from '../../src/people/links.ts';
import { createToken, revokeToken } from '../../src/people/tokens.ts';
import { findAccount } from '../../src/store/accounts.ts';
import { addAudit, listAudit } from '../../src/store/audit.ts';
import type { Db } from '../../src/store/db.ts';
import { eachDatabase } from '../support/databases.ts';
import { sender } from '../support/inbox_world.ts';
import { codeIn, createLinkWorld } from './link_world.ts';

/** From now on the audit takes no row. */
async function breakAudit(db: Db): Promise<void> {
  if (db.dialect === 'sqlite') {
    await db.run(
      "create trigger full_audit before insert on audit begin select raise(abort, 'the audit is full'); end",
    );
    return;
  }
  await db.run(
    "create function full_audit() returns trigger language plpgsql as $$ begin raise exception 'the audit is full'; end $$",
  );
  await db.run('create trigger full_audit before insert on audit for each row execute function full_audit()');
}

const elsewhere = { id: '-9', kind: 'group' as const, title: 'Elsewhere' };

async function access(db: Db): Promise<unknown> {
  return [
    await db.all('select channel, user_id, admin, paired_at from accounts order by channel, user_id'),
    await db.all('select channel, chat, admitted_by, added_by from chats order by channel, chat'),
    await db.all('select person_id, group_id, unlinked_at from links order by person_id'),
    await db.all('select id, channel, user_id from tokens order by id'),
    await db.all('select tries, code_hash from claims'),
  ];
}

eachDatabase('R91: a change of access that cannot be audited is not made', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db, { direct: 'pairing' }, ['tg:boss', 'tg:friend']);
  await world.from('page:ann', 'hello');
  await world.from('page:ben', 'hello');
  await world.from('tg:friend', 'hello');
  await world.link('page:ann', 'page:ben');
  const pairing = /`([A-Z2-9]{8})`/.exec((await world.from('tg:eve', 'hello'))[0] ?? '')?.[1] as string;
  await world.from('page:carl', `link ${codeIn(await world.from('page:ann', '/link'))}`);
  await world.from('page:carl', 'link confirm');
  const token = await db.tx((q) =>
    createToken(q, { channel: 'page', userId: 'ann', label: '', lifeMs: null }, 'cli', 1),
  );
  const claim = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await breakAudit(db);
  const before = await access(db);
  const now = world.clock.now();
  const ann = await findAccount(db, 'page', 'ann');
  assert.ok(ann);
  const changes: [string, () => Promise<unknown>][] = [
    ['pair by code', () => world.from('tg:boss', `/pair ${pairing}`)],
    ['pair by account', () => world.from('tg:boss', '/pair tg:eve')],
    ['an admin more', () => world.from('tg:boss', '/pair page:ben admin')],
    ['a group by its id', () => world.from('tg:boss', '/pair tg:-77')],
    ['a group from inside', () => world.from('tg:boss', '/pair here', { chat: elsewhere })],
    [
      'a group by who added the bot',
      () =>
        world
          .inbox('tg')
          .accept({ kind: 'membership', key: 'a', chat: elsewhere, change: 'added', by: sender('boss'), sentAt: now }),
    ],
    ['claim', () => world.from('tg:eve', `claim ${claim}`)],
    ['owner of the page', () => db.tx((q) => ensureOwner(q, { channel: 'page', userId: 'owner', name: 'O' }, now))],
    ['link', () => db.tx((q) => confirmLink(q, { channel: 'page', userId: 'ann' }, now))],
    ['unlink', () => db.tx((q) => unlink(q, ann, now))],
    [
      'a token made',
      () => db.tx((q) => createToken(q, { channel: 'page', userId: 'ann', label: '', lifeMs: null }, 'cli', now)),
    ],
    ['a token revoked', () => db.tx((q) => revokeToken(q, token.id, 'cli', now))],
  ];
  for (const [name, change] of changes) {
    await assert.rejects(change(), name);
    assert.deepEqual(await access(db), before, name);
  }
  assert.equal((await peopleOf(db, ann.personId)).length, 2, 'what was linked is');
});

eachDatabase('R91: each change of access has a row with who, whom, before and after', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db, { direct: 'pairing' });
  const claim = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.from('tg:boss', `claim ${claim}`);
  await world.from('tg:boss', '/pair tg:eve admin');
  await world.from('tg:boss', '/pair here', { chat: elsewhere });
  const added = { kind: 'membership', chat: { id: '-8', kind: 'group' }, change: 'added', sentAt: 1 } as const;
  await world.inbox('tg').accept({ ...added, key: 'by eve', by: sender('eve') });
  await world.inbox('tg').accept({ ...added, key: 'by a stranger', by: sender('stranger') });
  const rows = (await listAudit(db, 100)).map(({ actor, action, subject, before, after }) => ({
    actor,
    action,
    subject,
    before,
    after,
  }));
  const row = (actor: string, action: string, subject: string, after: object, before?: object) => ({
    actor,
    action,
    subject,
    before,
    after,
  });
  assert.deepEqual(rows, [
    row('tg:eve', 'pair.chat', 'tg:-8', { admitted: true, added: true }),
    row('tg:boss', 'pair.chat', 'tg:-9', { admitted: true }),
    row('tg:boss', 'admin.pair', 'tg:eve', { admin: true }),
    row('tg:boss', 'pair', 'tg:eve', { paired: true }, { paired: false }),
    row('tg:boss', 'admin.claim', 'tg:boss', { admin: true }),
  ]);
});

eachDatabase('R91: the audit is listed from its newest row', async (_t, open) => {
  const db = await open();
  for (const [index, id] of ['a1', 'a2', 'a3'].entries())
    await addAudit(db, { id, at: index, actor: 'cli', action: 'x', subject: id });
  assert.deepEqual(
    (await listAudit(db, 2)).map(({ id }) => id),
    ['a3', 'a2'],
  );
});
