/**
 * Runs the tool calls of one step. The intent is committed before an effect and the result after it; a call found
 * started and unfinished after a crash runs again only if its tool is read-only or idempotent (D2).
 */
import { limits } from '../base/limits.ts';
import type { Transaction } from '../store/db.ts';
import { addStep, assertOwned } from '../store/runs.ts';
import { finishToolCall, readToolCalls, type StoredCall, startToolCall } from '../store/tool_calls.ts';
import { type ResolvedCall, readCall, repeatable, resolveCall, runTool, unknownOutcome } from '../tools/host.ts';
import type { StepBody } from '../types/run.ts';
import type { ToolCall, ToolResult } from '../types/tool.ts';
import type { Work } from './parts.ts';

/**
 * The answer when a terminal tool succeeded: the run ends with it, and its end writes the results. Else null: the
 * results are committed, and the run goes on with the model.
 */
export async function callTools(work: Work, step: number): Promise<string | null> {
  const { parts, run } = work;
  const stored = await readToolCalls(parts.db, run.id, step);
  const results = new Map<string, ToolResult>();
  for (const call of stored)
    if (call.state === 'finished')
      results.set(call.callId, { toolUseId: call.callId, content: call.content ?? '', isError: call.isError });
  for (const group of groupsOf(
    work,
    stored.filter((call) => !results.has(call.callId)),
  )) {
    if (work.signal.aborted) throw work.signal.reason;
    const settled = await runGroup(work, step, group);
    for (const result of settled) results.set(result.toolUseId, result);
    await commit(work, async (q, now) => {
      for (const result of settled) await finishToolCall(q, run.id, step, result.toolUseId, result, now);
    });
  }
  const terminal = terminalAnswer(work, stored, results);
  if (terminal !== null) return terminal;
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
  return null;
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

async function runGroup(work: Work, step: number, group: readonly Pending[]): Promise<ToolResult[]> {
  const calls = group.map(({ call }) => call);
  // Decided again when it is about to run: policies may have changed since, and block wins (rule 38).
  const decided = await work.parts.policies.decide(work.policyRun, work.offer, calls);
  const resolved = decided.map((one) => resolveCall(one, work.offer.tools));
  const [first] = group as [Pending];
  const [one] = resolved as [ResolvedCall];
  // Whatever policies say by now, it may have taken effect before.
  if (first.stored.state === 'started' && !(one.offered && repeatable(one.offered.tool)))
    return [{ toolUseId: first.call.id, content: unknownOutcome, isError: true }];
  if (!first.reading && one.refusal === null) {
    await commit(work, (q, now) => startToolCall(q, work.run.id, step, first.call.id, now));
  }
  return Promise.all(resolved.map((one) => runOne(work, one)));
}

async function runOne(work: Work, { call, offered, refusal }: ResolvedCall): Promise<ToolResult> {
  if (refusal !== null || !offered) {
    work.parts.count('tool_calls_refused');
    return { toolUseId: call.id, content: refusal ?? '', isError: true };
  }
  const { tool } = offered;
  work.parts.count('tool_calls');
  work.status.say(work.words.usingTool(tool.id));
  const result = await runTool(tool, call, {
    ...work.toolContext,
    toolUseId: call.id,
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
