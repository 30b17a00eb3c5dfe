/** Spending caps (rule 73): the most a request can cost is reserved in the transaction that checks them. */
import { newId } from '../base/ids.ts';
import { startOfDay } from '../base/time.ts';
import { costOf, mostCost, requestBytes } from '../models/cost.ts';
import { chainOf } from '../models/create_model.ts';
import type { Transaction } from '../store/db.ts';
import { book, type LedgerRow, reserve, spent } from '../store/ledger.ts';
import { assertOwned } from '../store/runs.ts';
import type { ModelRequest, Usage } from '../types/model.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';
import type { Work } from './parts.ts';

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

/** True when the request may be made. Without caps, or without a known price, nothing is reserved. */
export async function reserveFor(work: Work, request: ModelRequest, ledgerId: string): Promise<boolean> {
  const { parts, spec, binding } = work;
  const caps = capsOf(spec, binding);
  if (!hasCaps(caps)) return true;
  const settings = parts.settings();
  const profiles = chainOf(spec.model, settings.models);
  const bytes = requestBytes(request);
  const most = Math.max(0, ...profiles.map((candidate) => mostCost(candidate, bytes) ?? 0));
  const now = parts.clock.now();
  const reserved = await parts.db.tx(async (q) => {
    await assertOwned(q, work.run.id, parts.owner);
    await bookUnbooked(q, work, now);
    return reserveWithin(q, caps, ledgerRow(work, ledgerId, spec.model), most, startOfDay(now, settings.timezone), now);
  });
  work.unbooked.length = 0;
  return reserved;
}

/** Books what an answered request used under the id it was reserved with. */
export async function bookAnswer(
  q: Transaction,
  work: Work,
  ledgerId: string,
  answer: { profile: string; usage: Usage },
  now: number,
): Promise<void> {
  const { profile, usage } = answer;
  await book(q, ledgerRow(work, ledgerId, profile), usage, priceOf(work, profile, usage), now);
}

/** Emptied by the caller after the commit, since a transaction may run more than once. */
export async function bookUnbooked(q: Transaction, work: Work, now: number): Promise<void> {
  for (const spent of work.unbooked) await bookAnswer(q, work, newId(now), spent, now);
}

function ledgerRow(work: Work, id: string, profile: string): LedgerRow {
  return { id, runId: work.run.id, agent: work.run.agent, binding: work.run.binding, profile };
}

function priceOf(work: Work, profile: string, usage: Usage): number | null {
  const known = work.parts.settings().models[profile];
  return known ? costOf(known, usage) : null;
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
