/** The tool calls of a run's steps: requested, then started where that may have an effect, then finished (D2). */
import type { Json } from '../types/json.ts';
import type { ToolCallState } from '../types/run.ts';
import type { Query } from './db.ts';

export interface StoredCall {
  callId: string;
  name: string;
  input: Json;
  state: ToolCallState;
  content: string | null;
  isError: boolean;
}

interface CallRow {
  call_id: string;
  name: string;
  input: string;
  state: ToolCallState;
  content: string | null;
  is_error: number | null;
}

/** What the call is, and for people which tool it meant and which rule decided. */
export interface NewToolCall extends Pick<StoredCall, 'callId' | 'name' | 'input'> {
  step: number;
  position: number;
  capability: string | null;
  tool: string | null;
  verdict: string;
  rule: string;
}

export async function addToolCall(q: Query, runId: string, call: NewToolCall): Promise<void> {
  await q.run(
    `insert into tool_calls (run_id, step, call_id, position, name, capability, tool, input, state, verdict, rule)
     values (?, ?, ?, ?, ?, ?, ?, ?, 'requested', ?, ?)`,
    runId,
    call.step,
    call.callId,
    call.position,
    call.name,
    call.capability,
    call.tool,
    JSON.stringify(call.input),
    call.verdict,
    call.rule,
  );
}

export async function readToolCalls(q: Query, runId: string, step: number): Promise<StoredCall[]> {
  const rows = await q.all<CallRow>(
    'select call_id, name, input, state, content, is_error from tool_calls where run_id = ? and step = ? order by position',
    runId,
    step,
  );
  return rows.map((row) => ({
    callId: row.call_id,
    name: row.name,
    input: JSON.parse(row.input) as StoredCall['input'],
    state: row.state,
    content: row.content,
    isError: row.is_error === 1,
  }));
}

/** The intent, committed before the effect (STYLE 9). */
export async function startToolCall(q: Query, runId: string, step: number, callId: string, now: number): Promise<void> {
  await q.run(
    `update tool_calls set state = 'started', started_at = ? where run_id = ? and step = ? and call_id = ?`,
    now,
    runId,
    step,
    callId,
  );
}

export async function finishToolCall(
  q: Query,
  runId: string,
  step: number,
  callId: string,
  result: { content: string; isError: boolean },
  now: number,
): Promise<void> {
  await q.run(
    `update tool_calls set state = 'finished', content = ?, is_error = ?, finished_at = ?
     where run_id = ? and step = ? and call_id = ? and state <> 'finished'`,
    result.content,
    result.isError ? 1 : 0,
    now,
    runId,
    step,
    callId,
  );
}
