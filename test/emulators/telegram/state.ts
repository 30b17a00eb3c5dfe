import type { Clock } from '../../../src/base/clock.ts';
import type { Changes } from './changes.ts';
import { badRequest, type Chat, type Entity, forbidden, type Message, type User } from './wire.ts';

/** A supergroup's first message; as a thread id it means the General topic, which is addressed without one. */
const generalTopic = 1;

export type MemberStatus = 'creator' | 'administrator' | 'member' | 'left' | 'kicked';

export interface Topic {
  id: number;
  name: string;
  /** `lost`: deleted, and messages to it land silently in the main chat (tdlib/telegram-bot-api#854). */
  state: 'open' | 'closed' | 'deleted' | 'lost';
  created: Message;
}

/** A message with what the wire does not show. */
export interface Stored {
  message: Message;
  /** Sent by the bot under test. */
  ours: boolean;
  /** Text or caption of every version, oldest first. */
  versions: string[];
  /** Formatting as it was sent, without what Telegram detects by itself (links, mentions, commands). */
  formatting: Entity[];
  reactions: Map<number, string[]>;
}

export interface Room {
  chat: Chat;
  members: Map<number, { user: User; status: MemberStatus }>;
  topics: Map<number, Topic>;
  stored: Map<number, Stored>;
  /** `unstarted`: the person has never written to the bot. */
  bot: MemberStatus | 'blocked' | 'deactivated' | 'unstarted' | 'deleted';
  migratedTo: number | null;
  /** The bot that spoke last: a plain `/command` reaches a bot in privacy mode unless another one did. */
  lastBot: number | null;
  drafts: { draftId: number; text: string; at: number; thread: number | null }[];
  actions: { action: string; at: number; thread: number | null }[];
}

export interface FileEntry {
  id: string;
  uniqueId: string;
  path: string;
  size: number;
  bytes: Buffer;
}

export interface State {
  readonly clock: Clock;
  readonly changes: Changes;
  readonly token: string;
  /** As it appears in messages. */
  readonly bot: User;
  /** As getMe answers. */
  readonly account: User;
  readonly rooms: Map<number, Room>;
  readonly users: Map<number, User>;
  readonly files: Map<string, FileEntry>;
  /** What Telegram accepts in silence but changes: trimmed text, dropped entities. For assertions. */
  readonly warnings: string[];
  commands: Map<string, { command: string; description: string }[]>;
  /** Keep at most this many messages of a chat; Infinity keeps all. */
  readonly messagesKeptMax: number;
  unix(): number;
  room(chatId: number): Room;
  nextMessageId(room: Room): number;
  nextId(): number;
  keep(room: Room, message: Message, details: { ours: boolean; formatting: Entity[] }): Stored;
}

export function createState(options: {
  clock: Clock;
  changes: Changes;
  token: string;
  bot: User;
  account: User;
  messagesKeptMax: number;
}): State {
  const rooms = new Map<number, Room>();
  let serial = 0;
  let sharedMessageId = 100;
  const ownMessageIds = new Map<number, number>();
  const state: State = {
    ...options,
    rooms,
    users: new Map([[options.bot.id, options.bot]]),
    files: new Map(),
    warnings: [],
    commands: new Map(),
    unix: () => Math.floor(options.clock.now() / 1000),
    room(chatId) {
      const room = rooms.get(chatId);
      if (!room)
        throw new Error(`Telegram emulator: there is no chat ${chatId}; make it with privateChat() or group()`);
      return room;
    },
    /** Private chats and basic groups share one count, a supergroup has its own, as on Telegram. */
    nextMessageId(room) {
      if (room.chat.type !== 'supergroup') return ++sharedMessageId;
      const next = (ownMessageIds.get(room.chat.id) ?? generalTopic) + 1;
      ownMessageIds.set(room.chat.id, next);
      return next;
    },
    nextId: () => ++serial,
    keep(room, message, details) {
      const stored: Stored = {
        message,
        ours: details.ours,
        versions: [message.text ?? message.caption ?? ''],
        formatting: details.formatting,
        reactions: new Map(),
      };
      room.stored.set(message.message_id, stored);
      if (message.from?.is_bot && !message.sender_chat) room.lastBot = message.from.id;
      if (room.stored.size > state.messagesKeptMax) {
        const oldest = room.stored.keys().next().value;
        if (oldest !== undefined) room.stored.delete(oldest);
      }
      return stored;
    },
  };
  return state;
}

export function createRoom(chat: Chat, bot: Room['bot']): Room {
  return {
    chat,
    members: new Map(),
    topics: new Map(),
    stored: new Map(),
    bot,
    migratedTo: null,
    lastBot: null,
    drafts: [],
    actions: [],
  };
}

/** The room a method names, or Telegram's error for it. `@name` is not known to bots here. */
export function roomToRead(state: State, chatId: unknown): Room {
  if (chatId === undefined || chatId === null || chatId === '') throw badRequest('chat_id is empty');
  const room = state.rooms.get(Number(chatId));
  if (!room) {
    if (state.users.has(Number(chatId))) throw forbidden("bot can't initiate conversation with a user");
    throw badRequest('chat not found');
  }
  if (room.migratedTo !== null) {
    throw badRequest('group chat was upgraded to a supergroup chat', { migrate_to_chat_id: room.migratedTo });
  }
  return room;
}

/** The room a method writes to. Texts from telegram-bot-api Client.cpp `check_chat_access`. */
export function roomToWrite(state: State, chatId: unknown): Room {
  const room = roomToRead(state, chatId);
  const kind = room.chat.type === 'supergroup' ? 'supergroup' : 'group';
  switch (room.bot) {
    case 'blocked':
      throw forbidden('bot was blocked by the user');
    case 'deactivated':
      throw forbidden('user is deactivated');
    case 'unstarted':
      throw forbidden("bot can't initiate conversation with a user");
    case 'kicked':
      throw forbidden(`bot was kicked from the ${kind} chat`);
    case 'left':
      throw forbidden(`bot is not a member of the ${kind} chat`);
    case 'deleted':
      throw forbidden('the group chat was deleted');
    default:
      return room;
  }
}
