/**
 * What people are shown, a row before it is sent. Rows of a chat are delivered in the order of their ids.
 *
 *   pending   not sent, or certainly not arrived
 *   sending   a process is at it; found with an ended lease, the outcome is unknown
 *   sent      the platform took it; `ref` is its message
 *   failed    given up; people were told once
 */
import { placeOf } from '../base/place.ts';
import type { Place, Question } from '../types/message.ts';
import type { Query } from './db.ts';

/** `send` posts a message; `edit` replaces the words of the message of another row. */
export type OutboxKind = 'send' | 'edit';

/**
 * Lower goes first when an account's budget is short (rule 85). `rest` is what follows the first message of a long
 * answer; only it is paced before a platform complains, since everything else answers something that came in. A `report`
 * says that a delivery failed; it answers nobody and is the only thing that is rather lost than said twice.
 */
export const outboxPriority = { question: 0, answer: 1, rest: 2, notice: 3, report: 4 } as const;

export interface OutboxRow {
  id: string;
  place: Place;
  /** A chat with one person: its pace differs from a room's. */
  direct: boolean;
  kind: OutboxKind;
  target: string | null;
  runId: string | null;
  replyTo: string | null;
  markdown: string;
  question: Question | null;
  priority: number;
  state: 'pending' | 'sending' | 'sent' | 'failed';
  unknownSends: number;
  attempts: number;
  notBefore: number;
  createdAt: number;
}

interface StoredRow {
  id: string;
  channel: string;
  chat: string;
  thread: string | null;
  direct: number;
  kind: OutboxKind;
  target: string | null;
  run_id: string | null;
  reply_to: string | null;
  body: string;
  question: string | null;
  priority: number;
  state: OutboxRow['state'];
  unknown_sends: number;
  attempts: number;
  not_before: number;
  created_at: number;
}

function outboxRowOf(row: StoredRow): OutboxRow {
  return {
    id: row.id,
    place: placeOf(row.channel, row.chat, row.thread),
    direct: row.direct === 1,
    kind: row.kind,
    target: row.target,
    runId: row.run_id,
    replyTo: row.reply_to,
    markdown: row.body,
    question: row.question === null ? null : (JSON.parse(row.question) as Question),
    priority: row.priority,
    state: row.state,
    unknownSends: row.unknown_sends,
    attempts: row.attempts,
    notBefore: row.not_before,
    createdAt: row.created_at,
  };
}

export type NewOutboxRow = Pick<
  OutboxRow,
  | 'id'
  | 'place'
  | 'direct'
  | 'kind'
  | 'target'
  | 'runId'
  | 'replyTo'
  | 'markdown'
  | 'question'
  | 'priority'
  | 'createdAt'
>;

export async function addOutboxRow(q: Query, row: NewOutboxRow): Promise<void> {
  await q.run(
    `insert into outbox (id, channel, chat, thread, direct, kind, target, run_id, reply_to, body, question, priority, state, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?)`,
    row.id,
    row.place.channel,
    row.place.chat,
    row.place.thread ?? null,
    row.direct ? 1 : 0,
    row.kind,
    row.target,
    row.runId,
    row.replyTo,
    row.markdown,
    row.question === null ? null : JSON.stringify(row.question),
    row.priority,
    row.createdAt,
  );
}

/**
 * The first undelivered row of each chat of these channels, where it may be tried now, most urgent first. A row whose
 * lease is held, and everything behind it in its chat, is not among them.
 */
export async function dueHeads(
  q: Query,
  channels: readonly string[],
  now: number,
  limit: number,
): Promise<OutboxRow[]> {
  const rows = await q.all<StoredRow>(
    `select o.* from outbox o where o.state in ('pending', 'sending') and o.channel in (${placesOf(channels)})
       and o.not_before <= ? and (o.state = 'pending' or o.lease_until < ?)
       and not exists (select 1 from outbox p where p.channel = o.channel and p.chat = o.chat
         and p.state in ('pending', 'sending') and p.id < o.id)
     order by o.priority, o.id limit ?`,
    ...channels,
    now,
    now,
    limit,
  );
  return rows.map(outboxRowOf);
}

/** When the next row of these channels may be tried, after `now`; null when none waits for a time. */
export async function nextDueAt(q: Query, channels: readonly string[], now: number): Promise<number | null> {
  const row = await q.get<{ at: number | null }>(
    `select min(case when state = 'pending' then not_before else lease_until + 1 end) as at from outbox
     where state in ('pending', 'sending') and channel in (${placesOf(channels)})
       and (case when state = 'pending' then not_before else lease_until + 1 end) > ?`,
    ...channels,
    now,
  );
  return row?.at ?? null;
}

const placesOf = (values: readonly string[]) => values.map(() => '?').join(', ') || 'null';

/** Compare-and-set on the attempt that was seen: of two processes one gets the row. */
export async function claimOutboxRow(
  q: Query,
  row: OutboxRow,
  owner: string,
  now: number,
  leaseUntil: number,
): Promise<boolean> {
  const changed = await q.run(
    `update outbox set state = 'sending', owner = ?, lease_until = ?, attempts = attempts + 1,
       unknown_sends = unknown_sends + ? where id = ? and attempts = ? and (state = 'pending' or (state = 'sending' and lease_until < ?))`,
    owner,
    leaseUntil,
    row.state === 'sending' ? 1 : 0,
    row.id,
    row.attempts,
    now,
  );
  return changed > 0;
}

export async function settleOutboxRow(
  q: Query,
  id: string,
  settled:
    | { state: 'sent'; ref: string | null; postedAt: number | null; now: number }
    | { state: 'failed'; error: string }
    | { state: 'pending'; error: string; notBefore: number; unknown: boolean },
): Promise<void> {
  if (settled.state === 'sent')
    await q.run(
      `update outbox set state = 'sent', ref = ?, posted_at = ?, sent_at = ?, owner = null, lease_until = null, error = null where id = ?`,
      settled.ref,
      settled.postedAt,
      settled.now,
      id,
    );
  else if (settled.state === 'failed')
    await q.run(
      `update outbox set state = 'failed', error = ?, owner = null, lease_until = null where id = ?`,
      settled.error,
      id,
    );
  else
    await q.run(
      `update outbox set state = 'pending', error = ?, not_before = ?, unknown_sends = unknown_sends + ?, owner = null,
         lease_until = null where id = ?`,
      settled.error,
      settled.notBefore,
      settled.unknown ? 1 : 0,
      id,
    );
}

/** The words of a message that could not be changed stand in a new one: later edits are for that. */
export async function setRef(q: Query, id: string, ref: string): Promise<void> {
  await q.run('update outbox set ref = ? where id = ?', ref, id);
}

export async function freeForeignSends(q: Query, owner: string): Promise<number> {
  return q.run(`update outbox set lease_until = 0 where state = 'sending' and owner <> ?`, owner);
}

/** The first piece of a run's streamed answer, if it was written. */
export async function findFirstPiece(q: Query, runId: string): Promise<{ id: string; state: string } | null> {
  const row = await q.get<{ id: string; state: string }>(
    `select id, state from outbox where run_id = ? and kind = 'send' order by id limit 1`,
    runId,
  );
  return row ?? null;
}

/** What was shown before people were asked stays as it is: the answer is a message of its own, below the card. */
export async function detachPieces(q: Query, runId: string): Promise<void> {
  await q.run('update outbox set run_id = null where run_id = ?', runId);
}

/** Whether another row holds the words that were to stand in this one's message. */
export async function isReplaced(q: Query, row: Pick<OutboxRow, 'id' | 'runId'>): Promise<boolean> {
  const found = await q.get('select 1 as one from outbox where run_id = ? and target = ? limit 1', row.runId, row.id);
  return found !== undefined;
}

export async function readRef(q: Query, id: string): Promise<{ ref: string | null; state: string } | null> {
  return (await q.get<{ ref: string | null; state: string }>('select ref, state from outbox where id = ?', id)) ?? null;
}

/** The message of a run's first piece, as long as the run is this owner's; else null. */
export async function readOwnRef(q: Query, id: string, runId: string, owner: string): Promise<string | null> {
  const row = await q.get<{ ref: string | null }>(
    `select o.ref from outbox o join runs r on r.id = ? where o.id = ? and r.owner = ? and r.state = 'running'`,
    runId,
    id,
    owner,
  );
  return row?.ref ?? null;
}

/** Undelivered rows, `most` at most. */
export async function countUnsent(q: Query, most: number): Promise<number> {
  const row = await q.get<{ n: number }>(
    `select count(*) as n from (select 1 as one from outbox where state in ('pending', 'sending') limit ?) as unsent`,
    most,
  );
  return row?.n ?? 0;
}

/** Age of the oldest undelivered row and how many there are; for status and metrics. */
export async function outboxBacklog(q: Query): Promise<{ count: number; oldest: number | null }> {
  const row = await q.get<{ count: number; oldest: number | null }>(
    `select count(*) as count, min(created_at) as oldest from outbox where state in ('pending', 'sending')`,
  );
  return { count: row?.count ?? 0, oldest: row?.oldest ?? null };
}
