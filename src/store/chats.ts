/** What is known of chats: who admitted a group, which threads the bot takes part in, chats that got a new id. */
import type { Query } from './db.ts';
import { moveChatValues } from './values.ts';

export interface Chat {
  admittedBy: string | null;
  addedBy: string | null;
  admissionNoticeAt: number | null;
}

export async function findChat(q: Query, channel: string, chat: string): Promise<Chat | null> {
  const row = await q.get<{ admitted_by: string | null; added_by: string | null; admission_notice_at: number | null }>(
    'select admitted_by, added_by, admission_notice_at from chats where channel = ? and chat = ?',
    channel,
    chat,
  );
  return row
    ? { admittedBy: row.admitted_by, addedBy: row.added_by, admissionNoticeAt: row.admission_notice_at }
    : null;
}

export async function ensureChat(q: Query, channel: string, chat: string, now: number): Promise<void> {
  await q.run(
    'insert into chats (channel, chat, created_at) values (?, ?, ?) on conflict (channel, chat) do nothing',
    channel,
    chat,
    now,
  );
}

export async function setAddedBy(q: Query, channel: string, chat: string, by: string | null): Promise<void> {
  await q.run('update chats set added_by = ? where channel = ? and chat = ?', by, channel, chat);
}

export async function setAdmitted(q: Query, channel: string, chat: string, by: string | null): Promise<void> {
  await q.run('update chats set admitted_by = ? where channel = ? and chat = ?', by, channel, chat);
}

export async function setAdmissionNotice(q: Query, channel: string, chat: string, at: number | null): Promise<void> {
  await q.run('update chats set admission_notice_at = ? where channel = ? and chat = ?', at, channel, chat);
}

export async function isInThread(q: Query, channel: string, chat: string, thread: string): Promise<boolean> {
  const row = await q.get(
    'select 1 as one from threads where channel = ? and chat = ? and thread = ?',
    channel,
    chat,
    thread,
  );
  return row !== undefined;
}

export async function joinThread(q: Query, channel: string, chat: string, thread: string, now: number): Promise<void> {
  await q.run(
    'insert into threads (channel, chat, thread, joined_at) values (?, ?, ?, ?) on conflict do nothing',
    channel,
    chat,
    thread,
    now,
  );
}

/** Ids this chat had before: what the configuration says of one of them still holds (rule 20). */
export async function formerIds(q: Query, channel: string, chat: string): Promise<string[]> {
  const rows = await q.all<{ former: string }>(
    'select former from former_chats where channel = ? and chat = ?',
    channel,
    chat,
  );
  return rows.map((row) => row.former);
}

/** The id a chat has now, by any that it had. */
export async function currentId(q: Query, channel: string, chat: string): Promise<string> {
  const row = await q.get<{ chat: string }>(
    'select chat from former_chats where channel = ? and former = ?',
    channel,
    chat,
  );
  return row?.chat ?? chat;
}

/**
 * Rewrites every key that holds the old chat id (rule 20); `rekey` does so with the key of a conversation. Idempotent:
 * a second call finds nothing. Rows of the inbox keep their dedupe keys, since the platform never redelivers under the
 * new id. Ids of messages begin anew there (Telegram), so those of the old chat are forgotten: they would be other
 * messages now. What was to be edited becomes a new message.
 */
export async function migrateChat(
  q: Query,
  channel: string,
  from: string,
  to: string,
  rekey: (key: string) => string,
): Promise<void> {
  await q.run(
    'insert into chats (channel, chat, admitted_by, added_by, admission_notice_at, created_at) ' +
      'select channel, ?, admitted_by, added_by, admission_notice_at, created_at from chats ' +
      'where channel = ? and chat = ? on conflict (channel, chat) do update set ' +
      'admitted_by = coalesce(chats.admitted_by, excluded.admitted_by), added_by = coalesce(chats.added_by, excluded.added_by)',
    to,
    channel,
    from,
  );
  await q.run('delete from chats where channel = ? and chat = ?', channel, from);
  await q.run('update former_chats set chat = ? where channel = ? and chat = ?', to, channel, from);
  await q.run(
    'insert into former_chats (channel, former, chat) values (?, ?, ?) on conflict (channel, former) do nothing',
    channel,
    from,
    to,
  );
  const conversations = await q.all<{ id: string; key: string; open: number }>(
    'select id, key, open from conversations where channel = ? and chat = ? order by id',
    channel,
    from,
  );
  for (const conversation of conversations) {
    const key = rekey(conversation.key);
    // A message may have come in under the new id first: the longer history stays the open one.
    if (conversation.open === 1) await q.run('update conversations set open = 0 where key = ? and open = 1', key);
    await q.run('update conversations set chat = ?, key = ? where id = ?', to, key, conversation.id);
  }
  await q.run(
    'insert into threads (channel, chat, thread, joined_at) select channel, ?, thread, joined_at from threads ' +
      'where channel = ? and chat = ? on conflict do nothing',
    to,
    channel,
    from,
  );
  await q.run('delete from threads where channel = ? and chat = ?', channel, from);
  const forgotten = {
    inbox: `, message_id = 'former ' || message_id`,
    runs: ', reply_to = null',
    outbox: ', ref = null, reply_to = null',
    cards: ', ref = null',
    pairings: '',
    approvals: '',
  };
  for (const [table, ids] of Object.entries(forgotten))
    await q.run(`update ${table} set chat = ?${ids} where channel = ? and chat = ?`, to, channel, from);
  await moveChatValues(q, channel, from, to);
}
