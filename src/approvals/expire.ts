/** Ends questions whose time is over (rule 54), withdraws those whose run or reason is gone, and sends lost cards again. */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createStage, type Stage, type TurnResult } from '../queue/stage.ts';
import {
  type Approval,
  approvalsOfStep,
  nextExpiry,
  overdueRuns,
  pendingOfRun,
  readBatch,
} from '../store/approvals.ts';
import { setCardMessage, undeliveredCards } from '../store/cards.ts';
import type { Db, Transaction } from '../store/db.ts';
import { countUnsent } from '../store/outbox.ts';
import { countDecided } from '../store/runs.ts';
import { drawCard, endQuestion, enqueueCard, lockRun, showDecided, tryLockRun } from './close.ts';
import { type ApprovalParts, cardAgainMs } from './parts.ts';

const cardsAgainPerTurn = 50;
/** Questions that end in one turn; they share a commit. */
const endsPerTurn = 8;
/**
 * Between turns while more are due, and as long as `pauseMs` while much waits that came of earlier ones: ten thousand
 * questions may end at one moment, and whoever writes then must not wait for all of that. Late presses are told at once
 * that the time is over.
 */
const gapMs = 100;
const pauseMs = 1_000;
const endingMax = 8;
const unsentMax = 64;

export function createExpiry(parts: ApprovalParts & { db: Db; clock: Clock; log: Log }): Stage {
  const { db, clock, log } = parts;
  const isCrowded = async () =>
    (await countDecided(db, endingMax)) >= endingMax || (await countUnsent(db, unsentMax)) >= unsentMax;
  /** When a turn left something over. */
  let leftOverAt = Number.NEGATIVE_INFINITY;
  const turn = async (): Promise<TurnResult> => {
    const now = clock.now();
    if (now < leftOverAt + gapMs) return { again: false, nextAt: leftOverAt + gapMs };
    if (now < leftOverAt + pauseMs && (await isCrowded())) return { again: false, nextAt: now + gapMs };
    await db.tx((q) => sendAgain(q, parts, now));
    // Each in a transaction of its own: their locks are never held together, and others get their turn in between.
    await Promise.all(
      (await overdueRuns(db, now, endsPerTurn)).map((runId) =>
        db.tx(async (q) => {
          // Somebody decides it at this moment, or another process ends it.
          if (await tryLockRun(q, runId)) await expirePending(q, parts, runId, now);
        }),
      ),
    );
    const nextAt = await nextExpiry(db);
    if (nextAt === null || nextAt > now) return { again: false, nextAt };
    leftOverAt = now;
    return { again: false, nextAt: now + gapMs };
  };
  return createStage({ name: 'approvals', db, clock, log, bells: [], turn });
}

/**
 * Ends what nobody decided in time; the lock of the run is held. When people decided nothing of the step at all, the run
 * ends without asking the model again.
 */
export async function expirePending(q: Transaction, parts: ApprovalParts, runId: string, now: number): Promise<void> {
  const ended: Approval[] = [];
  for (const approval of await pendingOfRun(q, runId)) {
    if (approval.expiresAt > now) continue;
    const closing = { state: 'expired', decidedBy: null, reason: null, actor: 'gateway' } as const;
    if (await endQuestion(q, parts, approval, closing, now)) ended.push(approval);
  }
  const [first] = ended;
  if (!first) return;
  const all = await approvalsOfStep(q, runId, first.step);
  const decided = all.some(({ state }) => state === 'approved' || state === 'denied');
  await showDecided(q, parts, ended, now, decided ? null : 'expired');
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
  for (const approval of pending)
    await endQuestion(q, parts, approval, { state: 'withdrawn', decidedBy: null, reason, actor }, now);
  await showDecided(q, parts, pending, now, stop);
  return pending.length > 0;
}

/** Rule 51: a card that was given up is tried again as long as its question is open. */
async function sendAgain(q: Transaction, parts: ApprovalParts, now: number): Promise<void> {
  for (const card of await undeliveredCards(q, now - cardAgainMs, cardsAgainPerTurn)) {
    const shown = await drawCard(q, parts, card, await readBatch(q, card.batch));
    await setCardMessage(q, card.id, await enqueueCard(q, parts, card, shown, now));
  }
}
