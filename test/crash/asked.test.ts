/**
 * Killed between card, press, decision, execution and edit: a step with two calls that people are asked about, one
 * approved by its button (on the page in words), one denied in words, and a message in between that is answered while the
 * run is parked. Of all its points a sample; `GATEHOUSE_SEED` repeats it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRandom } from '../support/random.ts';
import { checkInvariants } from './check_invariants.ts';
import { type KillPoint, pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Job, type Kind, reached, type Swept } from './sweep.ts';
import type { Trial } from './trial.ts';

const kinds: Kind[] = ['direct', 'group', 'page'];
/** Of each kind; the process that recovers is killed again in every third. */
const trialsPerKind = Number(process.env.GATEHOUSE_CRASH_TRIALS ?? 16);
const commitsOfRecovery = 24;
/** Always: the card stands there and nobody recorded it, while its person decides. */
const cardCopies = (['direct', 'group'] as const).map(
  (kind): Job => ({ kind, points: [{ event: 'telegram.sendMessage.accepted', number: 2 }] }),
);

describe('a conversation in which people are asked, killed at many of its points', { timeout: 900_000 }, () => {
  const random = createRandom();
  const sweep = createSweep({
    set: 'asked',
    stream: true,
    plot: 'asked',
    models: [undefined, { provider: 'anthropic' }],
  });
  let swept: Swept;
  let dry: Trial[];
  before(async () => {
    dry = await sweep.dryRun(kinds);
    const jobs = dry.flatMap(({ counts }, index) => sample(pointsOf(counts)).map((points) => jobOf(index, points)));
    swept = await sweep.run(askedFor('asked') ?? [...cardCopies, ...jobs]);
  });
  after(() => sweep.close());

  const jobOf = (index: number, points: KillPoint[]): Job => ({ kind: kinds[index] as Kind, points });

  /** Without a repetition, so that with enough trials every point is among them. */
  function sample(points: KillPoint[]): KillPoint[][] {
    const left = [...points];
    return Array.from({ length: Math.min(trialsPerKind, points.length) }, (_, number) => {
      const [point] = left.splice(random.below(left.length), 1) as [KillPoint];
      const again: KillPoint = {
        event: random.pick(['commit.before', 'commit.after']),
        number: 1 + random.below(commitsOfRecovery),
      };
      return number % 3 === 2 ? [point, again] : [point];
    });
  }

  test('the seed, and how many points there are', (t) => {
    const counts = dry.map((trial) => pointsOf(trial.counts).length);
    t.diagnostic(`GATEHOUSE_SEED=${random.seed} of ${counts.join(' + ')} points ${reached(swept).text}`);
  });
  test('at least 30 kill points', { skip: process.env.GATEHOUSE_KILL !== undefined }, () => {
    assert.ok(reached(swept).count >= 30);
  });
  checkInvariants(() => swept, ['page', 'after', 'asked']);
});
