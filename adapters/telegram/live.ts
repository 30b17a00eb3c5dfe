/**
 * What is shown while an answer is being made and is gone afterwards: typing, and the draft of an answer. Nothing here
 * is owed to anybody: it never throws, and a chat that Telegram asks to leave alone is left alone.
 */
import type { Clock } from '../../src/base/clock.ts';
import { sha256 } from '../../src/base/digest.ts';
import type { Place } from '../../src/types/message.ts';
import type { Client } from './client.ts';
import { type Failure, failureOf } from './failures.ts';
import { clip, render, textLengthMax } from './render.ts';
import { chatId, threadId } from './send.ts';

/** Chats that are remembered as not to be disturbed, or as having no drafts; the oldest are forgotten first. */
const chatsMax = 10_000;

export interface Live {
  typing(place: Place): Promise<void>;
  /** Draft streaming (`sendMessageDraft`), which exists in private chats only; false where it does not work. */
  preview(place: Place, answerId: string, markdown: string): Promise<boolean>;
  /** Before the message that takes a draft's place: a draft that arrived after it would stand below it for 30 s. */
  settle(place: Place, answerId: string): Promise<void>;
}

/** A draft call that hangs does not hold the message back longer. */
const settleMs = 1_000;

export function createLive(client: Client, clock: Clock): Live {
  const quietUntil = new Map<string, number>();
  const withoutDrafts = new Set<string>();
  let draftsExist = true;
  /** One draft call at a time and answer; what comes meanwhile replaces what waits. */
  const waiting = new Map<string, { place: Place; markdown: string } | null>();
  const running = new Map<string, Promise<void>>();

  const isQuiet = (chat: string) => (quietUntil.get(chat) ?? 0) > clock.now();
  const learn = (chat: string, failure: Failure) => {
    if (failure.kind === 'refused' && failure.code === 429)
      remember(quietUntil, chat, clock.now() + (failure.retryAfterMs ?? 1000));
  };

  async function typing(place: Place): Promise<void> {
    if (isQuiet(place.chat)) return;
    const thread = threadId(place);
    try {
      await client.raw.sendChatAction({
        chat_id: chatId(place),
        action: 'typing',
        ...(thread === undefined ? {} : { message_thread_id: thread }),
      });
    } catch (error) {
      learn(place.chat, failureOf(error));
    }
  }

  async function draft(place: Place, answerId: string, markdown: string): Promise<void> {
    const content = clip(render(markdown), textLengthMax);
    const thread = threadId(place);
    // An empty draft would read "Thinking…"; the last one goes by itself within 30 s or with the next message.
    if (content.text === '' || isQuiet(place.chat)) return;
    try {
      await client.raw.sendMessageDraft({
        chat_id: chatId(place),
        draft_id: draftId(answerId),
        ...content,
        ...(thread === undefined ? {} : { message_thread_id: thread }),
      });
    } catch (error) {
      const failure = failureOf(error);
      learn(place.chat, failure);
      if (failure.kind !== 'refused') return;
      // An older server does not know the method at all; this chat may not have drafts.
      if (failure.code === 404) draftsExist = false;
      else if (failure.code === 400 || failure.code === 403) remember(withoutDrafts, place.chat);
    }
  }

  const isPossible = (place: Place) => draftsExist && chatId(place) > 0 && !withoutDrafts.has(place.chat);

  async function preview(place: Place, answerId: string, markdown: string): Promise<boolean> {
    if (!isPossible(place)) return false;
    const key = `${place.chat} ${answerId}`;
    if (waiting.has(key)) {
      waiting.set(key, { place, markdown });
      return true;
    }
    const run = drain(key, answerId, { place, markdown });
    running.set(key, run);
    await run;
    return isPossible(place);
  }

  async function drain(key: string, answerId: string, first: { place: Place; markdown: string }): Promise<void> {
    let next: { place: Place; markdown: string } | null = first;
    try {
      while (next) {
        waiting.set(key, null);
        await draft(next.place, answerId, next.markdown);
        next = waiting.get(key) ?? null;
      }
    } finally {
      waiting.delete(key);
      running.delete(key);
    }
  }

  async function settle(place: Place, answerId: string): Promise<void> {
    const key = `${place.chat} ${answerId}`;
    const run = running.get(key);
    if (!run) return;
    waiting.set(key, null);
    let cancel = () => {};
    const enough = new Promise<void>((resolve) => {
      cancel = clock.after(settleMs, resolve);
    });
    await Promise.race([run.catch(() => {}), enough]);
    cancel();
  }

  return { typing, preview, settle };
}

/** The same non-zero 31-bit number for all pieces of an answer. */
function draftId(answerId: string): number {
  return Number.parseInt(sha256(answerId).slice(0, 8), 16) & 0x7fffffff || 1;
}

function remember(known: Set<string>, chat: string): void;
function remember(known: Map<string, number>, chat: string, until: number): void;
function remember(known: Set<string> | Map<string, number>, chat: string, until = 0): void {
  known.delete(chat);
  if (known instanceof Set) known.add(chat);
  else known.set(chat, until);
  if (known.size > chatsMax) known.delete(known.keys().next().value!);
}
