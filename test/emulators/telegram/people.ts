import type { FileSpec, MessageRef, SayOptions, TelegramEmulator } from './api.ts';
import { anonymousAdmin, channelIdentity, type Delivery, telegramItself } from './delivery.ts';
import { detectEntities } from './detect.ts';
import { rowsOf } from './markup.ts';
import { keepFile, type MediaKind, mediaField } from './media.ts';
import { threadFields, withoutReply } from './place.ts';
import type { Presses } from './presses.ts';
import type { Room, State, Stored } from './state.ts';
import type { UpdateQueue } from './updates.ts';
import type { Chat, Entity, Message, User } from './wire.ts';

const kindOf: [keyof SayOptions, MediaKind][] = [
  ['photo', 'photo'],
  ['document', 'document'],
  ['voice', 'voice'],
  ['audio', 'audio'],
  ['video', 'video'],
  ['videoNote', 'video_note'],
  ['animation', 'animation'],
  ['sticker', 'sticker'],
];

/** Presses wait in a queue of their own per person, apart from the private chat with the same id. */
const pressQueueBase = 2 ** 44;

type People = Pick<
  TelegramEmulator,
  | 'say'
  | 'album'
  | 'editMessage'
  | 'unfurl'
  | 'deleteMessage'
  | 'press'
  | 'pressStale'
  | 'forward'
  | 'react'
  | 'service'
>;

/** What people do in chats. Mistakes of a test (a missing button, an unknown topic) throw at once. */
export function createPeople(parts: {
  state: State;
  queue: UpdateQueue;
  delivery: Delivery;
  presses: Presses;
}): People {
  const { state, queue, delivery, presses } = parts;

  const storedOf = (ref: MessageRef): { room: Room; stored: Stored } => {
    const room = state.room(ref.chat.id);
    const stored = room.stored.get(ref.message_id);
    if (!stored) throw new Error(`Telegram emulator: there is no message ${ref.message_id} in chat ${ref.chat.id}`);
    return { room, stored };
  };

  const say: People['say'] = (chat, user, text, options = {}) => {
    const room = state.room(chat.id);
    if (room.migratedTo !== null) throw new Error(`Telegram emulator: chat ${chat.id} moved to ${room.migratedTo}`);
    if (room.bot === 'unstarted') room.bot = 'member';
    if (chat.type !== 'private' && !room.members.has(user.id)) room.members.set(user.id, { user, status: 'member' });
    const message: Message = {
      message_id: state.nextMessageId(room),
      ...authorOf(room, user, options),
      chat: room.chat,
      date: options.date ?? state.unix(),
      ...placeFields(room, options),
      ...(options.mediaGroup && { media_group_id: options.mediaGroup }),
      ...(options.forwarded && { forward_origin: originOf(options.forwarded, state.unix()) }),
      ...contentOf(state, text, options),
      ...options.extra,
    };
    state.keep(room, message, { ours: false, formatting: message.entities ?? message.caption_entities ?? [] });
    delivery.message(room, message, 'message');
    state.changes.changed();
    return message;
  };

  const edit = (ref: MessageRef, date: number, fields: Partial<Message>): Message => {
    const { room, stored } = storedOf(ref);
    stored.message = { ...stored.message, ...fields, edit_date: date };
    delivery.message(room, stored.message, 'edited_message');
    state.changes.changed();
    return stored.message;
  };

  const pressed: People['pressStale'] = (user, ref, data, options = {}) => {
    const room = state.room(options.chat?.id ?? ref.chat.id);
    const stored = state.room(ref.chat.id).stored.get(ref.message_id);
    const id = presses.open();
    const message =
      stored && !options.inaccessible
        ? { ...stored.message, chat: room.chat }
        : { message_id: ref.message_id, chat: room.chat, date: 0 };
    const where = options.noMessage ? { inline_message_id: `AQ${id}` } : { message };
    const body = { id, from: user, ...where, chat_instance: `-58${Math.abs(room.chat.id)}`, data };
    const update_id = queue.add('callback_query', body, { queue: pressQueueBase + user.id });
    return {
      id,
      update_id,
      answered: (wait) => state.changes.until(`an answer to press ${id}`, () => presses.answerOf(id), wait),
      get answer() {
        return presses.answerOf(id) ?? null;
      },
      get over() {
        return presses.isOver(id);
      },
    };
  };

  return {
    say,
    album(chat, user, items, options = {}) {
      const { kind = 'photo', caption = '', ...rest } = options;
      const mediaGroup = rest.mediaGroup ?? `137${String(state.nextId()).padStart(14, '0')}`;
      return items.map((item, index) =>
        say(chat, user, index === 0 ? caption : '', { ...rest, mediaGroup, [kind]: item }),
      );
    },
    editMessage(ref, text, options = {}) {
      const { stored } = storedOf(ref);
      stored.versions.push(text);
      const entities = listOrNone(options.entities ?? detectEntities(text));
      const fields: Partial<Message> =
        stored.message.text === undefined ? { caption: text, caption_entities: entities } : { text, entities };
      return edit(ref, options.date ?? state.unix(), fields);
    },
    unfurl: (ref) => edit(ref, state.unix(), { link_preview_options: { url: 'https://example.org/' } }),
    deleteMessage(ref) {
      const { room, stored } = storedOf(ref);
      room.stored.delete(stored.message.message_id);
      state.changes.changed();
    },

    press(user, ref, wanted) {
      const buttons = rowsOf(storedOf(ref).stored.message.reply_markup).flat();
      const found = buttons.filter((button) => button.callback_data === wanted || button.text === wanted);
      const data = found[0]?.callback_data;
      if (found.length !== 1 || data === undefined) {
        const known = buttons.map(({ text, callback_data }) => `${text} (${callback_data})`).join(', ');
        throw new Error(
          `Telegram emulator: no button '${wanted}', or several, on message ${ref.message_id}; it has: ${known || 'none'}`,
        );
      }
      return pressed(user, ref, data);
    },
    pressStale: pressed,

    forward(user, ref, to) {
      const { stored } = storedOf(ref);
      const { from, chat, text, entities, caption, caption_entities, reply_markup } = stored.message;
      const origin = originOf(from ?? chat, stored.message.date);
      const keyboard = rowsOf(reply_markup).flat();
      const kept = keyboard.length > 0 && keyboard.every((button) => button.url !== undefined);
      const content = { text, entities, caption, caption_entities };
      return say(to, user, '', {
        extra: { ...content, forward_origin: origin, ...(kept ? { reply_markup } : {}) },
      });
    },

    react(user, ref, emoji, options = {}) {
      const { room, stored } = storedOf(ref);
      const before = stored.reactions.get(user.id) ?? [];
      stored.reactions.set(user.id, emoji);
      state.changes.changed();
      if (room.chat.type !== 'private' && room.bot !== 'administrator') return;
      const list = (values: string[]) => values.map((value) => ({ type: 'emoji', emoji: value }));
      const base = { chat: room.chat, message_id: ref.message_id, date: state.unix() };
      if (options.anonymous) {
        const counts = list(emoji).map((type) => ({ type, total_count: 1 }));
        queue.add('message_reaction_count', { ...base, reactions: counts }, { queue: room.chat.id });
        return;
      }
      const body = { ...base, user, old_reaction: list(before), new_reaction: list(emoji) };
      queue.add('message_reaction', body, { queue: room.chat.id });
    },

    service(chat, by, fields) {
      const room = state.room(chat.id);
      const head = { message_id: state.nextMessageId(room), from: by, chat: room.chat, date: state.unix() };
      const message: Message = { ...head, ...fields };
      state.keep(room, message, { ours: false, formatting: [] });
      delivery.message(room, message, 'message', true);
      state.changes.changed();
      return message;
    },
  };
}

function authorOf(room: Room, user: User, options: SayOptions): Partial<Message> {
  if (options.automaticForward) {
    return { from: telegramItself, sender_chat: options.automaticForward, is_automatic_forward: true };
  }
  if (options.as === 'anonymous_admin') {
    return { from: anonymousAdmin, sender_chat: room.chat, author_signature: 'admin' };
  }
  if (options.as) return { from: channelIdentity, sender_chat: options.as };
  return room.chat.type === 'channel' ? { sender_chat: room.chat } : { from: user };
}

function placeFields(room: Room, options: SayOptions): Partial<Message> {
  const topic = options.thread === undefined ? null : room.topics.get(options.thread);
  if (topic === undefined) throw new Error(`Telegram emulator: chat ${room.chat.id} has no topic ${options.thread}`);
  if (!options.replyTo) return threadFields(room, topic, undefined);
  const replied = room.stored.get(options.replyTo.message_id)?.message;
  if (!replied) throw new Error(`Telegram emulator: cannot reply to ${options.replyTo.message_id}: it is not there`);
  return threadFields(room, topic, withoutReply(replied));
}

function contentOf(state: State, text: string, options: SayOptions): Partial<Message> {
  const entities = listOrNone(options.entities ?? detectEntities(text));
  for (const [option, kind] of kindOf) {
    const file = options[option] as (FileSpec & { emoji?: string }) | undefined;
    if (!file) continue;
    const entry = keepFile(state, kind, { bytes: bytesOf(file), size: file.size, name: file.name });
    const media = mediaField(kind, entry, file);
    return text === '' ? media : { ...media, caption: text, caption_entities: entities };
  }
  return text === '' && options.extra ? {} : { text, entities };
}

function bytesOf(file: FileSpec): Buffer {
  if (file.bytes === undefined) return Buffer.from('bytes');
  return Buffer.from(file.bytes as string);
}

const listOrNone = (entities: Entity[]) => (entities.length > 0 ? entities : undefined);

function originOf(from: User | string | Chat, date: number): Record<string, unknown> {
  if (typeof from === 'string') return { type: 'hidden_user', date, sender_user_name: from };
  if ('is_bot' in from) return { type: 'user', date, sender_user: from };
  return from.type === 'channel'
    ? { type: 'channel', date, chat: from, message_id: 1 }
    : { type: 'chat', date, sender_chat: from };
}
