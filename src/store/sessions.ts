/** Sign-in links and the sessions they turn into (rule 93). Codes and tokens are kept as hashes only. */
import { sha256 } from '../base/digest.ts';
import { newToken } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Query } from './db.ts';

/** Who a link or a session stands for: an account of one channel. */
export interface SignedIn {
  channel: string;
  userId: string;
  name: string;
}

/** `owner`: whoever redeems this link first becomes the owner of the installation. */
export interface SignInLink extends SignedIn {
  owner: boolean;
}

const tokenBytes = 32;

/** Makes a link for one use within 15 minutes; returns its code, which is stored nowhere. */
export async function mintLink(q: Query, link: SignInLink, now: number): Promise<string> {
  const code = newToken(tokenBytes);
  await q.run(
    'insert into sign_in_links (code_hash, channel, user_id, name, owner, expires_at) values (?, ?, ?, ?, ?, ?)',
    sha256(code),
    link.channel,
    link.userId,
    link.name,
    link.owner ? 1 : 0,
    now + limits.signInLinkMs,
  );
  return code;
}

/** Takes the link away and says whose it was; null when it is unknown, used or expired. Of two calls one wins. */
export async function redeemLink(q: Query, code: string, now: number): Promise<SignInLink | null> {
  const row = await q.get<{ channel: string; user_id: string; name: string; owner: number }>(
    'delete from sign_in_links where code_hash = ? and expires_at > ? returning channel, user_id, name, owner',
    sha256(code),
    now,
  );
  return row ? { channel: row.channel, userId: row.user_id, name: row.name, owner: row.owner === 1 } : null;
}

/** For the moment somebody else becomes the first admin: the printed link must not make a second owner. */
export async function dropOwnerLinks(q: Query): Promise<void> {
  await q.run('delete from sign_in_links where owner = 1');
}

/** Returns the token for the cookie (256 bits); it lasts 30 days. */
export async function createSession(q: Query, who: SignedIn, now: number): Promise<string> {
  const token = newToken(tokenBytes);
  await q.run(
    'insert into sessions (token_hash, channel, user_id, name, created_at, expires_at) values (?, ?, ?, ?, ?, ?)',
    sha256(token),
    who.channel,
    who.userId,
    who.name,
    now,
    now + limits.sessionMs,
  );
  return token;
}

export async function readSession(q: Query, token: string, now: number): Promise<SignedIn | null> {
  const row = await q.get<{ channel: string; user_id: string; name: string }>(
    'select channel, user_id, name from sessions where token_hash = ? and expires_at > ?',
    sha256(token),
    now,
  );
  return row ? { channel: row.channel, userId: row.user_id, name: row.name } : null;
}

export async function endSession(q: Query, token: string): Promise<void> {
  await q.run('delete from sessions where token_hash = ?', sha256(token));
}

export async function removeExpiredSignIns(q: Query, now: number): Promise<void> {
  await q.run('delete from sign_in_links where expires_at <= ?', now);
  await q.run('delete from sessions where expires_at <= ?', now);
}
