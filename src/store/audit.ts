import { idsBefore } from '../base/ids.ts';
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

interface AuditRow {
  id: string;
  at: number;
  actor: string;
  action: string;
  subject: string;
  before: string | null;
  after: string | null;
}

const entryOf = ({ id, at, actor, action, subject, before, after }: AuditRow): AuditEntry => ({
  id,
  at,
  actor,
  action,
  subject,
  ...(before === null ? {} : { before: JSON.parse(before) as Json }),
  ...(after === null ? {} : { after: JSON.parse(after) as Json }),
});

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

/** The newest first. */
export async function listAudit(q: Query, limit: number): Promise<AuditEntry[]> {
  return (await q.all<AuditRow>('select * from audit order by id desc limit ?', limit)).map(entryOf);
}

/** The newest first; with an actor only what that one did. */
export async function auditSince(
  q: Query,
  wanted: { action: string; since: number; actor?: string },
): Promise<AuditEntry[]> {
  const rows = await q.all<AuditRow>(
    `select * from audit where id >= ? and at >= ? and action = ?${wanted.actor === undefined ? '' : ' and actor = ?'}
     order by id desc`,
    idsBefore(wanted.since),
    wanted.since,
    wanted.action,
    ...(wanted.actor === undefined ? [] : [wanted.actor]),
  );
  return rows.map(entryOf);
}
