import { flag, integer, structure } from './arguments.ts';
import { type Room, roomToWrite, type State, type Topic } from './state.ts';
import { type Arguments, badRequest, type Message } from './wire.ts';

/** Where a method puts a message, and the fields that follow from it. */
export interface Place {
  room: Room;
  fields: Partial<Message>;
}

/**
 * Resolves chat_id, message_thread_id and reply_parameters. A thread id is good only for a topic that exists; the General
 * topic (1) is addressed without one; a reply thread of a plain supergroup is no topic (platforms.md 2.3).
 */
export function placeOf(state: State, args: Arguments): Place {
  const room = roomToWrite(state, args.chat_id);
  const topic = topicOf(room, integer(args, 'message_thread_id') ?? 0);
  const replied = repliedTo(room, args);
  const fields = threadFields(room, topic, replied);
  return { room, fields };
}

/** In a topic every message that answers nothing quotes the topic's creation; a reply thread is no topic. */
export function threadFields(room: Room, topic: Topic | null, replied: Message | undefined): Partial<Message> {
  if (topic) {
    return {
      message_thread_id: topic.id,
      is_topic_message: true,
      reply_to_message: replied ?? topic.created,
    };
  }
  if (!replied) return {};
  const fields: Partial<Message> = { reply_to_message: replied };
  if (replied.is_topic_message) {
    fields.message_thread_id = replied.message_thread_id;
    fields.is_topic_message = true;
  } else if (room.chat.type === 'supergroup') {
    fields.message_thread_id = replied.message_thread_id ?? replied.message_id;
  }
  return fields;
}

export function topicOf(room: Room, thread: number): Topic | null {
  if (thread === 0) return null;
  const topic = room.topics.get(thread);
  if (!topic || topic.state === 'deleted') throw badRequest('message thread not found');
  if (topic.state === 'closed') throw badRequest('TOPIC_CLOSED');
  return topic.state === 'lost' ? null : topic;
}

function repliedTo(room: Room, args: Arguments): Message | undefined {
  const given = structure<Arguments>(args, 'reply_parameters', 'reply parameters') ?? {
    message_id: integer(args, 'reply_to_message_id'),
    allow_sending_without_reply: flag(args, 'allow_sending_without_reply'),
  };
  const id = integer(given, 'message_id');
  if (id === undefined || id === 0) return undefined;
  const stored = room.stored.get(id);
  if (!stored) {
    if (flag(given, 'allow_sending_without_reply')) return undefined;
    throw badRequest('message to be replied not found');
  }
  const quote = given.quote;
  if (typeof quote === 'string' && !(stored.message.text ?? stored.message.caption ?? '').includes(quote)) {
    throw badRequest('QUOTE_TEXT_INVALID');
  }
  return withoutReply(stored.message);
}

/** A quoted message does not carry the one it quotes. */
export function withoutReply(message: Message): Message {
  if (message.reply_to_message === undefined) return message;
  const { reply_to_message: _quoted, ...rest } = message;
  return rest;
}
