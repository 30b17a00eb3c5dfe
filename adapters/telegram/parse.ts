/**
 * One Telegram update becomes the events it means. Pure: no network, clock or await. What is not for a gateway
 * (business messages, channel posts, inline queries, reactions, service messages) gives an empty list; an
 * update that breaks the platform's own shape throws MalformedUpdate, so that it can be logged and passed over.
 * Source: Bot API 10.3, "Update"; shapes in test/fixtures/telegram.
 */
import { sha256 } from '../../src/base/digest.ts';
import type { ChatInfo, InboundEvent, Sender } from '../../src/types/message.ts';
import { addressingOf, type Me } from './addressing.ts';
import { type Fields, fieldsOf, filesOf, nameOf, phraseOf, textOf } from './content.ts';

export type { Me } from './addressing.ts';

/** The update is not what the Bot API promises; the message says which field, never its content. */
export class MalformedUpdate extends Error {
  override readonly name = 'MalformedUpdate';
}

/** `GroupAnonymousBot` writes for anonymous admins, `Channel_Bot` for channels; kept for updates without sender_chat. */
const anonymousUserIds = new Set([1087968824, 136817688]);
/** The account "Telegram", which forwards the posts of a linked channel and sends service notices. */
const telegramUserId = 777000;
/** The General topic of a forum: messages of it carry no thread, and a send to it must not name one. */
const generalTopicId = 1;

/** The kinds the gateway asks for; message_reaction is not among the default ones and has to be named. */
export const allowedUpdates = [
  'message',
  'edited_message',
  'callback_query',
  'my_chat_member',
  'message_reaction',
] as const;

/** `receivedAt` in epoch milliseconds: the time of a press, which has none of its own. */
export function parseUpdate(update: unknown, me: Me, receivedAt: number): InboundEvent[] {
  const fields = fieldsOf(update);
  if (!fields) throw new MalformedUpdate('the update is not an object');
  if (fields.message !== undefined) return parseMessage(required(fields.message, 'message'), me);
  if (fields.edited_message !== undefined) return parseEdit(required(fields.edited_message, 'edited_message'), me);
  if (fields.callback_query !== undefined)
    return parsePress(required(fields.callback_query, 'callback_query'), me, receivedAt);
  if (fields.my_chat_member !== undefined)
    return parseMembership(required(fields.my_chat_member, 'my_chat_member'), me);
  return [];
}

function parseMessage(message: Fields, me: Me): InboundEvent[] {
  const chat = chatOf(message);
  const messageId = integer(message.message_id, 'message_id');
  const sentAt = integer(message.date, 'date') * 1000;
  const migration = migrationOf(message, chat.id, sentAt);
  if (migration) return [migration];
  if (chat.info === undefined) return [];

  const files = filesOf(message, messageId);
  const words = textOf(message.text) || textOf(message.caption);
  const text = words || phraseOf(message);
  const sender = senderOf(message, me);
  if (sender === undefined || (text === '' && files.length === 0)) return [];
  const thread = threadOf(message);
  const repliesTo = repliesToOf(message, me);
  const partOf = textOf(message.media_group_id);
  return [
    {
      kind: 'message',
      key: messageKey(chat.id, messageId, 0),
      chat: chat.info,
      ...(thread === undefined ? {} : { thread }),
      messageId: String(messageId),
      sender,
      text,
      ...addressingOf(words, message.text === undefined ? message.caption_entities : message.entities, me),
      ...(repliesTo === undefined ? {} : { repliesTo }),
      files,
      ...(partOf === '' ? {} : { partOf }),
      ...(message.forward_origin === undefined ? {} : { forwarded: true }),
      sentAt,
    },
  ];
}

/**
 * An edit without words (a live location that moved) is none. Whether the words changed is for the core to see, which
 * has the earlier ones.
 */
function parseEdit(message: Fields, me: Me): InboundEvent[] {
  const chat = chatOf(message);
  const messageId = integer(message.message_id, 'message_id');
  const date = integer(message.edit_date ?? message.date, 'edit_date');
  const text = textOf(message.text) || textOf(message.caption);
  const sender = senderOf(message, me);
  if (chat.info === undefined || sender === undefined || text === '') return [];
  const thread = threadOf(message);
  return [
    {
      kind: 'edit',
      // Two edits may share their second, as when the server adds a preview of a link: the words tell them apart.
      key: `${messageKey(chat.id, messageId, date)}:${sha256(text).slice(0, 8)}`,
      chat: chat.info,
      ...(thread === undefined ? {} : { thread }),
      messageId: String(messageId),
      sender,
      text,
      sentAt: date * 1000,
    },
  ];
}

/**
 * The presser's app chooses what it sends: neither the data nor the message need be what we once sent. A press that
 * cannot be on a card of ours is no event: on a message out of our reach (`date` is 0), of inline mode, of a game, of
 * somebody else, or on a forwarded copy. Anonymous admins press under their own names.
 */
function parsePress(query: Fields, me: Me, receivedAt: number): InboundEvent[] {
  const id = textOf(query.id);
  if (id === '') throw new MalformedUpdate('callback_query.id is not a string');
  const data = textOf(query.data);
  const message = fieldsOf(query.message);
  if (!message || message.date === 0 || data === '' || !isOurs(message, me)) return [];
  const chat = chatOf(message);
  if (chat.info === undefined) return [];
  const thread = threadOf(message);
  return [
    {
      kind: 'decision',
      key: `callback:${id}`,
      chat: chat.info,
      ...(thread === undefined ? {} : { thread }),
      ref: String(integer(message.message_id, 'message_id')),
      sender: userOf(required(query.from, 'from'), me),
      data,
      sentAt: receivedAt,
    },
  ];
}

/** A bot that is an anonymous admin writes under the account of all of those. */
function isOurs(message: Fields, me: Me): boolean {
  if (message.forward_origin !== undefined) return false;
  const author = fieldsOf(message.from)?.id;
  return author === undefined || author === me.id || (typeof author === 'number' && anonymousUserIds.has(author));
}

/** Our own coming and going in a group. A private chat's block and unblock are not membership. */
function parseMembership(update: Fields, me: Me): InboundEvent[] {
  const chat = chatOf(update);
  if (chat.info?.kind !== 'group') return [];
  const date = integer(update.date, 'date');
  const before = isPresent(required(update.old_chat_member, 'old_chat_member'));
  const after = isPresent(required(update.new_chat_member, 'new_chat_member'));
  if (before === after) return [];
  const change = after ? 'added' : 'removed';
  return [
    {
      kind: 'membership',
      key: `b:${chat.id}:${date}:${change}`,
      chat: chat.info,
      change,
      by: userOf(required(update.from, 'from'), me),
      sentAt: date * 1000,
    },
  ];
}

function isPresent(member: Fields): boolean {
  if (member.status === 'restricted') return member.is_member === true;
  return member.status === 'member' || member.status === 'administrator' || member.status === 'creator';
}

/**
 * A group that becomes a supergroup says so twice: in the old chat (migrate_to_chat_id) and in the new one
 * (migrate_from_chat_id), in either order. Both give the same key, so the second is a duplicate.
 */
function migrationOf(message: Fields, chat: number, sentAt: number): InboundEvent | undefined {
  let pair: { from: number; to: number };
  if (message.migrate_to_chat_id !== undefined)
    pair = { from: chat, to: integer(message.migrate_to_chat_id, 'migrate_to_chat_id') };
  else if (message.migrate_from_chat_id !== undefined)
    pair = { from: integer(message.migrate_from_chat_id, 'migrate_from_chat_id'), to: chat };
  else return undefined;
  const { from, to } = pair;
  return { kind: 'migration', key: `g:${from}:${to}`, from: String(from), to: String(to), sentAt };
}

/** Rule 1: chat, message and revision; an unedited message has revision 0. */
function messageKey(chat: number, messageId: number, editDate: number): string {
  return `m:${chat}:${messageId}:${editDate}`;
}

/** `info` is missing for a channel, where nobody can be answered. */
function chatOf(holder: Fields): { id: number; info?: ChatInfo } {
  const chat = required(holder.chat, 'chat');
  const id = integer(chat.id, 'chat.id');
  if (chat.type === 'private') return { id, info: { id: String(id), kind: 'direct' } };
  if (chat.type !== 'group' && chat.type !== 'supergroup') return { id };
  const title = textOf(chat.title);
  return { id, info: { id: String(id), kind: 'group', ...(title === '' ? {} : { title }) } };
}

/**
 * Only topics are threads. In a group without topics a reply may carry a message_thread_id that no send accepts, and so
 * may a reply inside General.
 */
function threadOf(message: Fields): string | undefined {
  const thread = message.message_thread_id;
  if (message.is_topic_message !== true || typeof thread !== 'number' || thread === generalTopicId) return undefined;
  return String(thread);
}

/** In a topic every message that answers nothing still "replies" to the service message that opened the topic. */
function repliesToOf(message: Fields, me: Me): { messageId: string; toBot: boolean } | undefined {
  const target = fieldsOf(message.reply_to_message);
  if (!target || typeof target.message_id !== 'number') return undefined;
  if (target.forum_topic_created !== undefined) return undefined;
  if (message.is_topic_message === true && target.message_id === message.message_thread_id) return undefined;
  return { messageId: String(target.message_id), toBot: fieldsOf(target.from)?.id === me.id };
}

/** Undefined for a message that names nobody at all. */
function senderOf(message: Fields, me: Me): Sender | undefined {
  const from = fieldsOf(message.from);
  const speaker = fieldsOf(message.sender_chat);
  if (speaker) {
    // A chat speaks as itself: an anonymous admin (the group), a channel identity, or the linked channel's post.
    const kind = message.is_automatic_forward === true ? 'system' : 'anonymous';
    const id = String(integer(speaker.id, 'sender_chat.id'));
    return { id, name: textOf(speaker.title) || nameOf(speaker), kind, membership: 'full' };
  }
  return from ? userOf(from, me) : undefined;
}

function userOf(user: Fields, me: Me): Sender {
  const id = integer(user.id, 'from.id');
  const language = textOf(user.language_code);
  return {
    id: String(id),
    name: nameOf(user) || textOf(user.username) || String(id),
    kind: kindOf(id, user.is_bot === true, me),
    membership: 'full',
    ...(language === '' ? {} : { language }),
  };
}

function kindOf(id: number, isBot: boolean, me: Me): Sender['kind'] {
  if (id === me.id) return 'self';
  if (id === telegramUserId) return 'system';
  if (anonymousUserIds.has(id)) return 'anonymous';
  return isBot ? 'bot' : 'human';
}

function required(value: unknown, name: string): Fields {
  const fields = fieldsOf(value);
  if (!fields) throw new MalformedUpdate(`${name} is not an object`);
  return fields;
}

function integer(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new MalformedUpdate(`${name} is not an integer`);
  return value;
}
