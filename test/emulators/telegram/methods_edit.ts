import { integer, structure, text } from './arguments.ts';
import { readText } from './content.ts';
import { readMarkup, sameMarkup } from './markup.ts';
import { captionFields, mediaKinds } from './media.ts';
import { reactions } from './reactions.ts';
import type { Request } from './server.ts';
import { type Room, roomToRead, roomToWrite, type State, type Stored } from './state.ts';
import { type Arguments, badRequest, type Markup, type Message } from './wire.ts';

const notModified =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';
const deleteAgeMs = 48 * 3_600_000;

export function editMethods(state: State): Record<string, (request: Request) => unknown> {
  const target = (args: Arguments): { room: Room; stored: Stored } => {
    if (args.inline_message_id !== undefined) throw badRequest('MESSAGE_ID_INVALID');
    const room = roomToWrite(state, args.chat_id);
    const id = integer(args, 'message_id');
    if (id === undefined) throw badRequest('message identifier is not specified');
    const stored = room.stored.get(id);
    if (!stored) throw badRequest('message to edit not found');
    if (!stored.ours) throw badRequest("message can't be edited");
    return { room, stored };
  };

  /** Replaces the message object, so that answers given earlier stay what they were. */
  const change = (stored: Stored, fields: Partial<Message>, markup: Markup | undefined): Message => {
    const next: Message = { ...stored.message, ...fields, edit_date: state.unix() };
    if (markup?.inline_keyboard?.length) next.reply_markup = markup;
    else delete next.reply_markup;
    stored.message = next;
    state.changes.changed();
    return next;
  };

  return {
    editMessageText({ args }) {
      const { stored } = target(args);
      const content = readText(state, args);
      const markup = readMarkup(args);
      const old = stored.message;
      if (old.text === undefined) throw badRequest('there is no text in the message to edit');
      if (
        old.text === content.text &&
        JSON.stringify(stored.formatting) === JSON.stringify(content.formatting) &&
        sameMarkup(old.reply_markup, markup)
      ) {
        throw badRequest(notModified);
      }
      stored.formatting = content.formatting;
      if (old.text !== content.text) stored.versions.push(content.text);
      const entities = content.entities.length > 0 ? content.entities : undefined;
      return change(stored, { text: content.text, entities }, markup);
    },

    editMessageCaption({ args }) {
      const { stored } = target(args);
      const caption = captionFields(state, args);
      const markup = readMarkup(args);
      const old = stored.message;
      if (mediaKinds.every((kind) => old[kind] === undefined)) {
        throw badRequest('there is no caption in the message to edit');
      }
      if (old.caption === caption.fields.caption && sameMarkup(old.reply_markup, markup)) throw badRequest(notModified);
      stored.formatting = caption.formatting;
      stored.versions.push(caption.fields.caption ?? '');
      return change(stored, { caption: undefined, caption_entities: undefined, ...caption.fields }, markup);
    },

    editMessageReplyMarkup({ args }) {
      const { stored } = target(args);
      const markup = readMarkup(args);
      if (sameMarkup(stored.message.reply_markup, markup)) throw badRequest(notModified);
      return change(stored, {}, markup);
    },

    deleteMessage({ args }) {
      const room = roomToWrite(state, args.chat_id);
      remove(room, integer(args, 'message_id'));
      return true;
    },

    /** Skips what is not there, as documented. */
    deleteMessages({ args }) {
      const room = roomToWrite(state, args.chat_id);
      const ids = structure<unknown[]>(args, 'message_ids', 'message_ids') ?? [];
      if (ids.length === 0 || ids.length > 100) throw badRequest('message identifiers are not specified');
      for (const id of ids) if (room.stored.has(Number(id))) remove(room, Number(id));
      return true;
    },

    setMessageReaction({ args }) {
      const room = roomToWrite(state, args.chat_id);
      const stored = room.stored.get(integer(args, 'message_id') ?? 0);
      if (!stored) throw badRequest('message to react not found');
      const given = structure<{ type: string; emoji?: string }[]>(args, 'reaction', 'reaction types') ?? [];
      const emoji = given.map((entry) => String(entry.emoji));
      if (emoji.some((entry) => !reactions.has(entry))) throw badRequest('REACTION_INVALID');
      if (emoji.length > 1) throw badRequest('REACTIONS_TOO_MANY');
      stored.reactions.set(state.bot.id, emoji);
      state.changes.changed();
      return true;
    },

    pinChatMessage: ({ args }) => pin(args),
    unpinChatMessage: ({ args }) => pin(args),
  };

  function remove(room: Room, id: number | undefined): void {
    const stored = room.stored.get(id ?? 0);
    if (!stored) throw badRequest('message to delete not found');
    const old = state.clock.now() - stored.message.date * 1000 > deleteAgeMs;
    const mayAll = room.chat.type === 'private' || room.bot === 'administrator' || room.bot === 'creator';
    if ((!stored.ours && !mayAll) || (old && room.bot !== 'administrator')) {
      throw badRequest("message can't be deleted");
    }
    room.stored.delete(stored.message.message_id);
    state.changes.changed();
  }

  function pin(args: Arguments): true {
    const room = roomToRead(state, args.chat_id);
    const isPrivate = room.chat.type === 'private';
    if (!isPrivate && room.bot !== 'administrator') {
      throw badRequest('not enough rights to manage pinned messages in the chat');
    }
    const id = text(args, 'message_id');
    if (id !== '' && !room.stored.has(Number(id))) throw badRequest('message to pin not found');
    return true;
  }
}
