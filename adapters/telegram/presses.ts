/**
 * Answers to presses. Until one comes a button turns, and what it says only the presser sees. Telegram wants it soon
 * and takes it once; nothing else waits for it, and none is owed: a decision is stored before it is answered, and the
 * card shows it.
 */
import { messageOf } from '../../src/base/errors.ts';
import type { AdapterContext } from '../../src/types/adapter.ts';
import type { Client } from './client.ts';
import { type Failure, failureOf, isQueryTooOld } from './failures.ts';

export interface Presses {
  /** Answers in the background; `notice` is shown to the presser in a box, its first 200 characters. Never throws. */
  answer(id: string, notice?: string): void;
  /** Resolves when the open answers are given or given up, soon in any case. */
  close(): Promise<void>;
}

const noticeCharsMax = 200;
/** Far fewer than the connections of a bot, so that answers that hang leave room for polls and messages. */
const atOnceMax = 16;
/** People who press as fast as they can must not fill the memory; the buttons of the rest stop turning by themselves. */
const waitingMax = 200;
const triesMax = 3;
const retryMs = 1_000;
/** A press that is answered later than this helps nobody. */
const retryMsMax = 5_000;
const closeMs = 2_000;

export function createPresses(client: Client, context: AdapterContext): Presses {
  const waiting: { id: string; notice: string }[] = [];
  const running = new Set<Promise<void>>();
  /** Ends the waits between tries, and then the calls. */
  const closing = new AbortController();
  const cutting = new AbortController();

  async function drain(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        await deliver(next.id, next.notice);
      } catch (error) {
        context.count('press_answers_failed');
        context.log.warn({ reason: messageOf(error) }, 'a press on Telegram got no answer');
      }
    }
  }

  async function deliver(id: string, notice: string): Promise<void> {
    const words = notice === '' ? {} : { text: cut(notice), show_alert: true };
    for (let tries = 1; ; tries++) {
      try {
        await client.raw.answerCallbackQuery({ callback_query_id: id, ...words }, cutting.signal as never);
        return;
      } catch (error) {
        const failure = failureOf(error);
        // Answered by an earlier delivery of the same press, or its time is over: the button turns no more.
        if (isQueryTooOld(failure)) return;
        const wait = waitOf(failure);
        if (wait === null || tries === triesMax || closing.signal.aborted) throw error;
        await context.clock.sleep(wait, closing.signal);
      }
    }
  }

  return {
    answer(id, notice = '') {
      if (waiting.length >= waitingMax || closing.signal.aborted) return context.count('press_answers_dropped');
      waiting.push({ id, notice });
      if (running.size >= atOnceMax) return;
      const work = drain().finally(() => running.delete(work));
      running.add(work);
    },
    async close() {
      closing.abort();
      const cancel = context.clock.after(closeMs, () => cutting.abort());
      await Promise.all(running);
      cancel();
    },
  };
}

/** Null when another try cannot help, or not in time. */
function waitOf(failure: Failure): number | null {
  if (failure.kind === 'unreachable') return retryMs;
  if (failure.code >= 500) return retryMs;
  if (failure.code !== 429) return null;
  const wait = failure.retryAfterMs ?? retryMs;
  return wait <= retryMsMax ? wait : null;
}

function cut(notice: string): string {
  if (notice.length <= noticeCharsMax) return notice.toWellFormed();
  // Half a surrogate pair at the cut would make the request invalid.
  const kept = notice.slice(0, noticeCharsMax - 1).replace(/[\ud800-\udbff]$/, '');
  return `${kept.toWellFormed()}…`;
}
