/** The run's state machine, pure. `store/runs.ts` guards the same transitions by compare-and-set on state and owner. */
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

export type Next = { do: 'open' } | { do: 'ask' } | { do: 'call_tools'; step: number } | { do: 'finish' };

/** What a run does next follows from its persisted steps alone, so that a restart goes on where it stopped. */
export function nextOf(steps: readonly StepBody[]): Next {
  const last = steps.at(-1);
  if (!last) return { do: 'open' };
  if (last.kind !== 'assistant') return { do: 'ask' };
  return last.message.calls.length > 0 ? { do: 'call_tools', step: steps.length - 1 } : { do: 'finish' };
}

export function countRequests(steps: readonly StepBody[]): number {
  return steps.filter((step) => step.kind === 'assistant').length;
}
