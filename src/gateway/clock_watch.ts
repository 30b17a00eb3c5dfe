/**
 * Leases are written with each gateway's own clock and read with another's. So the clock of this gateway must agree
 * with that of the database they share: it does not start without, and says so when the clock drifts off later.
 */
import type { Clock } from '../base/clock.ts';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { readDatabaseClock } from '../store/database_clock.ts';
import type { Db, Query } from '../store/db.ts';

const repeatMs = 10 * 60_000;
/** The first one may wait for a connection; the quickest tells the time best. */
const readingsCount = 3;

const hint =
  'set the clock of this machine, or that of the database, by NTP (timedatectl set-ntp true), then start again';

export interface ClockWatch {
  /** Why this gateway should not work on this database; null while the clocks agree. */
  reason(): string | null;
  stop(): void;
}

/** Of PostgreSQL. Throws `refused` when the clocks are more than `limits.clockApartMsMax` apart, `store_unavailable` as the database does. */
export async function watchClock(parts: { db: Db; clock: Clock; log: Log }): Promise<ClockWatch> {
  const { db, clock, log } = parts;
  let reason = tooFar(await compareClocks(db, clock));
  if (reason !== null) throw new GatehouseError('refused', reason, { hint });
  let stopped = false;
  let cancel = () => {};

  async function look(): Promise<void> {
    try {
      const before = reason;
      reason = tooFar(await compareClocks(db, clock));
      if (reason !== null) log.error({ hint }, reason);
      else if (before !== null) log.info({}, 'the clocks of this machine and of the database agree again');
    } catch (error) {
      log.warn({ err: error }, `the clock of the database could not be read: ${messageOf(error)}`);
    }
    lookLater();
  }

  function lookLater(): void {
    if (!stopped) cancel = clock.after(repeatMs, () => void look());
  }

  lookLater();
  return {
    reason: () => reason,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/**
 * By how many milliseconds this clock is certainly ahead of the database's, negative when it is behind. The database
 * read its clock at some moment of the round trip: the middle is taken, and half of the trip is deducted.
 */
export async function compareClocks(q: Query, clock: Clock): Promise<number> {
  let best = { ahead: 0, doubt: Number.POSITIVE_INFINITY };
  for (let reading = 0; reading < readingsCount; reading++) {
    const asked = clock.now();
    const there = await readDatabaseClock(q);
    const answered = clock.now();
    const doubt = Math.abs(answered - asked) / 2;
    if (doubt < best.doubt) best = { ahead: asked + (answered - asked) / 2 - there, doubt };
  }
  return Math.sign(best.ahead) * Math.max(0, Math.abs(best.ahead) - best.doubt);
}

function tooFar(ahead: number): string | null {
  if (Math.abs(ahead) <= limits.clockApartMsMax) return null;
  const seconds = (Math.abs(ahead) / 1000).toFixed(1);
  const way = ahead > 0 ? 'ahead of' : 'behind';
  return (
    `the clock of this machine is ${seconds} s ${way} the clock of the database, and at most ` +
    `${limits.clockApartMsMax / 1000} s are safe: another gateway could take over runs that are at work`
  );
}
