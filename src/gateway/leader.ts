/**
 * Of several processes on one database, the one that receives for a channel that allows a single consumer. It holds a
 * lease in the database and renews it; when it stops or dies, the next one that asks takes over. All of them send.
 *
 *   standby   another process receives; asked again every `heartbeatMs`
 *   leading   this process receives; without a renewed lease it stops before another may begin
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { freeChannelLease, takeChannelLease } from '../store/channel_leases.ts';
import type { Db } from '../store/db.ts';

/** Before its lease ends unrenewed, so that what is being stored then is stored before another begins. */
const retireMs = 3_000;

export interface LeaderParts {
  db: Db;
  clock: Clock;
  log: Log;
  channel: string;
  /** Of this process. */
  owner: string;
  /** Begins to receive; called again only after `retire`. */
  lead(): void;
  /** Ends receiving; resolves when nothing further will be accepted. */
  retire(): Promise<void>;
  /** Another process receives, or may. */
  standBy(why: 'elsewhere' | 'unknown'): void;
}

export interface Leader {
  /** Resolves after the first try. */
  start(): Promise<void>;
  /** Retires and gives the lease to whoever asks next. */
  stop(): Promise<void>;
}

export function createLeader(parts: LeaderParts): Leader {
  const { db, clock, log, channel, owner } = parts;
  let leading = false;
  let stopped = false;
  let leaseUntil = 0;
  let turning: Promise<void> = Promise.resolve();
  let cancelTurn = () => {};
  let cancelEnd = () => {};

  async function turn(): Promise<void> {
    if (stopped) return;
    const now = clock.now();
    const until = now + limits.leaseMs;
    try {
      const held = await db.tx((q) => takeChannelLease(q, channel, owner, now, until));
      if (held) await hold(until);
      else await standBy('elsewhere');
    } catch (error) {
      log.warn({ err: error }, `whether this process receives could not be found out: ${messageOf(error)}`);
    }
    if (!stopped) cancelTurn = clock.after(limits.heartbeatMs, next);
  }

  /** One turn at a time. */
  function next(): void {
    turning = turning.then(turn);
  }

  async function hold(until: number): Promise<void> {
    leaseUntil = until;
    cancelEnd();
    cancelEnd = clock.after(limits.leaseMs - retireMs, () => {
      turning = turning.then(endLate);
    });
    if (leading || stopped) return;
    leading = true;
    log.info({}, 'this process receives');
    parts.lead();
  }

  async function endLate(): Promise<void> {
    if (leading && clock.now() >= leaseUntil - retireMs) await standBy('unknown');
  }

  async function standBy(why: 'elsewhere' | 'unknown'): Promise<void> {
    cancelEnd();
    if (leading) {
      leading = false;
      log.warn({}, 'another process may receive now, so this one does not');
      await parts.retire();
    }
    parts.standBy(why);
  }

  return {
    start() {
      next();
      return turning;
    },
    async stop() {
      stopped = true;
      cancelTurn();
      cancelEnd();
      await turning;
      if (!leading) return;
      leading = false;
      await parts.retire();
      await db
        .tx((q) => freeChannelLease(q, channel, owner))
        .catch((error) => log.warn({ err: error }, 'the lease of the channel ends by itself'));
    },
  };
}
