import { type Clock, sleepOn, systemClock } from '../../src/base/clock.ts';

export interface ClockRate {
  /** Epoch milliseconds from which time runs faster; the same in all processes, so that they agree on what time it is. */
  since: number;
  /** Milliseconds of gateway time in a millisecond. */
  speed: number;
}

/** Waits of the gateway (stream pieces, backoff, polls) pass `speed` times as fast; it never steps back over restarts. */
export function createFastClock({ since, speed }: ClockRate): Clock {
  const clock: Clock = {
    now: () => Math.floor(since + (Date.now() - since) * speed),
    after: (ms, callback) => systemClock.after(ms / speed, callback),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  };
  return clock;
}
