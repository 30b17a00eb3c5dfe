/** Removes what is older than the configuration keeps (in small steps, so that no writer waits for long). */
import { idsBefore } from '../base/ids.ts';
import type { Db, Transaction } from './db.ts';

export interface RetentionTimes {
  /** Epoch milliseconds: older turns go, with the last one the summary, and the words of older messages. */
  messagesBefore: number;
  /** Older finished runs with their steps, calls and outbox rows. */
  runsBefore: number;
  /** Dedupe keys; never younger than `inboxKeyDays` (rule 2). */
  keysBefore: number;
  now: number;
}

const rowsPerStep = 500;

/** Returns how many rows went. */
export async function removeOld(db: Db, times: RetentionTimes): Promise<number> {
  let removed = 0;
  /** Takes rows in steps until none is left, and with the last row of a conversation the conversation. */
  const repeat = async (step: (q: Transaction) => Promise<{ rows: number; of?: readonly string[] }>) => {
    for (;;) {
      const { rows, conversations } = await db.tx(async (q) => {
        const taken = await step(q);
        let gone = 0;
        for (const id of new Set(taken.of)) gone += await forget(q, id);
        return { rows: taken.rows, conversations: gone };
      });
      removed += rows + conversations;
      if (rows < rowsPerStep) return;
    }
  };
  const repeatRun = (sql: string, before: number | string) => repeat(async (q) => ({ rows: await q.run(sql, before) }));

  await repeatRun(
    // The message of a card stays as long as its question, which may wait for longer than runs are kept.
    `delete from outbox where id in (select id from outbox where id < ? and state in ('sent', 'failed')
       and not exists (select 1 from cards where cards.outbox_id = outbox.id) limit ${rowsPerStep})`,
    idsBefore(times.runsBefore),
  );
  await repeat(async (q) => {
    const runs = await q.all<{ id: string; conversation_id: string }>(
      `select id, conversation_id from runs where id < ? and finished_at < ? limit ${rowsPerStep}`,
      idsBefore(times.runsBefore),
      times.runsBefore,
    );
    for (const { id } of runs) {
      await removeQuestions(q, id);
      await q.run('delete from tool_calls where run_id = ?', id);
      await q.run('delete from steps where run_id = ?', id);
      await q.run('delete from runs where id = ?', id);
    }
    return { rows: runs.length, of: runs.map((run) => run.conversation_id) };
  });
  await repeat(async (q) => {
    const calls = await q.all<{ id: string }>(
      `delete from skill_calls where id in (select id from skill_calls where id < ? and state = 'finished' limit ${rowsPerStep})
       returning id`,
      idsBefore(times.runsBefore),
    );
    for (const { id } of calls) await removeQuestions(q, id);
    return { rows: calls.length };
  });
  await repeat(async (q) => {
    const turns = await q.all<{ conversation_id: string }>(
      `delete from turns where (conversation_id, seq) in
         (select conversation_id, seq from turns where created_at < ? limit ${rowsPerStep}) returning conversation_id`,
      times.messagesBefore,
    );
    return { rows: turns.length, of: turns.map((turn) => turn.conversation_id) };
  });
  await repeatRun(
    `update inbox set payload = null where id in (select id from inbox where id < ? and state = 'done' and payload is not null limit ${rowsPerStep})`,
    idsBefore(times.messagesBefore),
  );
  await repeat(async (q) => {
    const rows = await q.all<{ conversation_id: string | null }>(
      `delete from inbox where id in (select id from inbox where id < ?
         and state in ('ignored', 'refused', 'handled', 'done') limit ${rowsPerStep}) returning conversation_id`,
      idsBefore(times.keysBefore),
    );
    return { rows: rows.length, of: rows.map((row) => row.conversation_id).filter((id) => id !== null) };
  });
  await repeatRun(
    `delete from journal where seq in (select seq from journal where created_at < ? limit ${rowsPerStep})`,
    times.messagesBefore,
  );
  await db.tx((q) => q.run('delete from pairings where expires_at < ?', times.now));
  return removed;
}

async function removeQuestions(q: Transaction, runId: string): Promise<void> {
  const ofRun = 'select id from approvals where run_id = ?';
  await q.run(`delete from signatures where approval_id in (${ofRun})`, runId);
  await q.run('delete from cards where batch in (select batch from approvals where run_id = ?)', runId);
  await q.run('delete from approvals where run_id = ?', runId);
}

/**
 * The summary goes with the last turn, the row with the last that belongs to it; 1 when it went. The open one that was
 * set to ask about everything stays set (rule 95).
 */
async function forget(q: Transaction, id: string): Promise<number> {
  const noTurns = 'not exists (select 1 from turns where turns.conversation_id = conversations.id)';
  await q.run(`update conversations set summary = null where id = ? and summary is not null and ${noTurns}`, id);
  return q.run(
    `delete from conversations where id = ? and ${noTurns} and (open = 0 or coalesce(mode, '') <> 'ask')
       and not exists (select 1 from runs where runs.conversation_id = conversations.id)
       and not exists (select 1 from inbox where inbox.conversation_id = conversations.id)`,
    id,
  );
}
