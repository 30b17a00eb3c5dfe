/** Decides one question: entitled, once, in one transaction with everything that follows (A2, rules 44 to 48, 57). */
import { cleanName } from '../base/safe_text.ts';
import { countAsOne } from '../people/links.ts';
import { findAccountNamed } from '../store/accounts.ts';
import { type Approval, addSignature, readApproval, readSignatures, type Signature } from '../store/approvals.ts';
import { auditSince } from '../store/audit.ts';
import type { Query, Transaction } from '../store/db.ts';
import { allowAlways } from '../tools/change_policy.ts';
import type { Actor } from '../types/approval.ts';
import { endQuestion, lockRun, noteDecision, showDecided } from './close.ts';
import { expirePending } from './expire.ts';
import { type ApprovalParts, answerCharsMax, reasonCharsMax } from './parts.ts';
import { isEnough, isRequester, mayDecide, type Signed } from './rule.ts';

export interface Deciding {
  choice: 'approve' | 'deny' | 'always' | 'always_exact' | 'answer' | 'skip' | 'withdraw';
  /** Of a denial. */
  reason?: string | null;
  /** Of an answer. */
  answer?: string;
  actor: Actor;
}

export type Decided =
  /** This closed it. */
  | { kind: 'closed'; approval: Approval }
  /** One of two has signed; `again` when they had before. */
  | { kind: 'signed'; approval: Approval; again: boolean }
  /** Somebody or something was faster. */
  | { kind: 'already'; approval: Approval }
  | { kind: 'not_entitled'; approval: Approval }
  | { kind: 'not_grantable'; approval: Approval }
  | { kind: 'unknown' };

export async function decideApproval(
  q: Transaction,
  parts: ApprovalParts,
  id: string,
  deciding: Deciding,
  now: number,
): Promise<Decided> {
  const decided = await decideUnshown(q, parts, id, deciding, now);
  if (isChange(decided)) await showDecided(q, parts, [decided.approval], now);
  return decided;
}

/** Several questions of one run at once: their cards change once, and the run goes on once. */
export async function decideTogether(
  q: Transaction,
  parts: ApprovalParts,
  ids: readonly string[],
  deciding: Deciding,
  now: number,
): Promise<Decided[]> {
  const all: Decided[] = [];
  for (const id of ids) all.push(await decideUnshown(q, parts, id, deciding, now));
  const changed = all.filter(isChange).map(({ approval }) => approval);
  await showDecided(q, parts, changed, now);
  return all;
}

/** Something of it is to be seen on the cards. */
const isChange = (decided: Decided): decided is Extract<Decided, { kind: 'closed' | 'signed' }> =>
  decided.kind === 'closed' || (decided.kind === 'signed' && !decided.again);

async function decideUnshown(
  q: Transaction,
  parts: ApprovalParts,
  id: string,
  deciding: Deciding,
  now: number,
): Promise<Decided> {
  const found = await readApproval(q, id);
  if (!found) return { kind: 'unknown' };
  await lockRun(q, found.runId);
  // Read again under the lock: of two at once the second sees what the first did.
  const approval = await readApproval(q, id);
  if (!approval) return { kind: 'unknown' };
  if (approval.state === 'pending' && approval.expiresAt <= now) await expirePending(q, parts, approval.runId, now);
  const current = approval.expiresAt <= now ? ((await readApproval(q, id)) ?? approval) : approval;
  if (current.state !== 'pending') return { kind: 'already', approval: current };
  const decided = await decideOpen(q, parts, current, deciding, now);
  if (decided.kind === 'not_entitled') await noteRefused(q, current, deciding.actor.account, now);
  return decided;
}

/** Who tried and may not is in the audit once for each question, however often they press. */
async function noteRefused(q: Transaction, approval: Approval, account: string, now: number): Promise<void> {
  const wanted = { action: 'approval.refused', since: approval.createdAt, actor: account };
  const before = await auditSince(q, wanted);
  if (!before.some(({ subject }) => subject === approval.id))
    await noteDecision(q, approval, account, 'refused', now, null);
}

async function decideOpen(
  q: Transaction,
  parts: ApprovalParts,
  current: Approval,
  deciding: Deciding,
  now: number,
): Promise<Decided> {
  if (deciding.choice === 'withdraw') return withdraw(q, parts, current, deciding.actor, now);
  return current.kind === 'question'
    ? answerQuestion(q, parts, current, deciding, now)
    : decideCall(q, parts, current, deciding, now);
}

async function decideCall(
  q: Transaction,
  parts: ApprovalParts,
  approval: Approval,
  { choice, reason, actor }: Deciding,
  now: number,
): Promise<Decided> {
  if (!mayDecide(approval, actor)) return { kind: 'not_entitled', approval };
  if (choice === 'deny' || choice === 'skip') {
    const why = reason == null || reason.trim() === '' ? null : reason.trim().slice(0, reasonCharsMax);
    return close(q, parts, approval, { state: 'denied', by: [nameOf(actor)], reason: why, actor }, now);
  }
  if (choice === 'answer') return { kind: 'not_entitled', approval };
  if (choice !== 'approve') {
    const fits = approval.grantable === (choice === 'always' ? 'any' : 'exact');
    // A grant speaks for the person who asked, so nobody else can give it.
    if (!fits || !isRequester(approval, actor) || approval.requester === null)
      return { kind: 'not_grantable', approval };
  }
  const signature: Signature = {
    personId: actor.people[0] ?? actor.account,
    account: actor.account,
    admin: actor.admin,
    signedAt: now,
  };
  const signatures = await readSignatures(q, approval.id);
  const again = signatures.some((one) => one.personId === signature.personId);
  if (!again) {
    await addSignature(q, approval.id, signature);
    signatures.push(signature);
  }
  if (!isEnough(approval.dual, await asPeople(q, approval, signatures, now))) {
    if (!again) await noteDecision(q, approval, actor.account, 'signed', now, null);
    return { kind: 'signed', approval, again };
  }
  if (choice !== 'approve' && approval.requester !== null)
    await allowAlways(
      q,
      {
        personId: approval.requester,
        agent: approval.agent,
        capability: approval.capability,
        tool: approval.tool,
        definition: approval.definition,
        arguments: choice === 'always' ? null : approval.argumentsDigest,
        setBy: actor.account,
      },
      now,
    );
  const by: string[] = [];
  for (const { personId, account } of signatures)
    if (personId !== signature.personId)
      by.push(nameOf({ account, name: (await findAccountNamed(q, account))?.name ?? '' }));
  by.push(nameOf(actor));
  return close(q, parts, approval, { state: 'approved', by, reason: null, actor }, now);
}

/** Only the person asked answers (rule 56). */
async function answerQuestion(
  q: Transaction,
  parts: ApprovalParts,
  approval: Approval,
  { choice, answer, actor }: Deciding,
  now: number,
): Promise<Decided> {
  if (!isRequester(approval, actor)) return { kind: 'not_entitled', approval };
  const isSkipped = choice === 'skip' || choice === 'deny';
  if (!isSkipped && (choice !== 'answer' || answer === undefined)) return { kind: 'not_grantable', approval };
  const said = isSkipped ? null : (answer ?? '').slice(0, answerCharsMax);
  return close(q, parts, approval, { state: 'approved', by: [nameOf(actor)], reason: null, answer: said, actor }, now);
}

async function withdraw(
  q: Transaction,
  parts: ApprovalParts,
  approval: Approval,
  actor: Actor,
  now: number,
): Promise<Decided> {
  if (!isRequester(approval, actor) && !actor.admin) return { kind: 'not_entitled', approval };
  return close(q, parts, approval, { state: 'withdrawn', by: [nameOf(actor)], reason: 'asked', actor }, now);
}

async function close(
  q: Transaction,
  parts: ApprovalParts,
  approval: Approval,
  closing: {
    state: 'approved' | 'denied' | 'withdrawn';
    by: string[];
    reason: string | null;
    answer?: string | null;
    actor: Actor;
  },
  now: number,
): Promise<Decided> {
  const { by, actor, answer = null, ...rest } = closing;
  const end = { ...rest, decidedBy: by.join(', '), answer };
  if (await endQuestion(q, parts, approval, { ...end, actor: actor.account }, now))
    return { kind: 'closed', approval: { ...approval, ...end, decidedAt: now } };
  const current = await readApproval(q, approval.id);
  return current ? { kind: 'already', approval: current } : { kind: 'unknown' };
}

const nameOf = ({ name, account }: Pick<Actor, 'name' | 'account'>) => {
  const shown = cleanName(name, 80);
  return shown === '' ? account : `${shown} (${account})`;
};

/** Who is linked, or was within 72 hours, counts as one person (rule 15). */
async function asPeople(
  q: Query,
  approval: Approval,
  signatures: readonly Signature[],
  now: number,
): Promise<Signed[]> {
  const known: string[] = [];
  const sameAs = async (personId: string): Promise<string> => {
    for (const other of known) if (other === personId || (await countAsOne(q, other, personId, now))) return other;
    known.push(personId);
    return personId;
  };
  // The requester first, so that nobody linked to them is somebody else.
  const requester = approval.requester === null ? null : await sameAs(approval.requester);
  const signed: Signed[] = [];
  for (const { personId, account, admin } of signatures) {
    const person = await sameAs(personId);
    signed.push({
      personId: person,
      admin,
      isRequester: person === requester || account === approval.requesterAccount,
    });
  }
  return signed;
}
