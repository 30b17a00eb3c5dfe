/**
 * What came in. A row is unique per channel and key, so the first write wins and a redelivery finds it (D1, rule 2).
 *
 *   ignored   not for the bot: the key stays, the words are not kept
 *   refused   for the bot, but not taken: no access, queue full, too long
 *   handled   a command: its effect and reply were committed with the row
 *   waiting   belongs to a conversation and waits for its lane
 *   taken     belongs to a run that has not finished
 *   done      answered, or the run ended otherwise
 */
import type { IncomingFile } from '../types/message.ts';
import type { Query, Transaction } from './db.ts';

export type InboxState = 'ignored' | 'refused' | 'handled' | 'waiting' | 'taken' | 'done';

export interface InboxPayload {
  text: string;
  speaker: string;
  files: IncomingFile[];
  /** The message to answer, where an answer should point at it. */
  replyTo: string | null;
}

export interface NewInboxRow {
  id: string;
  channel: string;
  key: string;
  kind: string;
  chat: string;
  thread: string | null;
  messageId: string | null;
  userId: string;
  state: InboxState;
  conversationId: string | null;
  partOf: string | null;
  notBefore: number;
  payload: InboxPayload | null;
  receivedAt: number;
}

export interface InboxRow {
  id: string;
  channel: string;
  chat: string;
  thread: string | null;
  messageId: string | null;
  userId: string;
  state: InboxState;
  conversationId: string | null;
  runId: string | null;
  notBefore: number;
  payload: InboxPayload | null;
}

interface StoredRow {
  id: string;
  channel: string;
  chat: string;
  thread: string | null;
  message_id: string | null;
  user_id: string;
  state: InboxState;
  conversation_id: string | null;
  run_id: string | null;
  not_before: number;
  payload: string | null;
}

const columns = 'id, channel, chat, thread, message_id, user_id, state, conversation_id, run_id, not_before, payload';

function inboxRowOf(row: StoredRow): InboxRow {
  return {
    id: row.id,
    channel: row.channel,
    chat: row.chat,
    thread: row.thread,
    messageId: row.message_id,
    userId: row.user_id,
    state: row.state,
    conversationId: row.conversation_id,
    runId: row.run_id,
    notBefore: row.not_before,
    payload: row.payload === null ? null : (JSON.parse(row.payload) as InboxPayload),
  };
}

/**
 * What waits in a lane. The inner select needs nothing but the small index of waiting rows; asked for more at once, a
 * database may walk all that was ever said in the conversation instead.
 */
const waitingIn = `inbox where id in (select id from inbox where conversation_id = ? and state = 'waiting')`;

/** False when the key is there already. */
export async function addInboxRow(q: Query, row: NewInboxRow): Promise<boolean> {
  const added = await q.run(
    `insert into inbox (id, channel, key, kind, chat, thread, message_id, user_id, state, conversation_id, part_of,
       not_before, payload, received_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (channel, key) do nothing`,
    row.id,
    row.channel,
    row.key,
    row.kind,
    row.chat,
    row.thread,
    row.messageId,
    row.userId,
    row.state,
    row.conversationId,
    row.partOf,
    row.notBefore,
    row.payload === null ? null : JSON.stringify(row.payload),
    row.receivedAt,
  );
  return added > 0;
}

/** The newest row that holds words of a message, its own or those of a follow-up after an edit. */
export async function findMessage(
  q: Query,
  channel: string,
  chat: string,
  messageId: string,
): Promise<InboxRow | null> {
  const row = await q.get<StoredRow>(
    `select ${columns} from inbox where channel = ? and chat = ? and message_id = ? and kind = 'message'
     order by id desc limit 1`,
    channel,
    chat,
    messageId,
  );
  return row ? inboxRowOf(row) : null;
}

/** The rows of a message, and of what followed from its edits, that still wait or belong to a run that goes on. */
export async function openMessages(q: Query, channel: string, chat: string, messageId: string): Promise<InboxRow[]> {
  const rows = await q.all<StoredRow>(
    `select ${columns} from inbox where channel = ? and chat = ? and message_id = ? and kind = 'message'
       and state in ('waiting', 'taken') order by id`,
    channel,
    chat,
    messageId,
  );
  return rows.map(inboxRowOf);
}

export async function setPayload(q: Query, id: string, payload: InboxPayload): Promise<void> {
  await q.run('update inbox set payload = ? where id = ?', JSON.stringify(payload), id);
}

/** Takes a waiting message out of its lane. */
export async function ignoreWaiting(q: Query, id: string): Promise<void> {
  await q.run(`update inbox set state = 'ignored', payload = null where id = ? and state = 'waiting'`, id);
}

/** Takes everything that waits in a lane out of it, unanswered. */
export async function refuseWaiting(q: Query, conversationId: string): Promise<void> {
  await q.run(
    `update inbox set state = 'refused', payload = null where conversation_id = ? and state = 'waiting'`,
    conversationId,
  );
}

/** When the account's `count`-th latest message counted; null when there are fewer. */
export async function nthLatestMessage(
  q: Query,
  channel: string,
  userId: string,
  count: number,
  since: number,
): Promise<number | null> {
  const row = await q.get<{ at: number }>(
    `select case when not_before > received_at then not_before else received_at end as at from inbox
     where channel = ? and user_id = ? and received_at > ? and kind = 'message' and state in ('waiting', 'taken', 'done')
     order by received_at desc, id desc limit 1 offset ?`,
    channel,
    userId,
    since,
    count - 1,
  );
  return row ? row.at : null;
}

/** Whether a message, or a parked run that may go on, waits for the lane. */
export async function hasNext(q: Query, conversationId: string): Promise<boolean> {
  const row = await q.get(
    `select 1 as one where exists (select 1 from inbox where conversation_id = ? and state = 'waiting')
       or exists (select 1 from runs where conversation_id = ? and state = 'awaiting_approval' and resume_at is not null)`,
    conversationId,
    conversationId,
  );
  return row !== undefined;
}

export interface Lane {
  /** Of this account. */
  own: number;
  /** When the last of its own is due; 0 = at once. */
  ownDue: number;
  /** Of everybody, without those whose time has not come. */
  due: number;
}

const laneSql = `select count(case when user_id = ? then 1 end) as own,
       coalesce(max(case when user_id = ? then not_before end), 0) as own_due,
       count(case when not_before <= ? then 1 end) as due
     from ${waitingIn}`;

export async function readLane(q: Query, conversationId: string, userId: string, now: number): Promise<Lane> {
  const row = await q.get<{ own: number; own_due: number; due: number }>(laneSql, userId, userId, now, conversationId);
  return { own: row?.own ?? 0, ownDue: row?.own_due ?? 0, due: row?.due ?? 0 };
}

/** In all conversations of a key, open or closed. */
export async function countWaitingUnder(q: Query, key: string): Promise<number> {
  const row = await q.get<{ n: number }>(
    `select count(*) as n from inbox i join conversations c on c.id = i.conversation_id
     where i.state = 'waiting' and c.key = ?`,
    key,
  );
  return row?.n ?? 0;
}

/** Over all conversations; for status. */
export async function countAllWaiting(q: Query): Promise<number> {
  const row = await q.get<{ n: number }>(`select count(*) as n from inbox where state = 'waiting'`);
  return row?.n ?? 0;
}

/**
 * Waiting parts of one message wait on until `until` (rule 5), and with them what the account wrote after the first of
 * them, so that its messages stay in order.
 */
export async function holdParts(
  q: Query,
  lane: { conversationId: string; userId: string },
  partOf: string,
  until: number,
): Promise<void> {
  await q.run(
    `update inbox set not_before = ? where id in (select id from inbox where conversation_id = ? and state = 'waiting')
       and user_id = ? and not_before < ? and id >= (select min(id) from ${waitingIn} and user_id = ? and part_of = ?)`,
    until,
    lane.conversationId,
    lane.userId,
    until,
    lane.conversationId,
    lane.userId,
    partOf,
  );
}

/** Conversations in which a waiting message is due and whose lane is free, oldest first. */
export async function readyConversations(q: Transaction, now: number, limit: number): Promise<string[]> {
  const rows = await q.all<{ conversation_id: string }>(
    `select i.conversation_id from inbox i where i.state = 'waiting' and i.not_before <= ?
       and not exists (select 1 from inbox w join inbox j on j.id = w.id where w.conversation_id = i.conversation_id
         and w.state = 'waiting' and w.id < i.id and j.not_before <= ?)
       and not exists (select 1 from runs r where r.conversation_id = i.conversation_id and r.state in ('queued', 'running'))
     order by i.id limit ?${q.skipLocked}`,
    now,
    now,
    limit,
  );
  return rows.map((row) => row.conversation_id);
}

/** When the next waiting message of a free lane becomes due after `now`; null when none waits for a time. */
export async function nextWaitingAt(q: Query, now: number): Promise<number | null> {
  const row = await q.get<{ at: number | null }>(
    `select min(not_before) as at from inbox where state = 'waiting' and not_before > ?`,
    now,
  );
  return row?.at ?? null;
}

const dueSql = `select ${columns} from ${waitingIn} and not_before <= ?
     order by case when not_before > received_at then not_before else received_at end, id limit ?`;

/** Those whose time has come, by that time: who waits for a slot of their own holds up nobody else (rule 17). */
export async function dueMessages(q: Query, conversationId: string, now: number, limit: number): Promise<InboxRow[]> {
  const rows = await q.all<StoredRow>(dueSql, conversationId, now, limit);
  return rows.map(inboxRowOf);
}

export async function takeMessages(q: Query, ids: string[], runId: string): Promise<void> {
  for (const id of ids) await q.run(`update inbox set state = 'taken', run_id = ? where id = ?`, runId, id);
}

/** What the edits of a run's messages say now, as long as it waits in the lane (rule 3). */
export async function followUpsOf(q: Query, runId: string): Promise<InboxRow[]> {
  const rows = await q.all<StoredRow>(
    `select ${columns} from inbox f where f.conversation_id = (select conversation_id from runs where id = ?)
       and f.state = 'waiting' and f.key like 'follow-up:%' and exists (select 1 from inbox o where o.run_id = ?
         and o.channel = f.channel and o.chat = f.chat and o.message_id = f.message_id) order by f.id`,
    runId,
    runId,
  );
  return rows.map(inboxRowOf);
}

const ofRunSql = `select ${columns} from inbox where run_id = ? and state = 'taken' order by id`;

/** The messages a run was made for, in order; those steered into it later are not among them. */
export async function messagesOfRun(q: Query, runId: string): Promise<InboxRow[]> {
  const rows = await q.all<StoredRow>(ofRunSql, runId);
  return rows.map(inboxRowOf);
}

export async function finishMessages(q: Query, runId: string): Promise<void> {
  await q.run(`update inbox set state = 'done' where run_id = ? and state = 'taken'`, runId);
}
