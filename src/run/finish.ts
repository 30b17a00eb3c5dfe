/**
 * Ends a run: its state, the exchange in the conversation's history, what people are shown and what was spent, in one
 * transaction. Nothing of a run outlives it but that.
 */
import { assert } from '../base/errors.ts';
import { startOfDay } from '../base/time.ts';
import { enqueue, messagesOf, withLastLine } from '../outbox/enqueue.ts';
import { approvalsOfStep } from '../store/approvals.ts';
import { appendTurns, readConversation, type Turn } from '../store/conversations.ts';
import type { Transaction } from '../store/db.ts';
import { finishMessages, hasNext } from '../store/inbox.ts';
import { releaseReserved, settleLost, spent } from '../store/ledger.ts';
import { findFirstPiece } from '../store/outbox.ts';
import { addStep, addSteps, finishRun, type Run } from '../store/runs.ts';
import { finishToolCall, readToolCalls } from '../store/tool_calls.ts';
import { cancelledOutcome, unknownOutcome } from '../tools/host.ts';
import type { AdapterLimits } from '../types/adapter.ts';
import type { RunState, StepBody } from '../types/run.ts';
import { costText } from '../words/cost.ts';
import { wordsFor } from '../words/index.ts';
import { bookUnbooked, capsOf, dayUsePercent, hasCaps } from './budget.ts';
import { canBecome, stepToCall } from './machine.ts';
import { endWords } from './park.ts';
import type { RunParts, Work } from './parts.ts';
import { wordsOfStep } from './prompt.ts';

export interface Outcome {
  state: Exclude<RunState, 'queued' | 'running' | 'awaiting_approval'>;
  /** Shown to people; null shows nothing. */
  markdown: string | null;
  /** What later runs read as the answer. */
  history: string;
  error: string | null;
}

/**
 * `last` is the step that ended the run, and what belongs to its transaction: nobody reads it to go on, but the
 * transcript is kept for operators as long as `retention.runs` says.
 */
export async function finish(
  work: Work,
  outcome: Outcome,
  last?: { step: StepBody; write(q: Transaction, now: number): Promise<void> },
): Promise<void> {
  const { parts, run, words } = work;
  assert(canBecome(run.state, outcome.state), `a run may go from ${run.state} to ${outcome.state}`);
  await work.stream.close();
  work.status.end();
  const answer = outcome.markdown === null ? null : await messagesOf(outcome.markdown, work.adapter.limits);
  const now = parts.clock.now();
  let isShown = false;
  await parts.db.tx(async (q) => {
    const activeMs = work.activeMs();
    await finishRun(q, run.id, parts.owner, { state: outcome.state, error: outcome.error, activeMs }, now);
    await addSteps(q, run.id, ...unwritten(work, last?.step), now);
    await last?.write(q, now);
    await bookUnbooked(q, work, now);
    // What an earlier attempt had reserved is settled as lost.
    if (hasCaps(capsOf(work.spec, work.binding))) await releaseReserved(q, { run: run.id });
    await closeCalls(q, work, now);
    await appendTurns(q, work.conversation, run.id, exchangeOf(work, outcome.history), now);
    const first = await findFirstPiece(q, run.id);
    const footer = await footerOf(q, work, outcome, now);
    const markdown = answer && footer !== '' ? withLastLine(answer, footer, work.adapter.limits) : answer;
    const ending: Ending = {
      run,
      direct: work.conversation.audience === 'direct',
      // A first piece that was shown must not stand there unfinished, so it gets at least a word.
      shown: markdown ?? (first ? words.stopped : null),
      replaces: first?.id ?? null,
    };
    await endRun(q, ending, work.adapter.limits, now);
    isShown = ending.shown !== null;
  });
  if (!isShown) void work.stream.clear();
  work.unbooked.length = 0;
  countEnd(parts, outcome.state);
  work.log.info(
    { state: outcome.state, ms: work.activeMs(), ...(outcome.error ? { error: outcome.error } : {}) },
    'run ended',
  );
  for (const hook of work.offer.onFinish)
    await hook().catch((error) => work.log.error({ err: error }, 'a capability failed at the end of a run'));
}

/** A run that could not even be opened still ends, says so, and frees its lane. */
export async function finishUnopened(parts: RunParts, run: Run, error: string | null): Promise<void> {
  const { db, clock } = parts;
  const adapter = parts.adapterOf(run.place.channel);
  const state = error === null ? 'cancelled' : 'failed';
  const { audience } = await readConversation(db, run.conversationId);
  await db.tx(async (q) => {
    await finishRun(q, run.id, parts.owner, { state, error, activeMs: 0 }, clock.now());
    await settleLost(q, run.id);
    const ending: Ending = {
      run,
      direct: audience === 'direct',
      shown: error === null || !adapter ? null : wordsFor(null, parts.settings().language).runFailed(run.id),
      replaces: null,
    };
    await endRun(q, ending, adapter?.limits, clock.now());
  });
  countEnd(parts, state);
}

/** What of the end of a run does not depend on how far it came. */
interface Ending {
  run: Run;
  direct: boolean;
  /** What people see; null = nothing. */
  shown: string | readonly string[] | null;
  /** The outbox row of the first piece, whose message gets these words. */
  replaces: string | null;
}

async function endRun(
  q: Transaction,
  { run, direct, shown, replaces }: Ending,
  adapterLimits: AdapterLimits | undefined,
  now: number,
): Promise<void> {
  await finishMessages(q, run.id);
  if (shown !== null && adapterLimits)
    await enqueue(
      q,
      {
        place: run.place,
        direct,
        markdown: shown,
        runId: run.id,
        replyTo: run.replyTo,
        priority: 'answer',
        ...(replaces === null ? {} : { replaces }),
      },
      adapterLimits,
      now,
    );
  if (await hasNext(q, run.conversationId)) q.ring('dispatch');
}

function countEnd(parts: RunParts, state: Outcome['state']): void {
  const names: Partial<Record<Outcome['state'], Parameters<RunParts['count']>[0]>> = {
    completed: 'runs_completed',
    cancelled: 'runs_cancelled',
    budget_exceeded: 'runs_over_budget',
  };
  parts.count(names[state] ?? 'runs_failed');
}

/** From which place on which steps are still to be written: the opening goes with whatever the run commits first. */
export function unwritten(work: Work, step?: StepBody): [seq: number, steps: StepBody[]] {
  const opening = work.openingUnwritten ? work.steps.slice(0, 1) : [];
  return [work.steps.length - opening.length, [...opening, ...(step ? [step] : [])]];
}

/** M2: a call that never got a result gets one, so that the stored transcript is whole. */
async function closeCalls(q: Transaction, work: Work, now: number): Promise<void> {
  const at = stepToCall(work.steps);
  if (at === null) return;
  const calls = await readToolCalls(q, work.run.id, at);
  const asked = work.run.historyTurns === null ? [] : await approvalsOfStep(q, work.run.id, at);
  const notRun = (callId: string) => {
    const question = asked.findLast((one) => one.callId === callId && one.state !== 'approved');
    return question ? endWords(question) : cancelledOutcome;
  };
  const results = calls.map((call) => ({
    id: call.callId,
    name: call.name,
    content:
      call.state === 'finished'
        ? (call.content ?? '')
        : call.state === 'started'
          ? unknownOutcome
          : notRun(call.callId),
    isError: call.state === 'finished' ? call.isError : true,
  }));
  for (const [index, call] of calls.entries())
    if (call.state !== 'finished') await finishToolCall(q, work.run.id, at, call.callId, results[index]!, now);
  const step: StepBody = { kind: 'results', message: { role: 'tool', results } };
  await addStep(q, work.run.id, work.steps.length, step, now);
}

/** In rooms the words name their speakers. */
function exchangeOf(work: Work, answer: string): Omit<Turn, 'seq'>[] {
  const said = work.steps.filter((step) => step.kind === 'user');
  return [
    ...said.map((step) => ({ role: 'user' as const, text: wordsOfStep(step) })),
    { role: 'assistant', text: answer },
  ];
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
