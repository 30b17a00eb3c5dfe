/**
 * Runs the tool calls of one step. The intent is committed before an effect and the result after it; a call found
 * started and unfinished after a crash runs again only if its tool is read-only or idempotent (D2).
 */
import { limits } from '../base/limits.ts';
import type { OfferedTool } from '../capability/attach.ts';
import { type Approval, approvalsOfStep } from '../store/approvals.ts';
import type { Transaction } from '../store/db.ts';
import { addStep, assertOwned } from '../store/runs.ts';
import { finishToolCall, readToolCalls, type StoredCall, startToolCall } from '../store/tool_calls.ts';
import { type ResolvedCall, readCall, repeatable, resolveCall, runTool, unknownOutcome } from '../tools/host.ts';
import type { StepBody } from '../types/run.ts';
import type { ToolCall, ToolResult } from '../types/tool.ts';
import { askAndPark, type Judged, judgeAsked, standingNo, type Wanted } from './park.ts';
import type { Work } from './parts.ts';
import { isStillAdmitted } from './still_admitted.ts';

/** `answer`: a terminal tool succeeded, and the run ends with it, which writes the results. `parked`: people were asked. */
export type Called = { kind: 'answer'; text: string } | { kind: 'results' } | { kind: 'parked' };

export async function callTools(work: Work, step: number): Promise<Called> {
  const { parts, run } = work;
  const stored = await readToolCalls(parts.db, run.id, step);
  const results = new Map<string, ToolResult>();
  for (const call of stored)
    if (call.state === 'finished')
      results.set(call.callId, { toolUseId: call.callId, content: call.content ?? '', isError: call.isError });
  const settle = async (settled: readonly ToolResult[]) => {
    for (const result of settled) results.set(result.toolUseId, result);
    if (settled.length === 0) return;
    await commit(work, async (q, now) => {
      for (const result of settled) await finishToolCall(q, run.id, step, result.toolUseId, result, now);
    });
  };
  // Only a run that was parked has questions behind it.
  const asked = run.historyTurns === null ? [] : await approvalsOfStep(parts.db, run.id, step);
  const open = () => stored.filter((call) => !results.has(call.callId));
  if (run.historyTurns !== null && !(await isStillAdmitted(work)))
    await settle(
      open()
        .filter(({ state }) => state !== 'started')
        .map(({ callId, name }) =>
          refuse(work, callId, `${name} was not run: who asked for it is not let in here any more. This is final.`),
        ),
    );
  // What may run does, before people are asked about the rest (rule 53).
  let wanted: Wanted[] = [];
  for (const group of groupsOf(work, open())) {
    if (work.signal.aborted) throw work.signal.reason;
    const outcome = await runGroup(work, step, group, asked);
    wanted.push(...outcome.wanted);
    await settle(outcome.results);
  }
  while (wanted.length > 0) {
    const refusals = await askAndPark(work, step, wanted);
    if (refusals.length === 0) return { kind: 'parked' };
    await settle(refusals);
    wanted = wanted.filter(({ callId }) => !results.has(callId));
  }
  const terminal = terminalAnswer(work, stored, results);
  if (terminal !== null) return { kind: 'answer', text: terminal };
  const body: StepBody = {
    kind: 'results',
    message: {
      role: 'tool',
      results: stored.map((call) => {
        const result = results.get(call.callId) as ToolResult;
        return { id: call.callId, name: call.name, content: result.content, isError: result.isError };
      }),
    },
  };
  await commit(work, (q, now) => addStep(q, run.id, work.steps.length, body, now));
  work.steps.push(body);
  return { kind: 'results' };
}

/** From all results of the step, those of before a restart too, so that the run ends the same way after it. */
function terminalAnswer(
  work: Work,
  stored: readonly StoredCall[],
  results: ReadonlyMap<string, ToolResult>,
): string | null {
  const ends = (name: string) =>
    work.offer.tools.some(({ tool }) => tool.name === name && tool.terminalOnSuccess === true);
  const last = stored.findLast((call) => ends(call.name) && results.get(call.callId)?.isError === false);
  return last === undefined ? null : (results.get(last.callId)?.content ?? null);
}

interface Pending {
  stored: StoredCall;
  call: ToolCall;
  reading: boolean;
}

/** Consecutive read-only calls side by side, ten at most; every other call alone, in the model's order. */
function groupsOf(work: Work, calls: readonly StoredCall[]): Pending[][] {
  const groups: Pending[][] = [];
  for (const stored of calls) {
    const call: ToolCall = { id: stored.callId, name: stored.name, input: stored.input };
    const reading = readCall(call, work.offer).offered?.own.annotations.readOnlyHint === true;
    const pending = { stored, call, reading };
    const last = groups.at(-1);
    if (last && reading && last.every((one) => one.reading) && last.length < limits.parallelReadsMax)
      last.push(pending);
    else groups.push([pending]);
  }
  return groups;
}

interface GroupOutcome {
  results: ToolResult[];
  wanted: Wanted[];
}

async function runGroup(
  work: Work,
  step: number,
  group: readonly Pending[],
  asked: readonly Approval[],
): Promise<GroupOutcome> {
  const calls = group.map(({ call }) => call);
  // Decided again when it is about to run: policies may have changed since, and block wins (rule 38).
  const decided = await work.parts.policies.decide(work.policyRun, work.offer, calls);
  const resolved = decided.map((one) => resolveCall(one, work.offer.tools));
  const [first] = group as [Pending];
  const [only] = resolved as [ResolvedCall];
  // Whatever policies say by now, it may have taken effect before.
  if (first.stored.state === 'started' && !(only.offered && repeatable(only.offered.tool)))
    return { results: [{ toolUseId: first.call.id, content: unknownOutcome, isError: true }], wanted: [] };
  const outcome: GroupOutcome = { results: [], wanted: [] };
  const runs: { call: ResolvedCall; answers?: readonly (string | null)[] }[] = [];
  for (const one of resolved) {
    const { call, offered, refusal, decision } = one;
    const ofCall = asked.filter(({ callId }) => callId === call.id);
    if (refusal !== null || !offered) {
      outcome.results.push(refuse(work, call.id, refusal ?? ''));
      continue;
    }
    const isAllowed = decision.verdict === 'allow' && !offered.own.questions;
    const judged: Judged = isAllowed ? (standingNo(ofCall) ?? { kind: 'run' }) : judgeAsked(work, one, ofCall);
    if (judged.kind === 'ask') {
      const { questions, replaced } = judged;
      outcome.wanted.push({ callId: call.id, tool: offered.own.id, questions, replaced });
    } else if (judged.kind === 'refuse') outcome.results.push(refuse(work, call.id, judged.why));
    else runs.push({ call: one, ...(judged.answers ? { answers: judged.answers } : {}) });
  }
  if (runs.length > 0 && !first.reading)
    await commit(work, (q, now) => startToolCall(q, work.run.id, step, first.call.id, now));
  outcome.results.push(...(await Promise.all(runs.map(({ call, answers }) => runOne(work, call, answers)))));
  return outcome;
}

function refuse(work: Work, toolUseId: string, content: string): ToolResult {
  work.parts.count('tool_calls_refused');
  return { toolUseId, content, isError: true };
}

async function runOne(
  work: Work,
  { call, offered }: ResolvedCall,
  answers: readonly (string | null)[] | undefined,
): Promise<ToolResult> {
  const { tool } = offered as OfferedTool;
  work.parts.count('tool_calls');
  work.status.say(work.words.usingTool(tool.id));
  const result = await runTool(tool, call, {
    ...work.toolContext,
    toolUseId: call.id,
    ...(answers ? { answers } : {}),
    progress: (text) => work.status.say(text.slice(0, 200)),
  });
  work.status.say(work.words.thinking);
  return result;
}

function commit(work: Work, write: (q: Transaction, now: number) => Promise<void>): Promise<void> {
  const { parts, run } = work;
  return parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    await write(q, parts.clock.now());
  });
}
