/** How people get in: the claim of the first admin, pairing codes, admission of groups (rules 13, 14, 16). */
import { sameSecret, sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';
import { isCode, newCode, newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import {
  addPairing,
  anyAdmin,
  countClaimTry,
  dropClaim,
  ensureAccount,
  findPairing,
  findPairingByCode,
  type KnownSender,
  type Pairing,
  putClaim,
  readClaim,
  setAdmin,
  setPaired,
} from '../store/accounts.ts';
import { addAudit } from '../store/audit.ts';
import { ensureChat, setAdmitted } from '../store/chats.ts';
import type { Query, Transaction } from '../store/db.ts';
import { dropOwnerLinks } from '../store/sessions.ts';
import type { Sender } from '../types/message.ts';
import type { AdmissionFacts } from '../types/settings.ts';

/** 26 characters of 5 bits: 128 bits and a little. Grouped for reading aloud. */
const claimCodeChars = 26;

/** Null while an admin exists. The caller shows the code once; only its hash is stored. */
export async function mintClaim(q: Query, configuredAdmins: number, now: number): Promise<string | null> {
  if (!(await hasNoAdmin(q, configuredAdmins))) {
    await dropClaim(q);
    return null;
  }
  const code = newCode(claimCodeChars);
  await putClaim(q, sha256(code), now + limits.claimMs);
  return code;
}

/** Whether a first admin is still to be made. */
export async function hasNoAdmin(q: Query, configuredAdmins: number): Promise<boolean> {
  return configuredAdmins === 0 && !(await anyAdmin(q));
}

/** Whether it can be a claim code at all, as people may type it. */
export function isClaimCode(text: string): boolean {
  return isCode(plainCode(text), claimCodeChars);
}

const plainCode = (text: string) => text.replaceAll('-', '').toUpperCase();

export type ClaimOutcome = 'claimed' | 'wrong' | 'gone';

/** A wrong code costs one of five tries in all; after them the claim is gone until the next start. */
export async function redeemClaim(
  q: Transaction,
  code: string,
  channel: string,
  sender: KnownSender,
  now: number,
): Promise<ClaimOutcome> {
  const claim = await readClaim(q);
  if (!claim || claim.expiresAt <= now || claim.tries >= limits.claimTriesMax || (await anyAdmin(q))) return 'gone';
  if (!sameSecret(sha256(plainCode(code)), claim.codeHash)) {
    await countClaimTry(q);
    return 'wrong';
  }
  await ensureAccount(q, channel, sender, newId(now), now);
  await makeAdmin(q, channel, sender.id, `${channel}:${sender.id}`, 'claim', now);
  return 'claimed';
}

export async function makeAdmin(
  q: Query,
  channel: string,
  userId: string,
  actor: string,
  how: string,
  now: number,
): Promise<void> {
  await setAdmin(q, channel, userId, true);
  // Neither the printed code nor the printed link makes a second first admin.
  await dropClaim(q);
  await dropOwnerLinks(q);
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: `admin.${how}`,
    subject: `${channel}:${userId}`,
    after: { admin: true },
  });
}

/**
 * A code for an unknown sender: null while they have one (they were told), so that a stranger hears one line an hour.
 */
export async function requestPairing(
  q: Query,
  channel: string,
  sender: Pick<Sender, 'id' | 'name'>,
  chat: string,
  now: number,
): Promise<string | null> {
  if (await findPairing(q, channel, sender.id, now)) return null;
  const code = newCode(limits.pairingCodeChars);
  await addPairing(
    q,
    { channel, userId: sender.id, name: sender.name, chat, createdAt: now, expiresAt: now + limits.pairingMs },
    sha256(code),
    limits.pairingsPendingMax,
  );
  return code;
}

/** Who admits, and whether the admin role goes with it (rule 16). */
export interface Admitter {
  actor: string;
  asAdmin: boolean;
}

export interface Admitted {
  channel: string;
  userId: string;
  name: string;
  /** Where they asked and wait for word; null when they had not asked. */
  chat: string | null;
}

/** Admits whoever holds the code; null when no open request has it. */
export async function admitByCode(q: Query, code: string, by: Admitter, now: number): Promise<Admitted | null> {
  const pairing = await findPairingByCode(q, sha256(code.toUpperCase()), now);
  return pairing && admitAccount(q, pairing.channel, pairing.userId, pairing, by, now);
}

/** What an id can be the id of on a channel; null for a name, which can change hands, and for what nobody there has. */
export function kindOfId(
  id: string,
  { accountIds, groupIds, groupsNeedAdmission }: AdmissionFacts,
): 'account' | 'group' | null {
  if (!/^[^@#\s]\S*$/.test(id)) return null;
  if (!accountIds || new RegExp(accountIds.pattern).test(id)) return 'account';
  return groupsNeedAdmission && (!groupIds || new RegExp(groupIds.pattern).test(id)) ? 'group' : null;
}

/**
 * Admits `<channel>:<id>`: an account, which is returned, or where groups must be admitted one of those (null).
 * @throws GatehouseError `invalid` when nobody there can have that id, or a group should become an admin.
 */
export async function admit(
  q: Query,
  target: { channel: string; id: string },
  facts: AdmissionFacts,
  by: Admitter,
  now: number,
): Promise<Admitted | null> {
  const { channel, id } = target;
  const kind = kindOfId(id, facts);
  if (kind === null) {
    const { hint } = facts.accountIds ?? {};
    throw new GatehouseError('invalid', `"${id}" is not a user id${hint === undefined ? '' : ` (${hint})`}`, {
      hint: 'names can change hands, so write the id; the bot tells people theirs with /whoami',
    });
  }
  if (kind === 'group') {
    if (by.asAdmin)
      throw new GatehouseError('invalid', `${channel}:${id} is a group, and only a person can be an admin`, {
        hint: 'name an account; the bot tells people theirs with /whoami',
      });
    await admitChat(q, channel, id, by.actor, now);
    return null;
  }
  return admitAccount(q, channel, id, await findPairing(q, channel, id, now), by, now);
}

/** Whether it has written or not; without an open request an account that is known keeps its name. */
async function admitAccount(
  q: Query,
  channel: string,
  userId: string,
  pairing: Pairing | null,
  by: Admitter,
  now: number,
): Promise<Admitted> {
  const asked = { id: userId, name: pairing?.name ?? '', directChat: pairing?.chat };
  const account = await ensureAccount(q, channel, asked, newId(now), now);
  await setPaired(q, channel, userId, by.actor, now);
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor: by.actor,
    action: 'pair',
    subject: `${channel}:${userId}`,
    before: { paired: account.pairedAt !== null },
    after: { paired: true },
  });
  if (by.asAdmin) await makeAdmin(q, channel, userId, by.actor, 'pair', now);
  return { channel, userId, name: account.name, chat: pairing?.chat ?? null };
}

export async function admitChat(q: Query, channel: string, chat: string, actor: string, now: number): Promise<void> {
  await ensureChat(q, channel, chat, now);
  await setAdmitted(q, channel, chat, actor);
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: 'pair.chat',
    subject: `${channel}:${chat}`,
    after: { admitted: true },
  });
}

/** A group is open because of who added the bot to it. */
export async function auditAdded(q: Query, channel: string, chat: string, adder: string, now: number): Promise<void> {
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor: `${channel}:${adder}`,
    action: 'pair.chat',
    subject: `${channel}:${chat}`,
    after: { admitted: true, added: true },
  });
}

/** The first visitor with the printed link: the account, its admin role, and the audit row (rule 93). */
export async function ensureOwner(
  q: Query,
  who: { channel: string; userId: string; name: string },
  now: number,
): Promise<void> {
  // On the page the chat of an account is named as the account.
  const sender = { id: who.userId, name: who.name, directChat: who.userId };
  await ensureAccount(q, who.channel, sender, newId(now), now);
  const account = `${who.channel}:${who.userId}`;
  await makeAdmin(q, who.channel, who.userId, account, 'owner', now);
}
