import type { Json } from '../types/json.ts';
import type { Query } from './db.ts';

export interface AuditEntry {
  id: string;
  at: number;
  /** `<channel>:<user id>`, or `cli`, or `gateway`. */
  actor: string;
  action: string;
  subject: string;
  before?: Json;
  after?: Json;
}

/** Written in the transaction of the change itself, so that neither stands without the other (rule 91). */
export async function addAudit(q: Query, entry: AuditEntry): Promise<void> {
  await q.run(
    'insert into audit (id, at, actor, action, subject, before, after) values (?, ?, ?, ?, ?, ?, ?)',
    entry.id,
    entry.at,
    entry.actor,
    entry.action,
    entry.subject,
    entry.before === undefined ? null : JSON.stringify(entry.before),
    entry.after === undefined ? null : JSON.stringify(entry.after),
  );
}
