/**
 * Messages of ours: put, changed, taken away. One call each and never a retry of an uncertain one; the only second call
 * repeats words without their formatting after the server has refused that, and so has certainly not shown them.
 */
import type { InlineKeyboardMarkup } from 'grammy/types';
import { DeliveryError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import type { OutgoingMessage, Place, SentMessage } from '../../src/types/message.ts';
import type { Client } from './client.ts';
import {
  deliveryErrorOf,
  type Failure,
  failureOf,
  isEntityRefusal,
  isGone,
  isNotModified,
  isPastEditing,
} from './failures.ts';
import type { Formatted } from './formatted.ts';
import { keyboardOf } from './keyboard.ts';
import { render, renderPlain } from './render.ts';

/** Link previews would make other people's servers load (rule 37). */
const noPreview = { is_disabled: true } as const;
/** The General topic of a forum is addressed by naming no topic. */
const generalTopic = '1';

export interface Sender {
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage>;
  edit(ref: string, message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  remove(ref: string, place: Place): Promise<void>;
  react(ref: string, place: Place, emoji: string | null): Promise<void>;
}

export function createSender(client: Client, log: Log): Sender {
  async function send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage> {
    const thread = threadId(message.place);
    const replyTo = Number(message.replyTo);
    const keyboard = message.question && keyboardOf(message.question);
    const sent = await formatted(message.markdown, (content) =>
      client.raw.sendMessage(
        {
          chat_id: chatId(message.place),
          ...content,
          link_preview_options: noPreview,
          ...(thread === undefined ? {} : { message_thread_id: thread }),
          ...(message.replyTo !== undefined && Number.isSafeInteger(replyTo)
            ? { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }
            : {}),
          ...(keyboard?.inline_keyboard.length ? { reply_markup: keyboard } : {}),
        },
        signal as never,
      ),
    );
    const ref = String(sent.message_id);
    if (thread !== undefined && sent.message_thread_id !== thread) await takeBack(ref, message.place);
    return { ref, ...(Number.isSafeInteger(sent.date) ? { sentAt: sent.date * 1000 } : {}) };
  }

  /** The topic is gone and the server put the message into the whole chat: rule 21 wants it nowhere instead. */
  async function takeBack(ref: string, place: Place): Promise<never> {
    let removed = true;
    try {
      await remove(ref, place);
    } catch {
      removed = false;
      log.error({ chat: place.chat, thread: place.thread, message: ref }, 'a message outside its topic stays visible');
    }
    throw new DeliveryError('Telegram: the topic of this conversation is gone, so nothing was posted.', {
      outcome: removed ? 'not_sent' : 'unknown',
      permanent: true,
    });
  }

  async function edit(ref: string, message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    // Without a keyboard Telegram takes an earlier one away.
    const keyboard = message.question && keyboardOf(message.question);
    let failure = undefined as Failure | undefined;
    try {
      await formatted(message.markdown, async (content) => {
        try {
          await client.raw.editMessageText(
            {
              chat_id: chatId(message.place),
              message_id: Number(ref),
              ...content,
              link_preview_options: noPreview,
              ...(keyboard ? { reply_markup: keyboard } : {}),
            },
            signal as never,
          );
        } catch (error) {
          failure = failureOf(error);
          if (!isNotModified(failure)) throw error;
        }
      });
    } catch (error) {
      const isForGood = error instanceof DeliveryError && (error.permanent || error.migratedTo !== undefined);
      if (!keyboard || !isForGood) throw error;
      // Buttons that decide nothing any more must not stay, whatever is wrong with the words.
      await editButtons(ref, message.place, keyboard, signal);
      if (!failure || !isPastEditing(failure)) throw error;
    }
  }

  /** Where not even that is possible there is nothing left to do: the core refuses presses on what is decided. */
  async function editButtons(
    ref: string,
    place: Place,
    keyboard: InlineKeyboardMarkup,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await client.raw.editMessageReplyMarkup(
        { chat_id: chatId(place), message_id: Number(ref), reply_markup: keyboard },
        signal as never,
      );
    } catch (error) {
      const failure = failureOf(error);
      if (isNotModified(failure)) return;
      if (!isPastEditing(failure)) throw deliveryErrorOf(error);
      log.info({ chat: place.chat, message: ref }, 'a question on Telegram can be changed no more');
    }
  }

  /** Calls with the formatted words, and once more with the bare ones when the server refuses our formatting. */
  async function formatted<T>(markdown: string, call: (content: Formatted) => Promise<T>): Promise<T> {
    const content = render(markdown);
    if (content.text === '')
      throw new DeliveryError('Telegram: the message has no visible words.', { outcome: 'not_sent', permanent: true });
    try {
      return await call(content);
    } catch (error) {
      if (content.entities.length === 0 || !isEntityRefusal(failureOf(error))) throw deliveryErrorOf(error);
      log.warn({ err: deliveryErrorOf(error) }, 'Telegram refused the formatting of a message; it goes as plain text');
    }
    try {
      return await call(renderPlain(markdown));
    } catch (error) {
      throw deliveryErrorOf(error);
    }
  }

  async function remove(ref: string, place: Place): Promise<void> {
    try {
      await client.raw.deleteMessage({ chat_id: chatId(place), message_id: Number(ref) });
    } catch (error) {
      if (!isGone(failureOf(error))) throw deliveryErrorOf(error);
    }
  }

  async function react(ref: string, place: Place, emoji: string | null): Promise<void> {
    try {
      await client.raw.setMessageReaction({
        chat_id: chatId(place),
        message_id: Number(ref),
        // Telegram knows a fixed list of emoji and refuses others (REACTION_INVALID).
        reaction: emoji === null ? [] : [{ type: 'emoji', emoji: emoji as '👍' }],
      });
    } catch (error) {
      throw deliveryErrorOf(error);
    }
  }

  return { send, edit, remove, react };
}

/** Ids of at most 52 bits: exact as numbers. */
export function chatId(place: Pick<Place, 'chat'>): number {
  return Number(place.chat);
}

export function threadId(place: Place): number | undefined {
  return place.thread === undefined || place.thread === generalTopic ? undefined : Number(place.thread);
}
