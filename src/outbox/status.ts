/**
 * Shows that something is being done (rule 85): after `statusFirstMs`, so that a quick answer needs no extra call, and
 * again every `statusRepeatMs`, so that it holds as long as the work does and ends by itself when this process dies.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Adapter } from '../types/adapter.ts';
import type { Place } from '../types/message.ts';

export interface StatusLine {
  say(text: string): void;
  end(): void;
}

export function showStatus(
  parts: { clock: Clock; log: Log; adapter: Adapter; place: Place },
  firstText: string,
): StatusLine {
  const { clock, adapter, place } = parts;
  if (!adapter.setStatus) return { say() {}, end() {} };
  let text = firstText;
  let shown = false;
  let ended = false;
  let putAt = 0;
  let cancel = () => {};
  const put = (status: { text: string } | null) => {
    putAt = clock.now();
    adapter
      .setStatus?.(place, status)
      .catch((error) => parts.log.debug({ channel: place.channel }, `status: ${messageOf(error)}`));
  };
  const repeat = () => {
    if (ended) return;
    shown = true;
    put({ text });
    cancel = clock.after(limits.statusRepeatMs, repeat);
  };
  cancel = clock.after(limits.statusFirstMs, repeat);
  return {
    say(next) {
      if (next === text || ended) return;
      text = next;
      // Quick tools follow each other; what is being done now comes with the next repeat at the latest.
      if (shown && clock.now() - putAt >= limits.statusFirstMs) put({ text });
    },
    end() {
      ended = true;
      cancel();
      if (shown) put(null);
    },
  };
}
