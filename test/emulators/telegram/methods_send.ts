import { integer, structure, text } from './arguments.ts';
import { readText } from './content.ts';
import { readMarkup } from './markup.ts';
import { captionFields, type MediaKind, mediaKinds, sentFile } from './media.ts';
import { placeOf, topicOf } from './place.ts';
import type { Request } from './server.ts';
import { type Room, roomToWrite, type State } from './state.ts';
import { type Arguments, badRequest, type Entity, type Message } from './wire.ts';

const mediaGroupMax = 10;
const chatActions = new Set(
  `typing upload_photo record_video upload_video record_voice upload_voice record_audio upload_audio upload_document
  choose_sticker find_location record_video_note upload_video_note`.split(/\s+/),
);

export function sendMethods(state: State): Record<string, (request: Request) => unknown> {
  const put = (room: Room, fields: Partial<Message>, formatting: Entity[]): Message => {
    const message: Message = {
      message_id: state.nextMessageId(room),
      from: state.bot,
      chat: room.chat,
      date: state.unix(),
      ...fields,
    };
    state.keep(room, message, { ours: true, formatting });
    room.drafts.length = 0;
    state.changes.changed();
    return message;
  };

  const sendMedia = (kind: MediaKind) => (request: Request) => {
    const { room, fields } = placeOf(state, request.args);
    const file = sentFile(state, kind, request.args[kind], request.uploads, kind);
    const caption = captionFields(state, request.args);
    const markup = readMarkup(request.args);
    return put(
      room,
      { ...fields, ...file, ...caption.fields, ...(markup?.inline_keyboard?.length && { reply_markup: markup }) },
      caption.formatting,
    );
  };

  const methods: Record<string, (request: Request) => unknown> = {
    sendMessage({ args }) {
      const { room, fields } = placeOf(state, args);
      const content = readText(state, args);
      const markup = readMarkup(args);
      const message: Partial<Message> = { ...fields, text: content.text };
      if (content.entities.length > 0) message.entities = content.entities;
      if (markup?.inline_keyboard?.length) message.reply_markup = markup;
      return put(room, message, content.formatting);
    },

    sendMediaGroup({ args, uploads }) {
      const { room, fields } = placeOf(state, args);
      const items = structure<Arguments[]>(args, 'media', 'media');
      if (!Array.isArray(items) || items.length === 0) throw badRequest('there are no messages to send');
      if (items.length > mediaGroupMax) throw badRequest('too many messages to send as an album');
      const made = items.map((item) => {
        const kind = text(item, 'type') as MediaKind;
        if (!['photo', 'document', 'audio', 'video'].includes(kind))
          throw badRequest(`type "${kind}" can't be used in an album`);
        return { file: sentFile(state, kind, item.media, uploads, 'media'), caption: captionFields(state, item) };
      });
      const group = `137${String(state.nextId()).padStart(14, '0')}`;
      return made.map(({ file, caption }) =>
        put(room, { ...fields, media_group_id: group, ...file, ...caption.fields }, caption.formatting),
      );
    },

    sendMessageDraft({ args }) {
      const room = roomToWrite(state, args.chat_id);
      if (room.chat.type !== 'private') throw badRequest('TEXTDRAFT_PEER_INVALID');
      const topic = topicOf(room, integer(args, 'message_thread_id') ?? 0);
      const draftId = integer(args, 'draft_id') ?? 0;
      if (draftId === 0) throw badRequest('RANDOM_ID_INVALID');
      const content = readText(state, args, true);
      const draft = { draftId, text: content.text, at: state.clock.now(), thread: topic?.id ?? null };
      const index = room.drafts.findIndex((entry) => entry.draftId === draftId);
      if (index < 0) room.drafts.push(draft);
      else room.drafts[index] = draft;
      state.changes.changed();
      return true;
    },

    sendChatAction({ args }) {
      const room = roomToWrite(state, args.chat_id);
      const action = text(args, 'action');
      if (!chatActions.has(action)) throw badRequest('wrong parameter action in request');
      const topic = topicOf(room, integer(args, 'message_thread_id') ?? 0);
      room.actions.push({ action, at: state.clock.now(), thread: topic?.id ?? null });
      if (room.actions.length > 1_000) room.actions.shift();
      state.changes.changed();
      return true;
    },
  };
  for (const kind of mediaKinds) {
    const name = kind.replace(/(^|_)([a-z])/g, (_match, _mark, letter: string) => letter.toUpperCase());
    methods[`send${name}`] = sendMedia(kind);
  }
  return methods;
}
