import { tooMany } from './faults.ts';
import type { Call } from './record.ts';
import type { State } from './state.ts';

/** core.telegram.org/bots/faq: about one a second in a chat (short bursts pass), 20 a minute in a group, 30 a second. */
const chatPerSecond = 1;
const chatBurst = 3;
const groupPerMinute = 20;
const allPerSecond = 30;

export interface RateLimits {
  readonly flooded: { refused: number; ignored: number };
  /** Throws the 429 with its retry_after. A refused call uses nothing up. */
  check(call: Call): void;
  flood(chat: number | 'all', seconds: number): void;
}

interface Spent {
  tokens: number;
  at: number;
  /** Times of the last minute's messages, of groups. */
  recent: number[];
}

export function createRateLimits(state: State, mode: 'enforce' | 'off'): RateLimits {
  const flooded = { refused: 0, ignored: 0 };
  const penalties = new Map<number | 'all', number>();
  const chats = new Map<number, Spent>();
  const recentOfAll: number[] = [];
  let webhookSetAt = Number.NEGATIVE_INFINITY;

  const refuse = (key: number | 'all', waitMs: number): never => {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    penalties.set(key, state.clock.now() + seconds * 1000);
    flooded.refused += 1;
    throw tooMany(seconds);
  };

  const checkPenalty = (key: number | 'all') => {
    const until = penalties.get(key);
    if (until === undefined) return;
    const left = until - state.clock.now();
    if (left <= 0) {
      penalties.delete(key);
      return;
    }
    flooded.refused += 1;
    flooded.ignored += 1;
    throw tooMany(Math.ceil(left / 1000));
  };

  return {
    flooded,
    flood(chat, seconds) {
      penalties.set(chat, state.clock.now() + seconds * 1000);
    },
    check(call) {
      if (penalties.size === 0 && mode === 'off') return;
      if (call.method.startsWith('get') || call.method === 'download') return;
      const chat = Number(call.args.chat_id);
      checkPenalty('all');
      if (!Number.isNaN(chat)) checkPenalty(chat);
      if (mode === 'enforce' && call.method === 'setWebhook') {
        const left = webhookSetAt + 1_000 - state.clock.now();
        if (left > 0) throw tooMany(1);
        webhookSetAt = state.clock.now();
      }
      if (mode === 'off' || !state.rooms.has(chat) || !isVisible(call.method)) return;
      const count = call.method === 'sendMediaGroup' && Array.isArray(call.args.media) ? call.args.media.length : 1;
      const now = state.clock.now();
      forget(recentOfAll, now - 1_000);
      if (recentOfAll.length >= allPerSecond) refuse('all', recentOfAll[0]! + 1_000 - now);
      const spent = chats.get(chat) ?? { tokens: chatBurst, at: now, recent: [] };
      spent.tokens = Math.min(chatBurst, spent.tokens + ((now - spent.at) / 1000) * chatPerSecond);
      spent.at = now;
      chats.set(chat, spent);
      if (chat < 0) {
        forget(spent.recent, now - 60_000);
        if (spent.recent.length >= groupPerMinute) refuse(chat, spent.recent[0]! + 60_000 - now);
      }
      if (spent.tokens < 1) refuse(chat, ((1 - spent.tokens) / chatPerSecond) * 1000);
      spent.tokens -= count;
      for (let each = 0; each < count; each += 1) {
        recentOfAll.push(now);
        if (chat < 0) spent.recent.push(now);
      }
    },
  };
}

/** Calls that people see: they share the chat's budget, edits with sends. */
function isVisible(method: string): boolean {
  if (method === 'sendChatAction' || method === 'sendMessageDraft') return false;
  return method.startsWith('send') || method.startsWith('edit');
}

function forget(times: number[], until: number): void {
  let count = 0;
  while (count < times.length && times[count]! <= until) count += 1;
  if (count > 0) times.splice(0, count);
}
