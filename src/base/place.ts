import type { Place } from '../types/message.ts';

/** Without the key `thread` where there is none. */
export function placeOf(channel: string, chat: string, thread: string | null | undefined): Place {
  return { channel, chat, ...(thread == null ? {} : { thread }) };
}
