/**
 * Runs and their steps. "state in ('queued', 'running')" stands in every search for open runs, since it names the
 * small index they are found by. States and transitions are in `run/machine.ts`; here they are guarded by
 * compare-and-set on state and owner, so that a process that lost its lease cannot write.
 */
import { placeOf } from '../base/place.ts';
import type { Place } from '../types/message.ts';
import type { RunState, StepBody } from '../types/run.ts';
import type { Query, Transaction } from './db.ts';

/** `asked` by a person, who is told; `silent` because its message was deleted; `expired` since nobody decided in time. */
export type StopKind = 'asked' | 'silent' | 'expired';

export interface Run {
  id: string;
  conversationId: string;
  state: RunState;
  agent: string;
  agentVersion: number;
  binding: string;
  place: Place;
  replyTo: string | null;
  userId: string;
  stopRequested: StopKind | null;
  activeMs: number;
  /** Turns of the conversation when it was parked first; null = never was. */
  historyTurns: number | null;
  /** How often a process has begun to work on it. */
  claims: number;
  createdAt: number;
}

interface RunRow {
  id: string;
  conversation_id: string;
  state: RunState;
  agent: string;
  agent_version: number;
  binding: string;
  channel: string;
  chat: string;
  thread: string | null;
  reply_to: string | null;
  user_id: string;
  stop_requested: StopKind | null;
  active_ms: number;
  history_turns: number | null;
  claims: number;
  created_at: number;
}

function runOf(row: RunRow): Run {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    state: row.state,
    agent: row.agent,
    agentVersion: row.agent_version,
    binding: row.binding,
    place: placeOf(row.channel, row.chat, row.thread),
    replyTo: row.reply_to,
    userId: row.user_id,
    stopRequested: row.stop_requested,
    activeMs: row.active_ms,
    historyTurns: row.history_turns,
    claims: row.claims,
    createdAt: row.created_at,
  };
}

/**
 * Whoever puts a run into a lane holds this, so that two processes do not wait for each other's rows there, nor find the
 * lane taken only when they write. False when another one is at it: that one's run is the lane's next.
 */
const holdLane = (q: Transaction, conversationId: string) => q.tryLock(`lane ${conversationId}`);

/** False when its lane was taken in the meantime. */
export async function addRun(
  q: Transaction,
  run: Omit<Run, 'stopRequested' | 'activeMs' | 'state' | 'claims' | 'historyTurns'>,
): Promise<boolean> {
  if (!(await holdLane(q, run.conversationId))) return false;
  const added = await q.run(
    `insert into runs (id, conversation_id, state, agent, agent_version, binding, channel, chat, thread, reply_to,
       user_id, created_at) values (?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    run.id,
    run.conversationId,
    run.agent,
    run.agentVersion,
    run.binding,
    run.place.channel,
    run.place.chat,
    run.place.thread ?? null,
    run.replyTo,
    run.userId,
    run.createdAt,
  );
  return added > 0;
}

export async function readRun(q: Query, id: string): Promise<Run | null> {
  const row = await q.get<RunRow>('select * from runs where id = ?', id);
  return row ? runOf(row) : null;
}

/** Claims up to `limit` runs: new ones, and running ones whose owner's lease has ended. */
export async function claimRuns(
  q: Transaction,
  owner: string,
  now: number,
  leaseMs: number,
  limit: number,
): Promise<Run[]> {
  const rows = await q.all<RunRow>(
    `update runs set state = 'running', owner = ?, lease_until = ?, claims = claims + 1 where id in (
       select id from runs where state in ('queued', 'running') and (state = 'queued' or lease_until < ?)
       order by id limit ?${q.skipLocked}) returning *`,
    owner,
    now + leaseMs,
    now,
    limit,
  );
  return rows.map(runOf).sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Keeps the leases of runs that are really being worked on; those it does not return are not this owner's any more. */
export async function renewRuns(q: Query, owner: string, ids: readonly string[], until: number): Promise<Set<string>> {
  const places = ids.map(() => '?').join(', ');
  const renewed = await q.all<{ id: string }>(
    `update runs set lease_until = ? where state = 'running' and owner = ? and id in (${places}) returning id`,
    until,
    owner,
    ...ids,
  );
  return new Set(renewed.map(({ id }) => id));
}

/** SQLite has one gateway: what another owner left running is free at once. */
export async function freeForeignRuns(q: Query, owner: string): Promise<number> {
  return q.run(
    `update runs set lease_until = 0 where state in ('queued', 'running') and state = 'running' and owner <> ?`,
    owner,
  );
}

/** Gives a run back at once instead of letting the lease end. */
export async function releaseRun(q: Query, owner: string, id: string, notBefore: number): Promise<void> {
  await q.run(`update runs set lease_until = ? where id = ? and state = 'running' and owner = ?`, notBefore, id, owner);
}

/** Throws when the run is not this owner's any more: the transaction must not go on. */
export async function assertOwned(q: Transaction, runId: string, owner: string): Promise<void> {
  const row = await q.get(
    `select 1 as one from runs where id = ? and owner = ? and state = 'running'${q.forUpdate}`,
    runId,
    owner,
  );
  if (row === undefined) throw new LostRun(runId);
}

export class LostRun extends Error {
  constructor(runId: string) {
    super(`run ${runId} belongs to another process now`);
    this.name = 'LostRun';
  }
}

/** Throws when the run is not this owner's any more: the transaction must not go on. */
export async function finishRun(
  q: Query,
  runId: string,
  owner: string,
  end: { state: RunState; error: string | null; activeMs: number },
  now: number,
): Promise<void> {
  const finished = await q.run(
    `update runs set state = ?, error = ?, active_ms = ?, finished_at = ?, owner = null, lease_until = null
     where id = ? and owner = ? and state = 'running'`,
    end.state,
    end.error,
    end.activeMs,
    now,
    runId,
    owner,
  );
  if (finished === 0) throw new LostRun(runId);
}

/**
 * Parks a run that waits for people: its lane is free, and nobody works on it. Counts as begun once, so that it is given
 * up for crashes only. False when somebody has asked it to stop in the meantime.
 */
export async function parkRun(q: Query, runId: string, historyTurns: number, activeMs: number): Promise<boolean> {
  const changed = await q.run(
    `update runs set state = 'awaiting_approval', owner = null, lease_until = null, resume_at = null, claims = 1,
       history_turns = coalesce(history_turns, ?), active_ms = ? where id = ? and stop_requested is null`,
    historyTurns,
    activeMs,
    runId,
  );
  return changed > 0;
}

/** A parked run is to go on, or to end, as soon as its lane is free. False when it is not parked, or is already to. */
export async function resumeRun(q: Query, runId: string, stop: StopKind | null, now: number): Promise<boolean> {
  const changed = await q.run(
    `update runs set resume_at = ?, stop_requested = coalesce(?, stop_requested)
     where id = ? and state = 'awaiting_approval' and resume_at is null`,
    now,
    stop,
    runId,
  );
  return changed > 0;
}

/**
 * Puts parked runs that may go on into their lanes, where those are free; of one lane the first to be decided. How many
 * those were.
 */
export async function takeResumable(q: Transaction, limit: number): Promise<number> {
  const rows = await q.all<{ id: string; conversation_id: string }>(
    `select r.id, r.conversation_id from runs r where r.state = 'awaiting_approval' and r.resume_at is not null
       and not exists (select 1 from runs a where a.conversation_id = r.conversation_id and a.state in ('queued', 'running'))
     order by r.resume_at, r.id limit ?${q.skipLocked}`,
    limit,
  );
  const lanes = new Set<string>();
  let taken = 0;
  for (const { id, conversation_id: lane } of rows) {
    if (lanes.has(lane)) continue;
    lanes.add(lane);
    if (!(await holdLane(q, lane))) continue;
    // Looked at once more, now that nobody else can fill the lane.
    taken += await q.run(
      `update runs set state = 'queued', resume_at = null where id = ? and state = 'awaiting_approval'
         and not exists (select 1 from runs a where a.conversation_id = ? and a.state in ('queued', 'running'))`,
      id,
      lane,
    );
  }
  return taken;
}

/** Parked runs that are to go on or to end and wait for their lanes, and runs that wait to be claimed; `most` at most. */
export async function countDecided(q: Query, most: number): Promise<number> {
  const row = await q.get<{ n: number }>(
    `select count(*) as n from (
       select id from runs where state = 'awaiting_approval' and resume_at is not null
       union all select id from runs where state in ('queued', 'running') and state = 'queued' limit ?) as waiting`,
    most,
  );
  return row?.n ?? 0;
}

export async function countParked(q: Query, conversationId: string): Promise<number> {
  const row = await q.get<{ n: number }>(
    `select count(*) as n from runs where conversation_id = ? and state = 'awaiting_approval'`,
    conversationId,
  );
  return row?.n ?? 0;
}

/** Runs that wait for people in the conversations of a key, open or closed, oldest first. */
export async function parkedUnder(q: Query, key: string): Promise<Run[]> {
  const rows = await q.all<RunRow>(
    `select r.* from conversations c join runs r on r.conversation_id = c.id
     where c.key = ? and r.state = 'awaiting_approval' and r.resume_at is null order by r.id`,
    key,
  );
  return rows.map(runOf);
}

/** Also of a run that was decided and waits for its lane. False when there is none to stop. */
export async function requestStop(
  q: Transaction,
  of: { run: string } | { conversation: string },
  how: StopKind,
): Promise<boolean> {
  const [column, id] = 'run' in of ? ['id', of.run] : ['conversation_id', of.conversation];
  const changed = await q.run(
    `update runs set stop_requested = ? where ${column} = ?
       and (state in ('queued', 'running') or (state = 'awaiting_approval' and resume_at is not null))`,
    how,
    id,
  );
  if (changed > 0) q.ring('stop');
  return changed > 0;
}

export async function stopRequests(q: Query, owner: string): Promise<{ id: string; how: StopKind }[]> {
  return q.all(
    `select id, stop_requested as how from runs
     where state in ('queued', 'running') and state = 'running' and owner = ? and stop_requested is not null`,
    owner,
  );
}

export async function activeRun(q: Query, conversationId: string): Promise<Run | null> {
  const row = await q.get<RunRow>(
    `select * from runs where conversation_id = ? and state in ('queued', 'running')`,
    conversationId,
  );
  return row ? runOf(row) : null;
}

export async function countActiveRuns(q: Query): Promise<number> {
  const row = await q.get<{ n: number }>(`select count(*) as n from runs where state in ('queued', 'running')`);
  return row?.n ?? 0;
}

export function addStep(q: Query, runId: string, seq: number, body: StepBody, now: number): Promise<void> {
  return addSteps(q, runId, seq, [body], now);
}

/** From `seq` on. */
export async function addSteps(
  q: Query,
  runId: string,
  seq: number,
  bodies: readonly StepBody[],
  now: number,
): Promise<void> {
  if (bodies.length === 0) return;
  await q.run(
    `insert into steps (run_id, seq, kind, body, created_at) values ${bodies.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
    ...bodies.flatMap((body, index) => [runId, seq + index, body.kind, JSON.stringify(body), now]),
  );
}

export async function readSteps(q: Query, runId: string): Promise<StepBody[]> {
  const rows = await q.all<{ body: string }>('select body from steps where run_id = ? order by seq', runId);
  return rows.map((row) => JSON.parse(row.body) as StepBody);
}
