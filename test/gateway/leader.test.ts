import assert from 'node:assert/strict';
import { createLeader } from '../../src/gateway/leader.ts';
import type { Db } from '../../src/store/db.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFakeClock, type FakeClock } from '../support/fake_clock.ts';
import { silentLog } from '../support/silent_log.ts';

/** Two processes that share a database; what they did, in order. */
function createPair(db: Db) {
  const clock = createFakeClock();
  const did: string[] = [];
  const said = new Map<string, string>();
  const unreachable = new Set<string>();
  const make = (owner: string) => {
    const trouble = async () => {
      throw new Error('the database cannot be reached');
    };
    return createLeader({
      db: { ...db, tx: (work) => (unreachable.has(owner) ? trouble() : db.tx(work)) },
      clock,
      log: silentLog,
      channel: 'tg',
      owner,
      lead: () => void did.push(`${owner} leads`),
      retire: async () => void did.push(`${owner} retires`),
      standBy: (why) => {
        // Said with every heartbeat.
        const line = `${owner} stands by: ${why}`;
        if (said.get(owner) !== line) did.push(line);
        said.set(owner, line);
      },
    });
  };
  return { clock, did, unreachable, first: make('first'), second: make('second') };
}

/** In steps, so that what a timer began has ended before the next. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) await clock.advance(250);
}

const only = { only: 'sqlite' } as const;

eachDatabase(
  'one leads; when it stops the next one leads within a heartbeat',
  async (_t, open) => {
    const { clock, did, first, second } = createPair(await open());
    await first.start();
    await second.start();
    await pass(clock, 60_000);
    assert.deepEqual(did.splice(0), ['first leads', 'second stands by: elsewhere']);
    await first.stop();
    await pass(clock, 5_000);
    assert.deepEqual(did, ['first retires', 'second leads']);
    await second.stop();
  },
  only,
);

eachDatabase(
  'one that cannot renew its lease retires before another leads, and comes back only as standby',
  async (_t, open) => {
    const { clock, did, unreachable, first, second } = createPair(await open());
    await first.start();
    await second.start();
    did.length = 0;
    unreachable.add('first');
    await pass(clock, 30_000);
    assert.deepEqual(did.splice(0), ['first retires', 'first stands by: unknown', 'second leads']);
    unreachable.delete('first');
    await pass(clock, 30_000);
    assert.deepEqual(did.splice(0), ['first stands by: elsewhere']);
    await second.stop();
    await pass(clock, 5_000);
    assert.deepEqual(did.splice(0), ['second retires', 'first leads']);
    await first.stop();
    await pass(clock, 60_000);
    assert.deepEqual(did, ['first retires']);
  },
  only,
);

eachDatabase(
  'a short trouble of the database changes nothing',
  async (_t, open) => {
    const { clock, did, unreachable, first, second } = createPair(await open());
    await first.start();
    await second.start();
    did.length = 0;
    unreachable.add('first');
    await pass(clock, 7_000);
    unreachable.delete('first');
    await pass(clock, 60_000);
    assert.deepEqual(did, []);
    await first.stop();
    await second.stop();
  },
  only,
);
