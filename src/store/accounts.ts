/** People, their accounts, pairing codes and the claim of the first admin. */
import { type AccountKey, accountName, splitAccount } from '../base/account.ts';
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
  /** Where this account writes to the bot alone, as last seen; null before it did. */
  directChat: string | null;
}

/** Who writes; `directChat` where the message stands in one. */
export type KnownSender = Pick<Sender, 'id' | 'name' | 'language'> & { directChat?: string | undefined };

interface AccountRow {
  channel: string;
  user_id: string;
  person_id: string;
  name: string;
  admin: number;
  paired_at: number | null;
  limited_notice_at: number;
  language: string | null;
  direct_chat: string | null;
}

const accountColumns =
  'a.channel, a.user_id, a.person_id, a.name, a.admin, a.paired_at, a.limited_notice_at, a.direct_chat, p.language';

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
    directChat: row.direct_chat,
  };
}

const accountSql = `select ${accountColumns} from accounts a join people p on p.id = a.person_id where a.channel = ? and a.user_id = ?`;

export async function findAccount(q: Query, channel: string, userId: string): Promise<Account | null> {
  const row = await q.get<AccountRow>(accountSql, channel, userId);
  return row ? accountOf(row) : null;
}

/** By `<channel>:<user id>`. */
export function findAccountNamed(q: Query, account: string): Promise<Account | null> {
  const { channel, userId } = splitAccount(account);
  return findAccount(q, channel, userId);
}

/** Of these people, those of the first one first. */
export async function accountsOf(q: Query, personIds: readonly string[]): Promise<Account[]> {
  if (personIds.length === 0) return [];
  const rows = await q.all<AccountRow>(
    `select ${accountColumns} from accounts a join people p on p.id = a.person_id
     where a.person_id in (${personIds.map(() => '?').join(', ')}) order by a.channel, a.user_id`,
    ...personIds,
  );
  const place = new Map(personIds.map((id, index) => [id, index]));
  return rows.map(accountOf).sort((left, right) => place.get(left.personId)! - place.get(right.personId)!);
}

export interface AdminAccount extends AccountKey {
  /** Empty for one that only the configuration knows so far; then `personId` and `directChat` are null. */
  name: string;
  personId: string | null;
  directChat: string | null;
}

/** Every account with the admin role: by a row, or by configuration (`<channel>:<user id>`). */
export async function listAdmins(q: Query, configAdmins: Iterable<string>): Promise<AdminAccount[]> {
  const rows = await q.all<AccountRow>(
    `select ${accountColumns} from accounts a join people p on p.id = a.person_id
     where a.admin = 1 order by a.channel, a.user_id`,
  );
  const found: AdminAccount[] = rows.map(accountOf).map(adminOf);
  const stored = new Set(found.map(accountName));
  for (const account of configAdmins) {
    if (stored.has(account)) continue;
    found.push(await readAdmin(q, account));
  }
  return found;
}

/** As an account that may decide; one that has never written has no person and no direct chat yet. */
export async function readAdmin(q: Query, account: string): Promise<AdminAccount> {
  const known = await findAccountNamed(q, account);
  return known ? adminOf(known) : { ...splitAccount(account), name: '', personId: null, directChat: null };
}

const adminOf = ({ channel, userId, name, personId, directChat }: Account): AdminAccount => ({
  channel,
  userId,
  name,
  personId,
  directChat,
});

/**
 * Makes the account and a person for it; an account that exists keeps its person and gets the new name and the chat in
 * which it now writes to the bot alone. `found` is the account as just read, which saves reading it again.
 */
export async function ensureAccount(
  q: Query,
  channel: string,
  sender: KnownSender,
  newPersonId: string,
  now: number,
  found?: Account | null,
): Promise<Account> {
  const known = found ?? (await findAccount(q, channel, sender.id));
  if (known) {
    const name = sender.name === '' ? known.name : sender.name;
    const directChat = sender.directChat ?? known.directChat;
    if (known.name !== name || known.directChat !== directChat) {
      await q.run(
        'update accounts set name = ?, direct_chat = ? where channel = ? and user_id = ?',
        name,
        directChat,
        channel,
        sender.id,
      );
      known.name = name;
      known.directChat = directChat;
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
    `insert into accounts (channel, user_id, person_id, name, direct_chat, created_at) values (?, ?, ?, ?, ?, ?)
     on conflict (channel, user_id) do nothing`,
    channel,
    sender.id,
    newPersonId,
    sender.name,
    sender.directChat ?? null,
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
