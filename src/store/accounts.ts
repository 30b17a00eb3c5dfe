/** People, their accounts, pairing codes and the claim of the first admin. */
import type { Sender } from '../types/message.ts';
import type { Query, Transaction } from './db.ts';

export interface Account {
  channel: string;
  userId: string;
  personId: string;
  name: string;
  admin: boolean;
  /** Admitted by an admin, or null. */
  pairedAt: number | null;
  limitedNoticeAt: number;
  language: string | null;
}

interface AccountRow {
  channel: string;
  user_id: string;
  person_id: string;
  name: string;
  admin: number;
  paired_at: number | null;
  limited_notice_at: number;
  language: string | null;
}

const accountColumns =
  'a.channel, a.user_id, a.person_id, a.name, a.admin, a.paired_at, a.limited_notice_at, p.language';

function accountOf(row: AccountRow): Account {
  return {
    channel: row.channel,
    userId: row.user_id,
    personId: row.person_id,
    name: row.name,
    admin: row.admin === 1,
    pairedAt: row.paired_at,
    limitedNoticeAt: row.limited_notice_at,
    language: row.language,
  };
}

export async function findAccount(q: Query, channel: string, userId: string): Promise<Account | null> {
  const row = await q.get<AccountRow>(
    `select ${accountColumns} from accounts a join people p on p.id = a.person_id where a.channel = ? and a.user_id = ?`,
    channel,
    userId,
  );
  return row ? accountOf(row) : null;
}

/**
 * Makes the account and a person for it; an account that exists keeps its person and gets the new name. `found` is the
 * account as just read, which saves reading it again.
 */
export async function ensureAccount(
  q: Query,
  channel: string,
  sender: Pick<Sender, 'id' | 'name' | 'language'>,
  newPersonId: string,
  now: number,
  found?: Account | null,
): Promise<Account> {
  const known = found ?? (await findAccount(q, channel, sender.id));
  if (known) {
    if (known.name !== sender.name && sender.name !== '') {
      await q.run('update accounts set name = ? where channel = ? and user_id = ?', sender.name, channel, sender.id);
      known.name = sender.name;
    }
    return known;
  }
  await q.run(
    'insert into people (id, name, language, created_at) values (?, ?, ?, ?)',
    newPersonId,
    sender.name,
    sender.language ?? null,
    now,
  );
  await q.run(
    `insert into accounts (channel, user_id, person_id, name, created_at) values (?, ?, ?, ?, ?)
     on conflict (channel, user_id) do nothing`,
    channel,
    sender.id,
    newPersonId,
    sender.name,
    now,
  );
  return (await findAccount(q, channel, sender.id)) as Account;
}

export async function setAdmin(q: Query, channel: string, userId: string, admin: boolean): Promise<void> {
  await q.run('update accounts set admin = ? where channel = ? and user_id = ?', admin ? 1 : 0, channel, userId);
  // An admin waits for nobody's word.
  if (admin) await q.run('delete from pairings where channel = ? and user_id = ?', channel, userId);
}

export async function setPaired(q: Query, channel: string, userId: string, by: string, now: number): Promise<void> {
  await q.run(
    'update accounts set paired_at = ?, paired_by = ? where channel = ? and user_id = ?',
    now,
    by,
    channel,
    userId,
  );
  await q.run('delete from pairings where channel = ? and user_id = ?', channel, userId);
}

export async function setLimitedNotice(q: Query, channel: string, userId: string, now: number): Promise<void> {
  await q.run('update accounts set limited_notice_at = ? where channel = ? and user_id = ?', now, channel, userId);
}

export async function anyAdmin(q: Query): Promise<boolean> {
  return (await q.get('select 1 as one from accounts where admin = 1 limit 1')) !== undefined;
}

export interface Pairing {
  channel: string;
  userId: string;
  name: string;
  chat: string;
  createdAt: number;
  expiresAt: number;
}

interface PairingRow {
  channel: string;
  user_id: string;
  name: string;
  chat: string;
  created_at: number;
  expires_at: number;
}

const pairingOf = (row: PairingRow): Pairing => ({
  channel: row.channel,
  userId: row.user_id,
  name: row.name,
  chat: row.chat,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export async function findPairing(q: Query, channel: string, userId: string, now: number): Promise<Pairing | null> {
  const row = await q.get<PairingRow>(
    'select * from pairings where channel = ? and user_id = ? and expires_at > ?',
    channel,
    userId,
    now,
  );
  return row ? pairingOf(row) : null;
}

export async function findPairingByCode(q: Query, codeHash: string, now: number): Promise<Pairing | null> {
  const row = await q.get<PairingRow>('select * from pairings where code_hash = ? and expires_at > ?', codeHash, now);
  return row ? pairingOf(row) : null;
}

/** Keeps the newest `pendingMax` of a channel, this one included (rule 14: the oldest gives way). */
export async function addPairing(q: Query, pairing: Pairing, codeHash: string, pendingMax: number): Promise<void> {
  await q.run(
    'delete from pairings where channel = ? and (expires_at <= ? or user_id = ?)',
    pairing.channel,
    pairing.createdAt,
    pairing.userId,
  );
  await q.run(
    `delete from pairings where channel = ? and user_id not in
       (select user_id from pairings where channel = ? order by created_at desc, user_id limit ?)`,
    pairing.channel,
    pairing.channel,
    pendingMax - 1,
  );
  await q.run(
    'insert into pairings (channel, user_id, name, chat, code_hash, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)',
    pairing.channel,
    pairing.userId,
    pairing.name,
    pairing.chat,
    codeHash,
    pairing.createdAt,
    pairing.expiresAt,
  );
}

export async function listPairings(q: Query, now: number): Promise<Pairing[]> {
  const rows = await q.all<PairingRow>('select * from pairings where expires_at > ? order by created_at', now);
  return rows.map(pairingOf);
}

export interface Claim {
  codeHash: string;
  tries: number;
  expiresAt: number;
}

/** There is one claim at a time; a new one replaces it. */
export async function putClaim(q: Query, codeHash: string, expiresAt: number): Promise<void> {
  await q.run(
    `insert into claims (id, code_hash, tries, expires_at) values (1, ?, 0, ?)
     on conflict (id) do update set code_hash = excluded.code_hash, tries = 0, expires_at = excluded.expires_at`,
    codeHash,
    expiresAt,
  );
}

export async function readClaim(q: Transaction): Promise<Claim | null> {
  const row = await q.get<{ code_hash: string; tries: number; expires_at: number }>(
    `select code_hash, tries, expires_at from claims where id = 1${q.forUpdate}`,
  );
  return row ? { codeHash: row.code_hash, tries: row.tries, expiresAt: row.expires_at } : null;
}

export async function countClaimTry(q: Query): Promise<void> {
  await q.run('update claims set tries = tries + 1 where id = 1');
}

export async function dropClaim(q: Query): Promise<void> {
  await q.run('delete from claims where id = 1');
}
