import type { Visible } from './api.ts';
import { rowsOf } from './markup.ts';
import { mediaKinds } from './media.ts';
import type { Room, State, Stored } from './state.ts';

const detectedTypes = new Set('mention hashtag cashtag bot_command url email phone_number'.split(' '));

/** A stored message as people see it. */
export function visibleOf(state: State, room: Room, stored: Stored): Visible {
  const { message } = stored;
  const all = message.entities ?? message.caption_entities ?? [];
  return {
    id: message.message_id,
    chat: room.chat.id,
    from: message.from,
    fromBot: message.from?.id === state.bot.id,
    text: message.text ?? message.caption ?? '',
    entities: stored.ours ? stored.formatting : all.filter((entity) => !detectedTypes.has(entity.type)),
    detected: all.filter((entity) => detectedTypes.has(entity.type)),
    buttons: rowsOf(message.reply_markup),
    thread: message.is_topic_message ? (message.message_thread_id ?? null) : null,
    replyTo: explicitReply(room, stored),
    versions: [...stored.versions],
    mediaGroup: message.media_group_id ?? null,
    media: mediaKinds.find((kind) => message[kind] !== undefined) ?? null,
    reactions: [...stored.reactions.values()].flat(),
    date: message.date,
    wire: message,
  };
}

function explicitReply(room: Room, stored: Stored): number | null {
  const replied = stored.message.reply_to_message;
  if (!replied) return null;
  const topic = stored.message.is_topic_message ? room.topics.get(stored.message.message_thread_id ?? 0) : undefined;
  return topic?.created.message_id === replied.message_id ? null : replied.message_id;
}

export function visibleIn(state: State, chat: number): Visible[] {
  const room = state.room(chat);
  return [...room.stored.values()].map((stored) => visibleOf(state, room, stored));
}
