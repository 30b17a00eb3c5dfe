import assert from 'node:assert/strict';
import { createToken, redeemToken, revokeToken } from '../../src/people/tokens.ts';
import { ensureAccount } from '../../src/store/accounts.ts';
import type { Db } from '../../src/store/db.ts';
import { listTokens } from '../../src/store/tokens.ts';
import { eachDatabase } from '../support/databases.ts';

const order = { channel: 'tg', userId: 'ana', label: 'backup', lifeMs: null };

async function withAna(db: Db): Promise<void> {
  await db.tx((q) => ensureAccount(q, 'tg', { id: 'ana', name: 'Ana' }, 'p1', 1));
}

eachDatabase('R97: a token speaks for its account until it is revoked', async (_t, open) => {
  const db = await open();
  await withAna(db);
  const made = await db.tx((q) => createToken(q, order, 'cli', 1_000));
  assert.match(made.token, /^ght_[A-Za-z0-9_-]{43}$/);
  const bearer = { tokenId: made.id, channel: 'tg', userId: 'ana', name: 'Ana' };
  assert.deepEqual(await redeemToken(db, `Bearer ${made.token}`, 2_000), bearer);
  assert.deepEqual(await redeemToken(db, `bearer  ${made.token}`, 2_000), bearer);
  for (const header of [
    made.token,
    `Basic ${made.token}`,
    `Bearer ${made.token}x`,
    `Bearer ${made.token.slice(0, -1)}${made.token.endsWith('A') ? 'B' : 'A'}`,
    'Bearer ght_',
    'Bearer',
    '',
  ])
    assert.equal(await redeemToken(db, header, 2_000), null, header);
  assert.equal((await db.tx((q) => revokeToken(q, made.id, 'cli', 3_000)))?.userId, 'ana');
  assert.equal(await redeemToken(db, `Bearer ${made.token}`, 3_000), null);
  assert.equal(await db.tx((q) => revokeToken(q, made.id, 'cli', 3_000)), null);
});

eachDatabase('R91, R97: only the hash is stored, and making and revoking are audited without it', async (_t, open) => {
  const db = await open();
  await withAna(db);
  const made = await db.tx((q) => createToken(q, { ...order, lifeMs: 500 }, 'cli', 1_000));
  await db.tx((q) => revokeToken(q, made.id, 'cli', 1_100));
  const again = await db.tx((q) => createToken(q, order, 'cli', 1_200));
  const audit = await db.all<{ action: string; subject: string }>('select * from audit order by id');
  assert.deepEqual(
    audit.map(({ action, subject }) => [action, subject]),
    [
      ['token.create', 'tg:ana'],
      ['token.revoke', 'tg:ana'],
      ['token.create', 'tg:ana'],
    ],
  );
  const stored = JSON.stringify([audit, await db.all('select * from tokens')]);
  for (const { token } of [made, again]) assert.equal(stored.includes(token.slice(4)), false);
});

eachDatabase('R97: a token expires, and its use is noted once a minute', async (_t, open) => {
  const db = await open();
  await withAna(db);
  const made = await db.tx((q) => createToken(q, { ...order, lifeMs: 100_000 }, 'cli', 1_000));
  const header = `Bearer ${made.token}`;
  const usedAt = async () => (await listTokens(db))[0]?.lastUsedAt;
  assert.equal(await usedAt(), null);
  await redeemToken(db, header, 2_000);
  await redeemToken(db, header, 61_999);
  assert.equal(await usedAt(), 2_000);
  await redeemToken(db, header, 62_000);
  assert.equal(await usedAt(), 62_000);
  assert.notEqual(await redeemToken(db, header, 100_999), null);
  assert.equal(await redeemToken(db, header, 101_000), null);
});

eachDatabase('R97: an account that never wrote gets no token', async (_t, open) => {
  const db = await open();
  await assert.rejects(
    db.tx((q) => createToken(q, order, 'cli', 1_000)),
    { code: 'not_found', message: 'there is no account tg:ana yet' },
  );
  assert.deepEqual(await listTokens(db), []);
});
