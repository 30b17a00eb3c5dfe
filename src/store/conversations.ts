/** Conversations and their finished exchanges (append-only, rule 76). */
import type { Audience, Place } from '../types/message.ts';
import type { Query } from './db.ts';

export interface Conversation {
  id: string;
  key: string;
  binding: string;
  agent: string;
  place: Place;
  audience: Audience;
  turns: number;
  summary: string | null;
  summaryUntil: number;
  noticeAt: number | null;
}

interface ConversationRow {
  id: string;
  key: string;
  binding: string;
  agent: string;
  channel: string;
  chat: string;
  thread: string | null;
  audience: Audience;
  turns: number;
  summary: string | null;
  summary_until: number;
  notice_at: number | null;
}

function conversationOf(row: ConversationRow): Conversation {
  return {
    id: row.id,
    key: row.key,
    binding: row.binding,
    agent: row.agent,
    place: { channel: row.channel, chat: row.chat, ...(row.thread === null ? {} : { thread: row.thread }) },
    audience: row.audience,
    turns: row.turns,
    summary: row.summary,
    summaryUntil: row.summary_until,
    noticeAt: row.notice_at,
  };
}

export async function findOpenConversation(q: Query, key: string): Promise<Conversation | null> {
  const row = await q.get<ConversationRow>('select * from conversations where key = ? and open = 1', key);
  return row ? conversationOf(row) : null;
}

export async function readConversation(q: Query, id: string): Promise<Conversation> {
  const row = await q.get<ConversationRow>('select * from conversations where id = ?', id);
  if (!row) throw new Error(`broken invariant: conversation ${id} exists`);
  return conversationOf(row);
}

export interface NewConversation {
  id: string;
  key: string;
  binding: string;
  agent: string;
  place: Place;
  audience: Audience;
  personId: string | null;
}

/** The open conversation of the key, made when there is none. */
export async function openConversation(q: Query, wanted: NewConversation, now: number): Promise<Conversation> {
  const known = await findOpenConversation(q, wanted.key);
  if (known) return known;
  await q.run(
    `insert into conversations (id, key, open, binding, agent, channel, chat, thread, audience, person_id, created_at, last_at)
     values (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    wanted.id,
    wanted.key,
    wanted.binding,
    wanted.agent,
    wanted.place.channel,
    wanted.place.chat,
    wanted.place.thread ?? null,
    wanted.audience,
    wanted.personId,
    now,
    now,
  );
  return (await findOpenConversation(q, wanted.key)) as Conversation;
}

/** `new`: what comes next opens another conversation; this one stays findable (rule 22). */
export async function closeConversation(q: Query, key: string): Promise<boolean> {
  return (await q.run('update conversations set open = 0 where key = ? and open = 1', key)) > 0;
}

/** Set when people were told that the queue is full, cleared when the lane takes messages again. */
export async function setQueueNotice(q: Query, id: string, at: number | null): Promise<void> {
  await q.run('update conversations set notice_at = ? where id = ?', at, id);
}

export interface Turn {
  seq: number;
  role: 'user' | 'assistant';
  /** Who speaks, in rooms. */
  speaker: string | null;
  text: string;
}

/** The turns with seq ≥ `from`, oldest first. */
export async function readTurns(q: Query, conversationId: string, from: number): Promise<Turn[]> {
  const rows = await q.all<{ seq: number; role: 'user' | 'assistant'; speaker: string | null; body: string }>(
    'select seq, role, speaker, body from turns where conversation_id = ? and seq >= ? order by seq',
    conversationId,
    from,
  );
  return rows.map((row) => ({ seq: row.seq, role: row.role, speaker: row.speaker, text: row.body }));
}

/** Appends a finished exchange. The caller holds the conversation's lane, so the counter has one writer. */
export async function appendTurns(
  q: Query,
  conversationId: string,
  runId: string,
  turns: Omit<Turn, 'seq'>[],
  now: number,
): Promise<void> {
  const row = await q.get<{ turns: number }>('select turns from conversations where id = ?', conversationId);
  let seq = row?.turns ?? 0;
  for (const turn of turns) {
    await q.run(
      'insert into turns (conversation_id, seq, run_id, role, speaker, body, created_at) values (?, ?, ?, ?, ?, ?, ?)',
      conversationId,
      seq,
      runId,
      turn.role,
      turn.speaker,
      turn.text,
      now,
    );
    seq += 1;
  }
  await q.run('update conversations set turns = ?, last_at = ? where id = ?', seq, now, conversationId);
}

/** What stands in front of the turns from `until` on. */
export async function setSummary(q: Query, id: string, summary: string, until: number): Promise<void> {
  await q.run('update conversations set summary = ?, summary_until = ? where id = ?', summary, until, id);
}
