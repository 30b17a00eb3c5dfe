/** What model requests used and cost, one row a request (rule 73). */
import type { Usage } from '../types/model.ts';
import type { Query } from './db.ts';

export interface Spending {
  /** USD, of settled rows and of reservations still open. */
  usd: number;
  /** Some request had no known price: the sum is "at least". */
  partial: boolean;
}

export interface LedgerTotals extends Spending {
  requests: number;
  input: number;
  cachedInput: number;
  output: number;
}

interface Scope {
  column: 'run_id' | 'agent' | 'binding';
  value: string;
  since: number;
}

export async function spent(q: Query, scope: Scope): Promise<LedgerTotals> {
  const row = await q.get<{
    requests: number;
    usd: number | null;
    unknown: number | null;
    input: number | null;
    cached: number | null;
    output: number | null;
  }>(
    `select count(*) as requests, sum(case when settled = 1 then coalesce(cost_usd, 0) else reserved_usd end) as usd,
       sum(case when settled = 1 and cost_usd is null then 1 else 0 end) as unknown,
       sum(input_tokens) as input, sum(cached_input_tokens) as cached, sum(output_tokens) as output
     from ledger where ${scope.column} = ? and created_at >= ?`,
    scope.value,
    scope.since,
  );
  return {
    requests: row?.requests ?? 0,
    usd: row?.usd ?? 0,
    partial: (row?.unknown ?? 0) > 0,
    input: row?.input ?? 0,
    cachedInput: row?.cached ?? 0,
    output: row?.output ?? 0,
  };
}

export interface LedgerRow {
  id: string;
  runId: string;
  agent: string;
  binding: string;
  profile: string;
}

export async function reserve(q: Query, row: LedgerRow, usd: number, now: number): Promise<void> {
  await q.run(
    `insert into ledger (id, run_id, agent, binding, profile, input_tokens, cached_input_tokens, output_tokens, cost_usd,
       reserved_usd, settled, created_at) values (?, ?, ?, ?, ?, 0, 0, 0, null, ?, 0, ?)`,
    row.id,
    row.runId,
    row.agent,
    row.binding,
    row.profile,
    usd,
    now,
  );
}

/** Books a request: settles its reservation, or adds a row where none was needed. */
export async function book(q: Query, row: LedgerRow, usage: Usage, costUsd: number | null, now: number): Promise<void> {
  await q.run(
    `insert into ledger (id, run_id, agent, binding, profile, input_tokens, cached_input_tokens, output_tokens, cost_usd,
       reserved_usd, settled, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1, ?)
     on conflict (id) do update set profile = excluded.profile, input_tokens = excluded.input_tokens,
       cached_input_tokens = excluded.cached_input_tokens, output_tokens = excluded.output_tokens,
       cost_usd = excluded.cost_usd, reserved_usd = 0, settled = 1`,
    row.id,
    row.runId,
    row.agent,
    row.binding,
    row.profile,
    usage.input,
    usage.cachedInput,
    usage.output,
    costUsd,
    now,
  );
}

/**
 * What failed requests cost is booked apart, so what is still held for one (by its id), or for all of a run that ended,
 * is given back.
 */
export async function releaseReserved(q: Query, of: { request: string } | { run: string }): Promise<void> {
  const [column, id] = 'run' in of ? ['run_id', of.run] : ['id', of.request];
  await q.run(`delete from ledger where ${column} = ? and settled = 0`, id);
}

/** A request that was under way when its process died: what it cost is not known. */
export async function settleLost(q: Query, runId: string): Promise<void> {
  await q.run(
    'update ledger set settled = 1, cost_usd = null, reserved_usd = 0 where run_id = ? and settled = 0',
    runId,
  );
}

export interface AgentUsage {
  agent: string;
  runs: number;
  input: number;
  cachedInput: number;
  output: number;
  usd: number;
  partial: boolean;
}

/** One row an agent, the dearest first. */
export async function usageByAgent(q: Query, since: number): Promise<AgentUsage[]> {
  const rows = await q.all<{
    agent: string;
    runs: number;
    input: number;
    cached: number;
    output: number;
    usd: number;
    unknown: number;
  }>(
    `select agent, count(distinct run_id) as runs, sum(input_tokens) as input, sum(cached_input_tokens) as cached,
       sum(output_tokens) as output, sum(coalesce(cost_usd, 0)) as usd,
       sum(case when settled = 1 and cost_usd is null then 1 else 0 end) as unknown
     from ledger where created_at >= ? group by agent order by usd desc, agent`,
    since,
  );
  return rows.map(({ cached, unknown, ...row }) => ({ ...row, cachedInput: cached, partial: unknown > 0 }));
}
