/** Spending caps (rule 73): the most a request can cost is reserved in the transaction that checks them. */
import type { Transaction } from '../store/db.ts';
import { type LedgerRow, reserve, spent } from '../store/ledger.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';

export interface Caps {
  run: number | null;
  agentDay: number | null;
  bindingDay: number | null;
}

export function capsOf(spec: AgentSpec, binding: BindingSpec | null): Caps {
  const { run, day } = spec.limits.budgetUsd;
  return { run, agentDay: day, bindingDay: binding?.budgetUsd.day ?? null };
}

export function hasCaps(caps: Caps): boolean {
  return caps.run !== null || caps.agentDay !== null || caps.bindingDay !== null;
}

/** Reserves `most` USD, or says that a cap would be passed. An unknown price cannot be held against a cap. */
export async function reserveWithin(
  q: Transaction,
  caps: Caps,
  row: LedgerRow,
  most: number,
  dayStart: number,
  now: number,
): Promise<boolean> {
  // Both the agent's and the binding's sums are read and added to under one lock.
  await q.lock('budget');
  const checks = [
    { cap: caps.run, scope: { column: 'run_id' as const, value: row.runId, since: 0 } },
    { cap: caps.agentDay, scope: { column: 'agent' as const, value: row.agent, since: dayStart } },
    { cap: caps.bindingDay, scope: { column: 'binding' as const, value: row.binding, since: dayStart } },
  ];
  for (const { cap, scope } of checks) {
    if (cap === null) continue;
    const { usd } = await spent(q, scope);
    if (usd + most > cap) return false;
  }
  await reserve(q, row, most, now);
  return true;
}

/** Percent of the fullest daily cap that is used; null without one. */
export async function dayUsePercent(
  q: Transaction,
  caps: Caps,
  row: Pick<LedgerRow, 'agent' | 'binding'>,
  dayStart: number,
): Promise<number | null> {
  const shares: number[] = [];
  if (caps.agentDay !== null)
    shares.push((await spent(q, { column: 'agent', value: row.agent, since: dayStart })).usd / caps.agentDay);
  if (caps.bindingDay !== null)
    shares.push((await spent(q, { column: 'binding', value: row.binding, since: dayStart })).usd / caps.bindingDay);
  return shares.length === 0 ? null : Math.round(Math.max(...shares) * 100);
}
