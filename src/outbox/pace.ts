/**
 * How fast a channel may be written to (rule 85). The first message of an answer goes out at once; further parts,
 * notices and edits draw on the budget the platform declares, and a 429 teaches that a chat, or the account, must be
 * kept to it for a while.
 */
import type { AdapterLimits } from '../types/adapter.ts';

/** After a 429 everything in that chat keeps to the budget for this long. */
const strictMs = 10 * 60_000;
/** What a quiet chat may be sent at once. */
const burst = { direct: 3, group: 5 };
/** What edits must leave over for answers: in a group several may end at the same time. */
const editReserve = { direct: 1, group: 2 };
/** Chats remembered; the oldest untouched is forgotten. */
const chatsMax = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

export interface Pace {
  /** Milliseconds to wait before this may go; 0 takes it from the budget. */
  take(chat: string, kind: 'direct' | 'group', what: 'answer' | 'more' | 'edit', now: number): number;
  /** The platform said "too many": nothing goes to the chat for so long, and little for a while after. */
  slow(chat: string, retryAfterMs: number, now: number): void;
}

export function createPace(
  limits: Pick<AdapterLimits, 'directPerSecond' | 'groupPerMinute' | 'accountPerSecond'>,
): Pace {
  const chats = new Map<string, Bucket>();
  const strictUntil = new Map<string, number>();
  const account: Bucket = { tokens: limits.accountPerSecond, at: 0 };
  let accountStrictUntil = 0;

  const refill = (bucket: Bucket, perMs: number, most: number, now: number) => {
    bucket.tokens = Math.min(most, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
  };
  const bucketOf = (chat: string, most: number, now: number) => {
    let bucket = chats.get(chat);
    if (bucket) chats.delete(chat);
    else bucket = { tokens: most, at: now };
    chats.set(chat, bucket);
    if (chats.size > chatsMax) chats.delete(chats.keys().next().value as string);
    return bucket;
  };

  return {
    take(chat, kind, what, now) {
      // A group's limit holds for any minute, the burst at its beginning included.
      const perMs = kind === 'direct' ? limits.directPerSecond / 1000 : (limits.groupPerMinute - burst.group) / 60_000;
      const bucket = bucketOf(chat, burst[kind], now);
      refill(bucket, perMs, burst[kind], now);
      refill(account, limits.accountPerSecond / 1000, limits.accountPerSecond, now);
      const until = strictUntil.get(chat) ?? 0;
      const strict = until > now;
      // Whatever was refused, nothing goes to that chat before the platform allows it again (D4).
      const quietWait = until - strictMs - now;
      const needed = what === 'edit' ? 1 + editReserve[kind] : 1;
      const wait = bucket.tokens >= needed ? 0 : Math.ceil((needed - bucket.tokens) / perMs);
      const free = what === 'answer' && !strict;
      const accountShort = account.tokens < (what === 'edit' ? limits.accountPerSecond / 2 : 1);
      const accountWait =
        accountShort && (what === 'edit' || accountStrictUntil > now) ? 1000 / limits.accountPerSecond : 0;
      const longest = Math.max(free ? 0 : wait, accountWait, quietWait);
      if (longest > 0) return Math.ceil(longest);
      // Never below one burst of debt, so that a busy chat recovers when it calms down.
      bucket.tokens = Math.max(-burst[kind], bucket.tokens - 1);
      account.tokens = Math.max(-limits.accountPerSecond, account.tokens - 1);
      return 0;
    },
    slow(chat, retryAfterMs, now) {
      strictUntil.set(chat, now + retryAfterMs + strictMs);
      if (strictUntil.size > chatsMax) strictUntil.delete(strictUntil.keys().next().value as string);
      accountStrictUntil = now + retryAfterMs + 60_000;
      const bucket = chats.get(chat);
      if (bucket) bucket.tokens = Math.min(bucket.tokens, 0);
    },
  };
}
