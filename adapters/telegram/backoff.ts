import type { Clock } from '../../src/base/clock.ts';
import { newToken } from '../../src/base/ids.ts';

/** Rule 8: a failing channel is tried again after 1 s, doubling to 60 s, with jitter. */
const firstMs = 1_000;
const lastMs = 60_000;

export interface Backoff {
  /** Waits longer each time, at least `atLeastMs`; rejects when the signal aborts. */
  wait(signal: AbortSignal, atLeastMs?: number): Promise<void>;
  /** It worked: the next wait is short again. */
  reset(): void;
}

export function createBackoff(clock: Clock): Backoff {
  let nextMs = firstMs;
  return {
    wait(signal, atLeastMs = 0) {
      // Between half and all of the step, so that many gateways do not knock at the same instant.
      const jitter = Buffer.from(newToken(4), 'base64url').readUInt32BE() / 2 ** 32;
      const waitMs = Math.max(atLeastMs, Math.round(nextMs * (0.5 + jitter / 2)));
      nextMs = Math.min(nextMs * 2, lastMs);
      return clock.sleep(waitMs, signal);
    },
    reset() {
      nextMs = firstMs;
    },
  };
}
