/** Tokens with which a person's programs speak for that person (rules 93 and 97). */
import { sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';
import { newId, newToken } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { cleanName } from '../base/safe_text.ts';
import { findAccount } from '../store/accounts.ts';
import { addAudit } from '../store/audit.ts';
import type { Query, Transaction } from '../store/db.ts';
import { addToken, findToken, type PersonToken, removeToken, setTokenUsed } from '../store/tokens.ts';

const tokenBytes = 32;
const bearerPattern = /^Bearer +(ght_[A-Za-z0-9_-]{43})$/i;
const labelCharsMax = 80;

export interface TokenOrder {
  channel: string;
  userId: string;
  label: string;
  /** How long it is good; null = until it is revoked. */
  lifeMs: number | null;
}

/**
 * Makes a token for an account the gateway knows. The token itself is returned once and stored nowhere.
 * @throws GatehouseError `not_found` for an account that has never written.
 */
export async function createToken(
  q: Transaction,
  order: TokenOrder,
  actor: string,
  now: number,
): Promise<PersonToken & { token: string }> {
  const { channel, userId } = order;
  if (!(await findAccount(q, channel, userId)))
    throw new GatehouseError('not_found', `there is no account ${channel}:${userId} yet`, {
      hint: 'it is known once it has written to the bot, which tells it its id with /whoami',
    });
  const token = `ght_${newToken(tokenBytes)}`;
  const made: Omit<PersonToken, 'lastUsedAt'> = {
    id: newId(now),
    channel,
    userId,
    label: cleanName(order.label, labelCharsMax),
    createdAt: now,
    expiresAt: order.lifeMs === null ? null : now + order.lifeMs,
  };
  await addToken(q, made, sha256(token));
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: 'token.create',
    subject: `${channel}:${userId}`,
    after: { token: made.id, label: made.label, expiresAt: made.expiresAt },
  });
  return { ...made, lastUsedAt: null, token };
}

/** Null when there is none with that id. */
export async function revokeToken(q: Transaction, id: string, actor: string, now: number): Promise<PersonToken | null> {
  const removed = await removeToken(q, id);
  if (!removed) return null;
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: 'token.revoke',
    subject: `${removed.channel}:${removed.userId}`,
    before: { token: removed.id, label: removed.label, expiresAt: removed.expiresAt },
  });
  return removed;
}

/** Whom a token speaks for. */
export interface TokenBearer {
  tokenId: string;
  channel: string;
  userId: string;
  name: string;
}

/**
 * Reads an `Authorization` header; null when it holds no token that is good now. The token is found by its hash, so
 * that no comparison tells by its time how much of it was right. When it was last used is written once a minute.
 */
export async function redeemToken(q: Query, header: string, now: number): Promise<TokenBearer | null> {
  const token = bearerPattern.exec(header)?.[1];
  if (token === undefined) return null;
  const found = await findToken(q, sha256(token), now);
  const account = found && (await findAccount(q, found.channel, found.userId));
  if (!found || !account) return null;
  if (found.lastUsedAt === null || now - found.lastUsedAt >= limits.tokenUsedMs) await setTokenUsed(q, found.id, now);
  return { tokenId: found.id, channel: found.channel, userId: found.userId, name: account.name };
}
