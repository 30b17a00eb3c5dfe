/** Tokens of people for the API (rule 97), kept as hashes only. */
import type { Query } from './db.ts';

export interface PersonToken {
  id: string;
  channel: string;
  userId: string;
  label: string;
  createdAt: number;
  /** null = never. */
  expiresAt: number | null;
  /** To the minute; null while it was not used. */
  lastUsedAt: number | null;
}

interface TokenRow {
  id: string;
  channel: string;
  user_id: string;
  label: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

const tokenColumns = 'id, channel, user_id, label, created_at, expires_at, last_used_at';

const tokenOf = (row: TokenRow): PersonToken => ({
  id: row.id,
  channel: row.channel,
  userId: row.user_id,
  label: row.label,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
});

export async function addToken(q: Query, token: Omit<PersonToken, 'lastUsedAt'>, tokenHash: string): Promise<void> {
  await q.run(
    'insert into tokens (id, token_hash, channel, user_id, label, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)',
    token.id,
    tokenHash,
    token.channel,
    token.userId,
    token.label,
    token.createdAt,
    token.expiresAt,
  );
}

/** Null when it is unknown, revoked or expired. */
export async function findToken(q: Query, tokenHash: string, now: number): Promise<PersonToken | null> {
  const row = await q.get<TokenRow>(
    `select ${tokenColumns} from tokens where token_hash = ? and (expires_at is null or expires_at > ?)`,
    tokenHash,
    now,
  );
  return row ? tokenOf(row) : null;
}

export async function setTokenUsed(q: Query, id: string, now: number): Promise<void> {
  await q.run('update tokens set last_used_at = ? where id = ?', now, id);
}

/** The oldest first, with those that have expired. */
export async function listTokens(q: Query): Promise<PersonToken[]> {
  return (await q.all<TokenRow>(`select ${tokenColumns} from tokens order by id`)).map(tokenOf);
}

/** What was removed; null when there is none with that id. */
export async function removeToken(q: Query, id: string): Promise<PersonToken | null> {
  const row = await q.get<TokenRow>(`delete from tokens where id = ? returning ${tokenColumns}`, id);
  return row ? tokenOf(row) : null;
}
