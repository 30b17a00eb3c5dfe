/** Calls of skills by the API that people decide: asked → started → finished, each change once (compare-and-set). */
import type { JsonObject } from '../types/json.ts';
import type { Query } from './db.ts';

export interface SkillCall {
  id: string;
  approvalId: string;
  skill: string;
  input: JsonObject;
  channel: string;
  userId: string;
  state: 'asked' | 'started' | 'finished';
  content: string | null;
  isError: boolean;
  startedAt: number | null;
}

interface SkillCallRow {
  id: string;
  approval_id: string;
  skill: string;
  input: string;
  channel: string;
  user_id: string;
  state: SkillCall['state'];
  content: string | null;
  is_error: number | null;
  started_at: number | null;
}

const callOf = (row: SkillCallRow): SkillCall => ({
  id: row.id,
  approvalId: row.approval_id,
  skill: row.skill,
  input: JSON.parse(row.input) as JsonObject,
  channel: row.channel,
  userId: row.user_id,
  state: row.state,
  content: row.content,
  isError: row.is_error === 1,
  startedAt: row.started_at,
});

export async function addSkillCall(
  q: Query,
  call: Pick<SkillCall, 'id' | 'approvalId' | 'skill' | 'input' | 'channel' | 'userId'>,
  now: number,
): Promise<void> {
  await q.run(
    `insert into skill_calls (id, approval_id, skill, input, channel, user_id, state, created_at)
     values (?, ?, ?, ?, ?, ?, 'asked', ?)`,
    call.id,
    call.approvalId,
    call.skill,
    JSON.stringify(call.input),
    call.channel,
    call.userId,
    now,
  );
}

export async function findSkillCall(q: Query, approvalId: string): Promise<SkillCall | null> {
  const row = await q.get<SkillCallRow>('select * from skill_calls where approval_id = ?', approvalId);
  return row ? callOf(row) : null;
}

/** Those whose question is closed, oldest first. */
export async function decidedSkillCalls(q: Query, limit: number): Promise<SkillCall[]> {
  const rows = await q.all<SkillCallRow>(
    `select s.* from skill_calls s where s.state in ('asked', 'started') and s.state = 'asked'
       and exists (select 1 from approvals a where a.id = s.approval_id and a.state <> 'pending') order by s.id limit ?`,
    limit,
  );
  return rows.map(callOf);
}

export async function startSkillCall(q: Query, id: string, now: number): Promise<boolean> {
  const changed = await q.run(
    `update skill_calls set state = 'started', started_at = ? where id = ? and state = 'asked'`,
    now,
    id,
  );
  return changed > 0;
}

export async function finishSkillCall(
  q: Query,
  id: string,
  result: { content: string; isError: boolean },
  now: number,
): Promise<boolean> {
  const changed = await q.run(
    `update skill_calls set state = 'finished', content = ?, is_error = ?, finished_at = ? where id = ? and state <> 'finished'`,
    result.content,
    result.isError ? 1 : 0,
    now,
    id,
  );
  return changed > 0;
}

/** Begun before that time and never finished: their process is gone, and what became of them is not known. */
export async function lostSkillCalls(q: Query, before: number): Promise<string[]> {
  const rows = await q.all<{ id: string }>(
    `select id from skill_calls where state in ('asked', 'started') and state = 'started' and started_at < ?`,
    before,
  );
  return rows.map(({ id }) => id);
}

export async function countAskedBy(q: Query, channel: string, userId: string): Promise<number> {
  const row = await q.get<{ n: number }>(
    `select count(*) as n from skill_calls where state in ('asked', 'started') and channel = ? and user_id = ?`,
    channel,
    userId,
  );
  return row?.n ?? 0;
}
