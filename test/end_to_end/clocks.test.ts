/** A gateway whose clock disagrees with the PostgreSQL database that it shares takes no part. */
import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { becomes, readyz } from '../support/becomes.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { startTestGateway } from '../support/gateway.ts';
import { createSite } from './gateway_process.ts';
import { passTime } from './world.ts';

const options = { only: 'postgres', timeoutMs: 120_000 } as const;
const twentySecondsAhead = 'data:text/javascript,const now = Date.now; Date.now = () => now() + 20_000;';

eachDatabase(
  'the program does not start with a clock that is 20 s off, and says what to do',
  async (t, _open, { url }) => {
    const site = await createSite(t);
    await site.configure({ storage: { url } });
    const refused = await site.spawn(process.execPath, ['--import', twentySecondsAhead, ...site.launch, 'start']);
    assert.equal(refused.code, 1, refused.out);
    assert.match(
      refused.err,
      /gatehouse: The clock of this machine is (20\.0|1\d\.\d) s ahead of the clock of the database/i,
    );
    assert.match(refused.err, /NTP/);
    assert.ok(!refused.err.includes('    at '), 'no stack');
    assert.deepEqual([site.telegram.calls, site.model.requests], [[], []]);

    const gateway = await site.start();
    gateway.signal('SIGTERM');
    assert.equal((await gateway.ended).code, 0, 'with the right clock it starts');
  },
  options,
);

eachDatabase(
  'a clock that is wrong later is the reason of the store in /readyz',
  async (t, _open, { url }) => {
    const timers = createFakeClock();
    const since = timers.now();
    // Real time, and what passes here on top of it.
    const clock: Clock = { ...timers, now: () => systemClock.now() + timers.now() - since };
    const world = await startTestGateway(t, {
      clock,
      telegram: { clock },
      comparesClock: true,
      config: { storage: { url } },
    });
    try {
      await becomes(async () => (await readyz(world.gateway.url)).status, 200);
      await timers.advance(10 * 60_000);
      await becomes(async () => (await readyz(world.gateway.url)).status, 503);
      const { store } = (await readyz(world.gateway.url)).body;
      assert.equal(store.ok, false);
      assert.match(store.reason ?? '', /^the clock of this machine is \d+\.\d s ahead of the clock of the database/);
    } finally {
      await passTime(timers, world.stop());
    }
  },
  options,
);
