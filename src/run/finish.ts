/**
 * Ends a run: its state, the exchange in the conversation's history, what people are shown and what was spent, in one
 * transaction. Nothing of a run outlives it but that.
 */
import { newId } from '../base/ids.ts';
import { startOfDay } from '../base/time.ts';
import { costOf } from '../models/cost.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { appendTurns, type Turn } from '../store/conversations.ts';
import type { Transaction } from '../store/db.ts';
import { countWaiting, finishMessages } from '../store/inbox.ts';
import { book, spent } from '../store/ledger.ts';
import { findFirstPiece } from '../store/outbox.ts';
import { addStep, assertOwned, finishRun, finishToolCall, readToolCalls } from '../store/runs.ts';
import { cancelledOutcome, unknownOutcome } from '../tools/host.ts';
import type { RunState, StepBody } from '../types/run.ts';
import { costText } from '../words/cost.ts';
import { capsOf, dayUsePercent, hasCaps } from './budget.ts';
import { canBecome, nextOf } from './machine.ts';
import type { Work } from './parts.ts';
import { wordsOfStep } from './prompt.ts';

export interface Outcome {
  state: Exclude<RunState, 'queued' | 'running' | 'awaiting_approval'>;
  /** Shown to people; null shows nothing. */
  markdown: string | null;
  /** What later runs read as the answer. */
  history: string;
  error: string | null;
}

/** `write` adds what belongs to the same transaction, such as the last step. */
export async function finish(
  work: Work,
  outcome: Outcome,
  write: (q: Transaction, now: number) => Promise<void> = async () => {},
): Promise<void> {
  const { parts, run } = work;
  if (!canBecome(run.state, outcome.state))
    throw new Error(`broken invariant: ${run.state} cannot become ${outcome.state}`);
  await work.stream.close();
  work.status.end();
  const now = parts.clock.now();
  await parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    await writeOpening(q, work, now);
    await write(q, now);
    await bookUnbooked(q, work, now);
    await closeCalls(q, work, now);
    await appendTurns(q, work.conversation.id, run.id, exchangeOf(work, outcome.history), now);
    await finishMessages(q, run.id);
    const first = await findFirstPiece(q, run.id);
    const markdown = outcome.markdown === null ? null : outcome.markdown + (await footerOf(q, work, outcome, now));
    // A first piece that was shown must not stand there unfinished, so it gets at least a word.
    const shown = markdown ?? (first ? work.words.stopped : null);
    if (shown !== null)
      await enqueue(
        q,
        {
          place: run.place,
          direct: work.conversation.audience === 'direct',
          markdown: shown,
          runId: run.id,
          replyTo: run.replyTo,
          priority: 'answer',
          ...(first ? { replaces: first.id } : {}),
        },
        work.adapter.limits,
        now,
      );
    await finishRun(q, run.id, outcome.state, outcome.error, work.activeMs(), now);
    if ((await countWaiting(q, work.conversation.id)) > 0) q.ring('dispatch');
  });
  work.unbooked.length = 0;
  const names = {
    completed: 'runs_completed',
    cancelled: 'runs_cancelled',
    budget_exceeded: 'runs_over_budget',
  } as const;
  parts.count(outcome.state in names ? names[outcome.state as keyof typeof names] : 'runs_failed');
  work.log.info(
    { state: outcome.state, ms: work.activeMs(), ...(outcome.error ? { error: outcome.error } : {}) },
    'run ended',
  );
  for (const hook of work.offer.onFinish)
    await hook().catch((error) => work.log.error({ err: error }, 'a capability failed at the end of a run'));
}

/** Goes first into whatever the run commits first. */
export async function writeOpening(q: Transaction, work: Work, now: number): Promise<void> {
  const opening = work.steps[0];
  if (!work.openingUnwritten || !opening) return;
  await addStep(q, work.run.id, 0, opening, now);
}

/** Emptied by the caller after the commit, since a transaction may run more than once. */
export async function bookUnbooked(q: Transaction, work: Work, now: number): Promise<void> {
  for (const { profile, usage } of work.unbooked)
    await book(q, ledgerRow(work, newId(now), profile), usage, priceOf(work, profile, usage), now);
}

export function ledgerRow(work: Work, id: string, profile: string) {
  return { id, runId: work.run.id, agent: work.run.agent, binding: work.run.binding, profile };
}

export function priceOf(work: Work, profile: string, usage: Parameters<typeof costOf>[1]): number | null {
  const known = work.parts.settings().models[profile];
  return known ? costOf(known, usage) : null;
}

/** M2: a call that never got a result gets one, so that the stored transcript is whole. */
async function closeCalls(q: Transaction, work: Work, now: number): Promise<void> {
  const next = nextOf(work.steps);
  if (next.do !== 'call_tools') return;
  const calls = await readToolCalls(q, work.run.id, next.step);
  const results = calls.map((call) => ({
    id: call.callId,
    name: call.name,
    content:
      call.state === 'finished' ? (call.content ?? '') : call.state === 'started' ? unknownOutcome : cancelledOutcome,
    isError: call.state === 'finished' ? call.isError : true,
  }));
  for (const [index, call] of calls.entries())
    if (call.state !== 'finished') await finishToolCall(q, work.run.id, next.step, call.callId, results[index]!, now);
  const step: StepBody = { kind: 'results', message: { role: 'tool', results } };
  await addStep(q, work.run.id, work.steps.length, step, now);
}

function exchangeOf(work: Work, answer: string): Omit<Turn, 'seq'>[] {
  const group = work.conversation.audience !== 'direct';
  const turns: Omit<Turn, 'seq'>[] = [];
  for (const step of work.steps) {
    if (step.kind !== 'user') continue;
    // In rooms the words already name their speakers.
    turns.push({ role: 'user', speaker: null, text: wordsOfStep(step) });
  }
  turns.push({ role: 'assistant', speaker: group ? work.spec.name : null, text: answer });
  return turns;
}

/** What a turn cost, as often as the binding wants it said (rule 86). */
async function footerOf(q: Transaction, work: Work, outcome: Outcome, now: number): Promise<string> {
  const footer = work.binding?.footer ?? { when: 'never' as const };
  if (outcome.state !== 'completed' || footer.when === 'never') return '';
  const caps = capsOf(work.spec, work.binding);
  const percent = hasCaps(caps)
    ? await dayUsePercent(q, caps, work.run, startOfDay(now, work.parts.settings().timezone))
    : null;
  const near = percent !== null && percent >= 80 ? work.words.costNear(percent) : '';
  if (footer.when === 'near_limit') return near === '' ? '' : `\n\n_${near}_`;
  const answers = Math.floor(work.conversation.turns / 2) + 1;
  if (footer.when === 'every' && answers % footer.turns !== 0) return '';
  const cost = costText(work.words, await spent(q, { column: 'run_id', value: work.run.id, since: 0 }));
  return `\n\n_${work.words.cost(cost, near).trim()}_`;
}
