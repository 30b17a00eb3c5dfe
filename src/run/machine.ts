/** The run's state machine, pure. `store/runs.ts` guards the same transitions by compare-and-set on state and owner. */
import { assert } from '../base/errors.ts';
import type { RunState, StepBody } from '../types/run.ts';

const transitions: Record<RunState, readonly RunState[]> = {
  queued: ['running'],
  running: ['awaiting_approval', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'guardrail_blocked'],
  awaiting_approval: ['queued', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
  budget_exceeded: [],
  guardrail_blocked: [],
};

export function canBecome(from: RunState, to: RunState): boolean {
  return transitions[from].includes(to);
}

export function isFinal(state: RunState): boolean {
  return transitions[state].length === 0;
}

/**
 * The step whose calls wait for results; null = the model is asked. It follows from the persisted steps alone, so that
 * a restart goes on where the run stopped.
 */
export function stepToCall(steps: readonly StepBody[]): number | null {
  const last = steps.at(-1);
  assert(last, 'a run begins with what people said');
  if (last.kind !== 'assistant') return null;
  assert(last.message.calls.length > 0, 'a step without calls and the end of its run are written together');
  return steps.length - 1;
}

export function countRequests(steps: readonly StepBody[]): number {
  return steps.filter((step) => step.kind === 'assistant').length;
}
