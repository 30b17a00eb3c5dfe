/** Ends questions whose time is over (rule 54), withdraws those whose run or reason is gone, and sends lost cards again. */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { createStage, type Stage, type TurnResult } from '../queue/stage.ts';
import {
  type Approval,
  approvalsOfStep,
  closeApproval,
  expiredApprovals,
  nextExpiry,
  pendingOfRun,
  readBatch,
} from '../store/approvals.ts';
import { setCardMessage, undeliveredCards } from '../store/cards.ts';
import type { Db, Transaction } from '../store/db.ts';
import { afterClosing, drawCard, lockRun, noteDecision } from './close.ts';
import { type ApprovalParts, cardAgainMs, surfaceOf } from './parts.ts';

const expiriesPerTurn = 50;

export function createExpiry(parts: ApprovalParts & { db: Db; clock: Clock; log: Log }): Stage {
  const { db, clock, log } = parts;
  const turn = async (): Promise<TurnResult> => {
    const now = clock.now();
    const ended = await db.tx(async (q) => {
      const due = await expiredApprovals(q, now, expiriesPerTurn);
      for (const approval of due) {
        await lockRun(q, approval.runId);
        await expireOne(q, parts, approval, now);
      }
      return due.length;
    });
    await db.tx((q) => sendAgain(q, parts, now));
    return { again: ended === expiriesPerTurn, nextAt: await nextExpiry(db) };
  };
  return createStage({ name: 'approvals', db, clock, log, bells: [], turn });
}

/** Nobody decided. When people decided nothing of the step at all, the run ends without asking the model again. */
export async function expireOne(q: Transaction, parts: ApprovalParts, approval: Approval, now: number): Promise<void> {
  if (!(await closeApproval(q, approval.id, { state: 'expired', decidedBy: null, reason: null }, now))) return;
  await noteDecision(q, approval, 'gateway', 'expired', now, null);
  const all = await approvalsOfStep(q, approval.runId, approval.step);
  const decided = all.some(({ state }) => state === 'approved' || state === 'denied');
  await afterClosing(q, parts, approval, now, decided ? null : 'expired');
  parts.count('approvals_expired');
}

export type WithdrawReason = 'stopped' | 'edited' | 'deleted' | 'changed';

/** All open questions of a run; `stop` ends the run, else it goes on. False when there were none. */
export async function withdrawAll(
  q: Transaction,
  parts: ApprovalParts,
  runId: string,
  reason: WithdrawReason,
  actor: string,
  stop: 'asked' | 'silent' | null,
  now: number,
): Promise<boolean> {
  await lockRun(q, runId);
  const pending = await pendingOfRun(q, runId);
  for (const approval of pending) {
    if (!(await closeApproval(q, approval.id, { state: 'withdrawn', decidedBy: null, reason }, now))) continue;
    await noteDecision(q, approval, actor, 'withdrawn', now, reason);
    parts.count('approvals_withdrawn');
  }
  const batches = new Map(pending.map((approval) => [approval.batch, approval]));
  for (const approval of batches.values()) await afterClosing(q, parts, approval, now, stop);
  return pending.length > 0;
}

/** Rule 51: a card that was given up is tried again as long as its question is open. */
async function sendAgain(q: Transaction, parts: ApprovalParts, now: number): Promise<void> {
  for (const card of await undeliveredCards(q, now - cardAgainMs, expiriesPerTurn)) {
    const shown = await drawCard(q, parts, card, await readBatch(q, card.batch));
    const [outboxId] = await enqueue(
      q,
      {
        place: card.place,
        direct: card.direct,
        markdown: [shown.markdown],
        runId: null,
        replyTo: null,
        priority: 'question',
        question: shown.question,
      },
      surfaceOf(parts, card.place.channel).limits,
      now,
    );
    if (outboxId !== undefined) await setCardMessage(q, card.id, outboxId);
  }
}
