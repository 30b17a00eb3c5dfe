/**
 * Kills at random points, the next process killed again while it recovers, and a second message that arrives while the
 * first is worked on. `GATEHOUSE_SEED` repeats a sequence.
 */
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { checkInvariants } from './check_invariants.ts';
import { type KillPoint, pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Job, type Kind, reached, type Swept } from './sweep.ts';

const kinds: Kind[] = ['direct', 'group', 'page'];
const trials = 24;
/** How far a process comes that recovers: its start, and the rest of the conversation. */
const commitsOfRecovery = 16;

describe('conversations killed twice at random', { timeout: 600_000 }, () => {
  const seed = Number(process.env.GATEHOUSE_SEED ?? randomInt(1_000_000));
  const sweep = createSweep({
    set: 'seeded',
    stream: true,
    plot: 'mixed',
    models: [undefined, { provider: 'anthropic' }],
  });
  let swept: Swept;
  before(async () => {
    const dry = await sweep.dryRun(kinds, { second: true });
    const random = createRandom(seed);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const jobs = Array.from({ length: trials }, (): Job => {
      const index = Math.floor(random() * kinds.length);
      const first = pick(pointsOf(dry[index]?.counts ?? {}));
      const again: KillPoint = {
        event: pick(['commit.before', 'commit.after']),
        number: 1 + Math.floor(random() * commitsOfRecovery),
      };
      return { kind: kinds[index] as Kind, points: [first, again], second: true };
    });
    swept = await sweep.run(askedFor('seeded') ?? jobs);
  });
  after(() => sweep.close());

  test('the seed', (t) => {
    t.diagnostic(`GATEHOUSE_SEED=${seed} ${reached(swept).text}`);
  });
  checkInvariants(() => swept, ['page', 'after', 'order']);
});

/** Mulberry32: small, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
