/** What follows when a question is closed, in the transaction that closes it: its cards, its run, the audit. */
import { newId } from '../base/ids.ts';
import { inCode, literal } from '../base/safe_text.ts';
import { enqueue, type Outgoing } from '../outbox/enqueue.ts';
import { findAccountNamed } from '../store/accounts.ts';
import {
  type Approval,
  type Closing,
  closeApproval,
  pendingOfRun,
  readBatch,
  readSignatures,
  withdrawApproved,
} from '../store/approvals.ts';
import { addAudit } from '../store/audit.ts';
import { type Card, cardsOfBatch } from '../store/cards.ts';
import type { Transaction } from '../store/db.ts';
import { resumeRun, type StopKind } from '../store/runs.ts';
import { type Words, wordsFor } from '../words/index.ts';
import { type CardFacts, codeBlock, optionLines, type Shown, showCard } from './card.ts';
import { type ApprovalParts, surfaceOf } from './parts.ts';

/** Every decision on questions of a run, and its parking, goes one after another in all processes. */
export async function lockRun(q: Transaction, runId: string): Promise<void> {
  await q.lock(nameOfLock(runId));
}

/** False when somebody else has it at this moment. */
export function tryLockRun(q: Transaction, runId: string): Promise<boolean> {
  return q.tryLock(nameOfLock(runId));
}

const nameOfLock = (runId: string) => `approvals ${runId}`;

/**
 * Shows what became of questions of one run on all their cards, once each, however many were decided together. `stop`
 * ends the run instead of letting it go on; without it the run goes on when nothing of it is pending any more.
 */
export async function showDecided(
  q: Transaction,
  parts: ApprovalParts,
  decided: readonly Approval[],
  now: number,
  stop: StopKind | null = null,
): Promise<void> {
  const [first] = decided;
  if (!first) return;
  for (const batch of new Set(decided.map((approval) => approval.batch))) await showBatch(q, parts, batch, now, stop);
  const pending = await pendingOfRun(q, first.runId);
  if (pending.length > 0) return;
  if (await resumeRun(q, first.runId, stop, now)) q.ring('dispatch');
  // A call of a skill by the API belongs to no step of a run.
  else if (first.step < 0) q.ring('skill');
}

/**
 * Ends a question that is pending, with its audit row: every end goes through here. `actor` is who did it, for the
 * audit; `decidedBy` is what people read. False when somebody or something was faster.
 */
export async function endQuestion(
  q: Transaction,
  parts: Pick<ApprovalParts, 'count'>,
  approval: Approval,
  { actor, ...closing }: Closing & { actor: string },
  now: number,
): Promise<boolean> {
  if (!(await closeApproval(q, approval.id, closing, now))) return false;
  await noteDecision(q, approval, actor, closing.state, now, closing.reason);
  const { state } = closing;
  parts.count(state === 'withdrawn' || state === 'expired' ? `approvals_${state}` : 'approvals_decided');
  return true;
}

/** A changed definition withdraws what was approved, before it is asked anew (rule 50). */
export async function withdrawReplaced(
  q: Transaction,
  parts: ApprovalParts,
  replaced: readonly Approval[],
  now: number,
): Promise<void> {
  const gone: Approval[] = [];
  for (const approval of replaced) {
    if (!(await withdrawApproved(q, approval.id, now))) continue;
    await noteDecision(q, approval, 'gateway', 'withdrawn', now, 'changed');
    parts.count('approvals_withdrawn');
    gone.push(approval);
  }
  for (const batch of new Set(gone.map((approval) => approval.batch))) await showBatch(q, parts, batch, now, null);
}

async function showBatch(
  q: Transaction,
  parts: ApprovalParts,
  batch: string,
  now: number,
  stop: StopKind | null,
): Promise<void> {
  const approvals = await readBatch(q, batch);
  for (const card of await cardsOfBatch(q, batch)) {
    const shown = await drawCard(q, parts, card, approvals);
    // Nobody waits to see that time ran out: thousands of such cards must not hold up one answer.
    const priority = stop === 'expired' ? 'notice' : 'question';
    await enqueueCard(q, parts, card, shown, now, { replaces: card.outboxId, priority });
  }
}

/** The outbox id of the card's message. */
export async function enqueueCard(
  q: Transaction,
  parts: ApprovalParts,
  { place, direct }: Pick<Card, 'place' | 'direct'>,
  { markdown, question }: Shown,
  now: number,
  how: Partial<Pick<Outgoing, 'replyTo' | 'replaces' | 'priority'>> = {},
): Promise<string> {
  const card: Outgoing = {
    place,
    direct,
    markdown: [markdown],
    question,
    runId: null,
    replyTo: null,
    priority: 'question',
  };
  const [outboxId] = await enqueue(q, { ...card, ...how }, surfaceOf(parts, place.channel).limits, now);
  return outboxId as string;
}

/** In the language of whoever asked. */
export async function wordsOfRequester(q: Transaction, parts: ApprovalParts, account: string): Promise<Words> {
  return wordsFor((await findAccountNamed(q, account))?.language, parts.settings().language);
}

export async function drawCard(
  q: Transaction,
  parts: ApprovalParts,
  card: Pick<Card, 'id' | 'place'>,
  approvals: readonly Approval[],
): Promise<Shown> {
  const [first] = approvals;
  const account = first?.requesterAccount ?? '';
  const known = await findAccountNamed(q, account);
  const signed = new Map<string, string[]>();
  for (const { id } of approvals.filter(({ dual }) => dual)) {
    const names: string[] = [];
    for (const signature of await readSignatures(q, id))
      names.push((await findAccountNamed(q, signature.account))?.name ?? signature.account);
    signed.set(id, names);
  }
  const facts: CardFacts = {
    card: card.id,
    approvals,
    signed,
    requesterName: known?.name ?? account,
    alsoSentTo: first?.shownTo ?? [],
    unreached: first !== undefined && isUnreached(first, known?.admin ?? false),
    timezone: parts.settings().timezone,
  };
  const surface = surfaceOf(parts, card.place.channel);
  return showCard(facts, wordsFor(known?.language, parts.settings().language), surface.features, surface.limits);
}

/** In a direct chat with nobody else to show it to: it waits on the page and at the command line. */
function isUnreached({ kind, direct, shownTo, approvers, dual, requesterAccount }: Approval, admin: boolean): boolean {
  if (kind !== 'tool' || !direct || shownTo.length > 0) return false;
  if (dual) return true;
  if (typeof approvers !== 'string') return !approvers.includes(requesterAccount);
  return approvers === 'admins' && !admin;
}

/** Everything that is asked, below its card: as many messages as it needs. */
export async function sendDetails(
  q: Transaction,
  parts: ApprovalParts,
  card: Pick<Card, 'place' | 'direct' | 'ref'>,
  approval: Approval,
  words: Words,
  now: number,
): Promise<void> {
  await enqueue(
    q,
    {
      place: card.place,
      direct: card.direct,
      markdown: detailsText(approval, words),
      runId: null,
      replyTo: card.ref,
      priority: 'question',
    },
    surfaceOf(parts, card.place.channel).limits,
    now,
  );
}

function detailsText({ kind, tool, code, input, options, message }: Approval, { questions }: Words): string {
  const parts =
    kind === 'question'
      ? [`**${questions.asks}** \`${code}\``, literal(input), optionLines(options ?? [])]
      : [questions.fullArguments(tool, code), codeBlock(input)];
  if (message !== null) parts.push(questions.agentSays(`\`${inCode(message)}\``));
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Rule 91: with the decision, or not at all. */
export async function noteDecision(
  q: Transaction,
  approval: Pick<Approval, 'id' | 'capability' | 'tool' | 'digest'>,
  actor: string,
  action: string,
  now: number,
  reason: string | null,
): Promise<void> {
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: `approval.${action}`,
    subject: approval.id,
    after: { capability: approval.capability, tool: approval.tool, digest: approval.digest, reason },
  });
}
