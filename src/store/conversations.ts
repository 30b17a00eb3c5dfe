/** Conversations and their finished exchanges (append-only, rule 76). */
import { assert } from '../base/errors.ts';
import type { Audience, Place } from '../types/message.ts';
import type { Query } from './db.ts';

export interface Conversation {
  id: string;
  binding: string;
  audience: Audience;
  turns: number;
  summary: string | null;
  summaryUntil: number;
  noticeAt: number | null;
  /** Whether everything or nothing asks here (rule 95). */
  mode: 'ask' | 'waive' | null;
}

interface ConversationRow {
  id: string;
  binding: string;
  audience: Audience;
  turns: number;
  summary: string | null;
  summary_until: number;
  notice_at: number | null;
  mode: Conversation['mode'];
}

function conversationOf(row: ConversationRow): Conversation {
  return {
    id: row.id,
    binding: row.binding,
    audience: row.audience,
    turns: row.turns,
    summary: row.summary,
    summaryUntil: row.summary_until,
    noticeAt: row.notice_at,
    mode: row.mode,
  };
}

export async function findOpenConversation(q: Query, key: string): Promise<Conversation | null> {
  const row = await q.get<ConversationRow>('select * from conversations where key = ? and open = 1', key);
  return row ? conversationOf(row) : null;
}

/** `parked`: how many of its runs wait for people. */
export async function readConversation(q: Query, id: string): Promise<Conversation & { parked: number }> {
  const row = await q.get<ConversationRow & { parked: number }>(
    `select *, (select count(*) from runs r where r.conversation_id = conversations.id and r.state = 'awaiting_approval') as parked
     from conversations where id = ?`,
    id,
  );
  assert(row, `conversation ${id} exists`);
  return { ...conversationOf(row), parked: row.parked };
}

export async function readMode(q: Query, id: string): Promise<Conversation['mode']> {
  const row = await q.get<{ mode: Conversation['mode'] }>('select mode from conversations where id = ?', id);
  return row?.mode ?? null;
}

export async function setMode(q: Query, id: string, mode: Conversation['mode']): Promise<void> {
  await q.run('update conversations set mode = ? where id = ?', mode, id);
}

export interface NewConversation {
  id: string;
  key: string;
  binding: string;
  place: Pick<Place, 'channel' | 'chat'>;
  audience: Audience;
}

/** The open conversation of the key, made when there is none. */
export async function openConversation(q: Query, wanted: NewConversation, now: number): Promise<Conversation> {
  const known = await findOpenConversation(q, wanted.key);
  if (known) return known;
  await q.run(
    `insert into conversations (id, key, open, binding, channel, chat, audience, created_at)
     values (?, ?, 1, ?, ?, ?, ?, ?) on conflict do nothing`,
    wanted.id,
    wanted.key,
    wanted.binding,
    wanted.place.channel,
    wanted.place.chat,
    wanted.audience,
    now,
  );
  return (await findOpenConversation(q, wanted.key)) as Conversation;
}

/** `new`: what comes next opens another conversation; this one stays findable (rule 22). */
export async function closeConversation(q: Query, key: string): Promise<boolean> {
  return (await q.run('update conversations set open = 0 where key = ? and open = 1', key)) > 0;
}

/** The conversations of a key that have an active run, the oldest run first; after `new` a closed one may. */
export async function busyConversations(q: Query, key: string): Promise<string[]> {
  const rows = await q.all<{ id: string }>(
    `select c.id from runs r join conversations c on c.id = r.conversation_id
     where r.state in ('queued', 'running') and c.key = ? order by r.id`,
    key,
  );
  return rows.map((row) => row.id);
}

/** Set when people were told that the queue is full, cleared when the lane takes messages again. */
export async function setQueueNotice(q: Query, id: string, at: number | null): Promise<void> {
  await q.run('update conversations set notice_at = ? where id = ?', at, id);
}

export interface Turn {
  seq: number;
  role: 'user' | 'assistant';
  /** In rooms the words name their speakers. */
  text: string;
}

/** The turns with seq ≥ `from`, oldest first. */
export async function readTurns(q: Query, conversationId: string, from: number): Promise<Turn[]> {
  return q.all<Turn>(
    'select seq, role, body as text from turns where conversation_id = ? and seq >= ? order by seq',
    conversationId,
    from,
  );
}

/**
 * Appends a finished exchange behind `turns`, as they were when the run began: it holds the conversation's lane, so
 * nobody else appends.
 */
export async function appendTurns(
  q: Query,
  { id, turns }: Pick<Conversation, 'id' | 'turns'>,
  runId: string,
  exchange: readonly Omit<Turn, 'seq'>[],
  now: number,
): Promise<void> {
  await q.run(
    `insert into turns (conversation_id, seq, run_id, role, body, created_at)
     values ${exchange.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
    ...exchange.flatMap((turn, index) => [id, turns + index, runId, turn.role, turn.text, now]),
  );
  await q.run('update conversations set turns = ? where id = ?', turns + exchange.length, id);
}

/** The first turn that the model still reads, and what stands in front of it; null = nothing does. */
export async function setSummary(q: Query, id: string, summary: string | null, until: number): Promise<void> {
  await q.run('update conversations set summary = ?, summary_until = ? where id = ?', summary, until, id);
}
