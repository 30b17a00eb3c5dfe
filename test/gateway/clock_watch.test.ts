/** Gateways that share a database agree with it on what time it is, or do not take part. */
import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { watchClock } from '../../src/gateway/clock_watch.ts';
import { becomes } from '../support/becomes.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { recordingLog } from '../support/gateway.ts';
import { silentLog } from '../support/silent_log.ts';

const only = { only: 'postgres' } as const;

/** The clock of this machine, off by so much. */
const offBy = (ms: () => number, waits: Clock = systemClock): Clock => ({
  ...waits,
  now: () => systemClock.now() + ms(),
});

eachDatabase(
  'a clock that is 20 s off is refused, by how much and what to do; one that is 3 s off is not',
  async (_t, open) => {
    const db = await open();
    for (const [ms, way] of [
      [20_000, /^the clock of this machine is (20\.0|1\d\.\d) s ahead of the clock of the database, .*at most 5 s/],
      [-20_000, /^the clock of this machine is (20\.0|1\d\.\d) s behind the clock of the database, .*at most 5 s/],
    ] as const)
      await assert.rejects(watchClock({ db, clock: offBy(() => ms), log: silentLog }), {
        code: 'refused',
        message: way,
        hint: /NTP/,
      });
    for (const ms of [3_000, 0, -3_000]) {
      const watch = await watchClock({ db, clock: offBy(() => ms), log: silentLog });
      assert.equal(watch.reason(), null);
      watch.stop();
    }
  },
  only,
);

eachDatabase(
  'a clock that drifts off later is told within ten minutes, and again when it is right',
  async (_t, open) => {
    const db = await open();
    let off = 0;
    const timers = createFakeClock();
    const log = recordingLog();
    const watch = await watchClock({ db, clock: offBy(() => off, timers), log });
    // What was found is written down before the next look is planned.
    const looked = () => becomes(() => timers.pending().length, 1);
    off = 20_000;
    await timers.advance(10 * 60_000 - 1);
    assert.equal(watch.reason(), null, 'not looked at yet');
    await timers.advance(1);
    await looked();
    assert.match(watch.reason() ?? '', /s ahead of the clock of the database/);
    off = 0;
    await timers.advance(10 * 60_000);
    await looked();
    assert.equal(watch.reason(), null);
    assert.deepEqual(
      log.lines.map(({ level, msg }) => [level, String(msg).replace(/[\d.]+ s .*/, '')]),
      [
        ['error', 'the clock of this machine is '],
        ['info', 'the clocks of this machine and of the database agree again'],
      ],
    );
    watch.stop();
    assert.deepEqual(timers.pending(), []);
  },
  only,
);
