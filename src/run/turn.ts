/**
 * The loop of one run: open → (ask → call tools)* → finish. Each step is committed before the next begins, and what
 * comes next follows from the committed steps alone, so a run goes on after a crash where it stopped.
 */
import { ModelError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { takeTogether } from '../inbox/route.ts';
import type { Transaction } from '../store/db.ts';
import { dueMessages, followUpsOf, takeMessages } from '../store/inbox.ts';
import { addStep, addSteps, assertOwned } from '../store/runs.ts';
import { addToolCall } from '../store/tool_calls.ts';
import type { DecidedCall } from '../tools/host.ts';
import type { ModelAnswer, ModelRequest } from '../types/model.ts';
import type { StepBody } from '../types/run.ts';
import { bookAnswer, bookUnbooked, reserveFor } from './budget.ts';
import { callTools } from './call_tools.ts';
import { finish, unwritten } from './finish.ts';
import { forgetHalf, readHistory } from './history.ts';
import { countRequests, stepToCall } from './machine.ts';
import { said } from './open.ts';
import { Draining, type Work } from './parts.ts';
import { requestOf } from './prompt.ts';

/** Works until the run ends; throws what `end_badly` turns into an outcome, or Draining and LostRun to leave it. */
export async function workThrough(work: Work): Promise<void> {
  work.history = await readHistory(work);
  for (;;) {
    if (work.signal.aborted) throw work.signal.reason;
    if (work.draining()) throw new Draining();
    const step = stepToCall(work.steps);
    if (step !== null) {
      const called = await callTools(work, step);
      if (called.kind === 'parked') return;
      if (called.kind === 'answer') return finish(work, answered(work, called.text));
      continue;
    }
    if (countRequests(work.steps) >= work.spec.limits.maxSteps) {
      const text = work.words.tooManySteps(work.spec.limits.maxSteps);
      return finish(work, { state: 'failed', markdown: text, history: `[${text}]`, error: 'max_steps' });
    }
    if (await ask(work)) return;
  }
}

/** One model request and its step; true when it ended the run. */
async function ask(work: Work): Promise<boolean> {
  await steer(work);
  const { parts, run } = work;
  let request = await requestOf(work);
  const ledgerId = newId(parts.clock.now());
  if (!(await reserveFor(work, request, ledgerId))) {
    const text = work.words.overBudget;
    await finish(work, { state: 'budget_exceeded', markdown: text, history: `[${text}]`, error: 'budget' });
    return true;
  }
  let answer: ModelAnswer;
  try {
    answer = await askModel(work, request);
  } catch (error) {
    if (!(error instanceof ModelError && error.kind === 'too_long') || !(await forgetHalf(work))) throw error;
    // Estimates can be wrong; what was reserved for the longer request is enough for this one.
    request = await requestOf(work);
    answer = await askModel(work, request);
  }
  const step: StepBody = { kind: 'assistant', message: answer.message, finish: answer.finish };
  const seq = work.steps.length;
  const decided = await parts.policies.decide(work.policyRun, work.offer, answer.calls);
  const write = async (q: Transaction, now: number) => {
    await bookAnswer(q, work, ledgerId, answer, now);
    await addCalls(q, work, seq, answer, decided);
  };
  if (answer.calls.length === 0) {
    await finish(work, answered(work, textOf(work, answer)), { step, write });
    return true;
  }
  await parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    const now = parts.clock.now();
    await addSteps(q, run.id, ...unwritten(work, step), now);
    await write(q, now);
    await bookUnbooked(q, work, now);
  });
  work.openingUnwritten = false;
  work.unbooked.length = 0;
  work.steps.push(step);
  return false;
}

function askModel(work: Work, request: ModelRequest): Promise<ModelAnswer> {
  work.stream.reset();
  return work.model.ask(
    request,
    {
      onText: (delta) => work.stream.add(delta),
      onReset: () => work.stream.reset(),
      onSpent: (profile, usage) => void work.unbooked.push({ profile, usage }),
    },
    work.signal,
  );
}

async function addCalls(
  q: Transaction,
  work: Work,
  step: number,
  answer: ModelAnswer,
  decided: readonly DecidedCall[],
): Promise<void> {
  for (const [position, call] of answer.calls.entries()) {
    const { offered, decision } = decided[position] as DecidedCall;
    await addToolCall(q, work.run.id, {
      step,
      callId: call.id,
      position,
      name: call.name,
      capability: offered?.capability ?? null,
      tool: offered?.own.id ?? null,
      input: call.input,
      verdict: decision.verdict,
      rule: decision.rule,
    });
  }
}

/**
 * `on_busy: steer`: the same person's next messages join before the next model request (rule 22). What somebody changed
 * of their message while people were asked joins always (rule 3).
 */
async function steer(work: Work): Promise<void> {
  const { parts, run } = work;
  const wasParked = run.historyTurns !== null;
  const steers = work.binding?.onBusy === 'steer';
  if ((!steers && !wasParked) || countRequests(work.steps) === 0) return;
  const step = await parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    const now = parts.clock.now();
    const due = steers
      ? await dueMessages(q, work.conversation.id, now, limits.waitingMessagesMax)
      : await followUpsOf(q, run.id);
    const [first] = due;
    // What was said in another thread is answered there (rule 21).
    if (first?.userId !== run.userId || first.thread !== (run.place.thread ?? null)) return null;
    const taken = takeTogether(due);
    const group = work.conversation.audience !== 'direct';
    const unread = taken
      .flatMap((row) => row.payload?.files ?? [])
      .map((file) => `${file.name}: ${work.words.fileReason.failed}`);
    const body: StepBody = { kind: 'user', reminder: null, messages: taken.map((row) => said(row, group)), unread };
    await addStep(q, run.id, work.steps.length, body, now);
    await takeMessages(
      q,
      taken.map((row) => row.id),
      run.id,
    );
    return body;
  });
  if (step) work.steps.push(step);
}

/** The last step's words; a model that says its piece before a tool call and nothing after it has answered there. */
function textOf(work: Work, answer: ModelAnswer): string {
  const earlier = work.steps.findLast((step) => step.kind === 'assistant' && !isEmpty(work, step.message.text));
  const before = earlier?.kind === 'assistant' ? earlier.message.text : '';
  const text = isEmpty(work, answer.text) ? before : answer.text;
  const shown = isEmpty(work, text) ? work.words.emptyAnswer : text;
  return answer.finish === 'length' ? `${shown}\n\n_${work.words.answerCut}_` : shown;
}

/** Nothing would be visible of it, as of an empty code block. */
function isEmpty({ adapter }: Work, text: string): boolean {
  if (text.trim() === '') return true;
  // A line that begins with a letter shows it, whatever Markdown makes of the rest.
  if (/^[a-z]/i.test(text)) return false;
  const { measure, textLength } = adapter.limits;
  return text.length <= textLength && measure(text) === 0;
}

function answered(work: Work, text: string) {
  const unread = work.steps.flatMap((step) => (step.kind === 'user' ? step.unread : []));
  const note = unread.length === 0 ? '' : `\n\n_${work.words.filesNotRead(unread)}_`;
  return { state: 'completed' as const, markdown: text + note, history: text, error: null };
}
