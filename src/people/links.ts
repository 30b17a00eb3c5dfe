/** Several accounts of one human (rule 15). Linking moves no data: each account keeps its person, and reads see the union. */
import { type AccountKey, accountName } from '../base/account.ts';
import { sha256 } from '../base/digest.ts';
import { newCode, newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type Account, accountsOf, ensureAccount, findAccount, type KnownSender } from '../store/accounts.ts';
import { addAudit, auditSince } from '../store/audit.ts';
import type { Query, Transaction } from '../store/db.ts';
import {
  addLinkCode,
  dropLinksOf,
  findLinkCode,
  findPendingLink,
  setConfirmed,
  setOtherSide,
} from '../store/link_codes.ts';
import { groupOf, joinGroup, leaveGroup, linkedWith, mergeGroups, sharedGroupSince } from '../store/links.ts';

/** The person itself first, then those linked with it now. */
export async function peopleOf(q: Query, personId: string): Promise<string[]> {
  return [personId, ...(await linkedWith(q, personId))];
}

/** For dual sign: the same person, linked now, or no longer linked for less than 72 hours. */
export async function countAsOne(q: Query, left: string, right: string, now: number): Promise<boolean> {
  if (left === right) return true;
  const since = now - limits.linkAsOneMs;
  if (await sharedGroupSince(q, left, right, since)) return true;
  // Who has joined another group meanwhile has no row of the old one any more.
  const unlinked = await auditSince(q, { action: 'unlink', since });
  return unlinked.some(({ before }) => {
    const people = (before as { people?: string[] } | undefined)?.people ?? [];
    return people.includes(left) && people.includes(right);
  });
}

/** Everything that changes links waits for each other, so that a group is never seen half merged. */
const oneAtATime = (q: Transaction) => q.lock('links');

const isSame = (left: AccountKey, right: AccountKey) => left.channel === right.channel && left.userId === right.userId;

/** Retires what the account was asked or had asked before; returns who was waiting for it. */
async function retire(q: Query, of: AccountKey, now: number): Promise<AccountKey[]> {
  const dropped = await dropLinksOf(q, of, now);
  return dropped.flatMap(({ sides }) => sides.filter((side) => !isSame(side, of)));
}

/** A code for one use within 15 minutes, stored as a hash; asking again retires the one before. */
export async function requestLink(
  q: Transaction,
  of: AccountKey,
  now: number,
): Promise<{ code: string; retired: AccountKey[] }> {
  await oneAtATime(q);
  const retired = await retire(q, of, now);
  const code = newCode(limits.linkCodeChars);
  await addLinkCode(q, sha256(code), of, now + limits.linkMs);
  return { code, retired };
}

export type RedeemedLink =
  /** `tries`: five wrong codes within an hour; no code is looked at. `same`: this account, or linked already. */
  | { outcome: 'wrong' | 'tries' | 'same' | 'full' }
  /** Both must confirm now. Of each side all accounts that are linked already, the one that asks or sent first. */
  | { outcome: 'asked'; sender: Account[]; other: Account[]; retired: AccountKey[] };

/** The code as the other account sent it; a sender without an account gets one when it is right. */
export async function redeemLink(
  q: Transaction,
  code: string,
  channel: string,
  sender: KnownSender,
  now: number,
): Promise<RedeemedLink> {
  await oneAtATime(q);
  const own: AccountKey = { channel, userId: sender.id };
  const actor = accountName(own);
  const action = 'link.wrong_code';
  const wrong = await auditSince(q, { action, actor, since: now - limits.linkTriesMs + 1 });
  if (wrong.length >= limits.linkTriesMax) return { outcome: 'tries' };
  const codeHash = sha256(code.toUpperCase());
  const asker = await findLinkCode(q, codeHash, now);
  if (!asker) {
    await addAudit(q, { id: newId(now), at: now, actor, action, subject: actor });
    return { outcome: 'wrong' };
  }
  if (isSame(asker, own)) return { outcome: 'same' };
  const sending = await ensureAccount(q, channel, sender, newId(now), now);
  const asking = (await findAccount(q, asker.channel, asker.userId)) as Account;
  const sides = [await peopleOf(q, sending.personId), await peopleOf(q, asking.personId)] as const;
  if (sides[0].includes(asking.personId)) return { outcome: 'same' };
  if (sides[0].length + sides[1].length > limits.linkedAccountsMax) return { outcome: 'full' };
  const retired = await retire(q, own, now);
  await setOtherSide(q, codeHash, own, now + limits.linkMs);
  return { outcome: 'asked', sender: await accountsOf(q, sides[0]), other: await accountsOf(q, sides[1]), retired };
}

export type ConfirmedLink =
  | { outcome: 'nothing' }
  /** The other side has not confirmed yet. */
  | { outcome: 'waits'; other: AccountKey }
  /** All accounts that are one person now; `retired` were asked something that is not true any more. */
  | { outcome: 'linked'; accounts: Account[]; retired: AccountKey[] };

/** Links when both sides have said so. */
export async function confirmLink(q: Transaction, own: AccountKey, now: number): Promise<ConfirmedLink> {
  await oneAtATime(q);
  const pending = await findPendingLink(q, own, now);
  if (!pending) return { outcome: 'nothing' };
  const side = isSame(pending.sides[0], own) ? 0 : 1;
  await setConfirmed(q, pending.codeHash, side);
  const other = pending.sides[side === 0 ? 1 : 0];
  if (!pending.confirmed[side === 0 ? 1 : 0]) return { outcome: 'waits', other };

  const ownPeople = await peopleOf(q, ((await findAccount(q, own.channel, own.userId)) as Account).personId);
  const otherPeople = await peopleOf(q, ((await findAccount(q, other.channel, other.userId)) as Account).personId);
  const before = [await accountsOf(q, ownPeople), await accountsOf(q, otherPeople)] as const;
  await joinSides(q, ownPeople[0] as string, otherPeople[0] as string, now);
  const accounts = [...before[0], ...before[1]];
  const after = { linked: accounts.map(accountName), people: accounts.map(({ personId }) => personId) };
  for (const [actor, subject, mine] of [
    [own, other, before[0]],
    [other, own, before[1]],
  ] as const)
    await addAudit(q, {
      id: newId(now),
      at: now,
      actor: accountName(actor),
      action: 'link',
      subject: accountName(subject),
      before: { linked: mine.map(accountName) },
      after,
    });
  // Whoever was shown one of them as it was before would confirm more than they saw.
  const retired: AccountKey[] = [];
  for (const account of accounts) retired.push(...(await retireQuestions(q, account, now)));
  return { outcome: 'linked', accounts, retired: retired.filter((one) => !accounts.some((of) => isSame(of, one))) };
}

/** A code nobody has sent yet stays good: it will show the accounts as they are then. */
async function retireQuestions(q: Query, of: AccountKey, now: number): Promise<AccountKey[]> {
  return (await findPendingLink(q, of, now)) ? retire(q, of, now) : [];
}

async function joinSides(q: Query, own: string, other: string, now: number): Promise<void> {
  const [ownGroup, otherGroup] = [await groupOf(q, own), await groupOf(q, other)];
  const group = ownGroup ?? otherGroup ?? newId(now);
  if (ownGroup === null) await joinGroup(q, own, group, now);
  if (otherGroup === null) await joinGroup(q, other, group, now);
  else await mergeGroups(q, otherGroup, group);
}

/** Returns who was waiting for this account. */
export async function cancelLink(q: Transaction, own: AccountKey, now: number): Promise<AccountKey[]> {
  await oneAtATime(q);
  return retire(q, own, now);
}

/** Separates the own account again; returns those it was linked with, or null when there were none. */
export async function unlink(q: Transaction, own: Account, now: number): Promise<Account[] | null> {
  await oneAtATime(q);
  const accounts = await accountsOf(q, await peopleOf(q, own.personId));
  if (accounts.length < 2) return null;
  await leaveGroup(q, own.personId, now);
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor: accountName(own),
    action: 'unlink',
    subject: accountName(own),
    before: { linked: accounts.map(accountName), people: accounts.map(({ personId }) => personId) },
    after: { linked: [accountName(own)] },
  });
  return accounts.filter((account) => !isSame(account, own));
}
