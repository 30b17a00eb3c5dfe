/** A clock that stands still until the test moves it. Between two timers everything that is ready runs. */
import { type Clock, sleepOn } from '../../src/base/clock.ts';

export interface FakeClock extends Clock {
  /** Moves on, firing what is due in order. Network traffic takes real time: wait for its event, then move on. */
  advance(ms: number): Promise<void>;
  /** Moves to the next timer, however far it is; false if there is none. */
  advanceToNext(): Promise<boolean>;
  /** Times at which timers are due, in order. */
  pending(): number[];
}

interface Timer {
  at: number;
  callback: () => void;
}

/** Thursday, 1 January 2026, 00:00 UTC. */
const startDefault = 1_767_225_600_000;

export function createFakeClock(start = startDefault): FakeClock {
  let now = start;
  let timers: Timer[] = [];

  async function advanceTo(target: number): Promise<void> {
    await settle();
    for (let next = timers[0]; next && next.at <= target; next = timers[0]) {
      timers.shift();
      now = Math.max(now, next.at);
      next.callback();
      await settle();
    }
    now = Math.max(now, target);
    await settle();
  }

  const clock: FakeClock = {
    now: () => now,
    after(ms, callback) {
      // Whole milliseconds, as every real clock tells them.
      const timer = { at: Math.ceil(now + Math.max(0, ms)), callback };
      const later = timers.findIndex((other) => other.at > timer.at);
      timers.splice(later < 0 ? timers.length : later, 0, timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    advance: (ms) => advanceTo(now + ms),
    async advanceToNext() {
      await settle();
      const next = timers[0];
      if (!next) return false;
      await advanceTo(next.at);
      return true;
    },
    pending: () => timers.map((timer) => timer.at),
  };
  return clock;
}

/** Two turns of the event loop: promise chains run to their end in each, and what they scheduled with setImmediate. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
