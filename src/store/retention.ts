/** Removes what is older than the configuration keeps (in small steps, so that no writer waits for long). */
import { idsBefore } from '../base/ids.ts';
import type { Db } from './db.ts';

export interface RetentionTimes {
  /** Epoch milliseconds: older turns and the words of older messages go. */
  messagesBefore: number;
  /** Older finished runs with their steps, calls and outbox rows. */
  runsBefore: number;
  /** Dedupe keys; never younger than `inboxKeyDays` (rule 2). */
  keysBefore: number;
  now: number;
}

const rowsPerStep = 500;
const finished = `('completed', 'failed', 'cancelled', 'budget_exceeded', 'guardrail_blocked')`;

/** Returns how many rows went. */
export async function removeOld(db: Db, times: RetentionTimes): Promise<number> {
  const runIds = `select id from runs where id < ? and state in ${finished} and finished_at < ? limit ${rowsPerStep}`;
  let removed = 0;
  const repeat = async (sql: string, ...params: (number | string)[]) => {
    for (;;) {
      const changed = await db.tx((q) => q.run(sql, ...params));
      removed += changed;
      if (changed < rowsPerStep) return;
    }
  };
  const outbox = `delete from outbox where id in (select id from outbox where id < ? and state in ('sent', 'failed') limit ${rowsPerStep})`;
  await repeat(outbox, idsBefore(times.runsBefore));
  for (;;) {
    const gone = await db.tx(async (q) => {
      const runs = await q.all<{ id: string }>(runIds, idsBefore(times.runsBefore), times.runsBefore);
      for (const { id } of runs) {
        await q.run('delete from tool_calls where run_id = ?', id);
        await q.run('delete from steps where run_id = ?', id);
        await q.run('delete from runs where id = ?', id);
      }
      return runs.length;
    });
    removed += gone;
    if (gone < rowsPerStep) break;
  }
  await repeat(
    `delete from turns where (conversation_id, seq) in (select conversation_id, seq from turns where created_at < ? limit ${rowsPerStep})`,
    times.messagesBefore,
  );
  await repeat(
    `update inbox set payload = null where id in (select id from inbox where id < ? and state = 'done' and payload is not null limit ${rowsPerStep})`,
    idsBefore(times.messagesBefore),
  );
  await repeat(
    `delete from inbox where id in (select id from inbox where id < ? and state in ('ignored', 'refused', 'handled', 'done') limit ${rowsPerStep})`,
    idsBefore(times.keysBefore),
  );
  await repeat(
    `delete from journal where seq in (select seq from journal where created_at < ? limit ${rowsPerStep})`,
    times.messagesBefore,
  );
  await db.tx((q) => q.run('delete from pairings where expires_at < ?', times.now));
  return removed;
}
