/** Links that are being made: a code that was given out, then two accounts that have yet to confirm. */
import type { AccountKey } from '../base/account.ts';
import type { Query } from './db.ts';

/** A code that was sent from the other account and is a question to both now. */
export interface PendingLink {
  codeHash: string;
  /** Who asked for the code, then who sent it. */
  sides: [AccountKey, AccountKey];
  confirmed: [boolean, boolean];
}

interface PendingRow {
  code_hash: string;
  channel: string;
  user_id: string;
  other_channel: string;
  other_user_id: string;
  confirmed: number;
  other_confirmed: number;
}

const pendingOf = (row: PendingRow): PendingLink => ({
  codeHash: row.code_hash,
  sides: [
    { channel: row.channel, userId: row.user_id },
    { channel: row.other_channel, userId: row.other_user_id },
  ],
  confirmed: [row.confirmed === 1, row.other_confirmed === 1],
});

const isSide = '((channel = ? and user_id = ?) or (other_channel = ? and other_user_id = ?))';
const sideParams = ({ channel, userId }: AccountKey) => [channel, userId, channel, userId];

export async function addLinkCode(q: Query, codeHash: string, of: AccountKey, expiresAt: number): Promise<void> {
  await q.run(
    'insert into link_codes (code_hash, channel, user_id, expires_at) values (?, ?, ?, ?)',
    codeHash,
    of.channel,
    of.userId,
    expiresAt,
  );
}

/** Whose code it is; null when it is unknown, used or expired. */
export async function findLinkCode(q: Query, codeHash: string, now: number): Promise<AccountKey | null> {
  const row = await q.get<{ channel: string; user_id: string }>(
    'select channel, user_id from link_codes where code_hash = ? and other_channel is null and expires_at > ?',
    codeHash,
    now,
  );
  return row ? { channel: row.channel, userId: row.user_id } : null;
}

/** The code is used up by it. */
export async function setOtherSide(q: Query, codeHash: string, other: AccountKey, expiresAt: number): Promise<void> {
  await q.run(
    'update link_codes set other_channel = ?, other_user_id = ?, expires_at = ? where code_hash = ? and other_channel is null',
    other.channel,
    other.userId,
    expiresAt,
    codeHash,
  );
}

/** What this account is asked to confirm now. */
export async function findPendingLink(q: Query, of: AccountKey, now: number): Promise<PendingLink | null> {
  const row = await q.get<PendingRow>(
    `select * from link_codes where ${isSide} and other_channel is not null and expires_at > ?`,
    ...sideParams(of),
    now,
  );
  return row ? pendingOf(row) : null;
}

export async function setConfirmed(q: Query, codeHash: string, side: 0 | 1): Promise<void> {
  await q.run(
    `update link_codes set ${side === 0 ? 'confirmed' : 'other_confirmed'} = 1 where code_hash = ?`,
    codeHash,
  );
}

/** Takes away every code and question this account has part in, and what has expired; returns the open questions. */
export async function dropLinksOf(q: Query, of: AccountKey, now: number): Promise<PendingLink[]> {
  await q.run('delete from link_codes where expires_at <= ?', now);
  const rows = await q.all<PendingRow>(`delete from link_codes where ${isSide} returning *`, ...sideParams(of));
  return rows.filter((row) => row.other_channel !== null).map(pendingOf);
}
