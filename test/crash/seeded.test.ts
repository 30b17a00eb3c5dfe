/**
 * Kills at random points, the next process killed again while it recovers, and a second message that arrives while the
 * first is worked on. `GATEHOUSE_SEED` repeats a sequence.
 */
import { after, before, describe, test } from 'node:test';
import { createRandom } from '../support/random.ts';
import { checkInvariants } from './check_invariants.ts';
import { type KillPoint, pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Job, type Kind, reached, type Swept } from './sweep.ts';

const kinds: Kind[] = ['direct', 'group', 'page'];
const trials = 24;
/** How far a process comes that recovers: its start, and the rest of the conversation. */
const commitsOfRecovery = 16;

describe('conversations killed twice at random', { timeout: 600_000 }, () => {
  const random = createRandom();
  const sweep = createSweep({
    set: 'seeded',
    stream: true,
    plot: 'mixed',
    models: [undefined, { provider: 'anthropic' }],
  });
  let swept: Swept;
  before(async () => {
    const dry = await sweep.dryRun(kinds, { second: true });
    const jobs = Array.from({ length: trials }, (): Job => {
      const index = random.below(kinds.length);
      const first = random.pick(pointsOf(dry[index]?.counts ?? {}));
      const again: KillPoint = {
        event: random.pick(['commit.before', 'commit.after']),
        number: 1 + random.below(commitsOfRecovery),
      };
      return { kind: kinds[index] as Kind, points: [first, again], second: true };
    });
    swept = await sweep.run(askedFor('seeded') ?? jobs);
  });
  after(() => sweep.close());

  test('the seed', (t) => {
    t.diagnostic(`GATEHOUSE_SEED=${random.seed} ${reached(swept).text}`);
  });
  checkInvariants(() => swept, ['page', 'after', 'order']);
});
