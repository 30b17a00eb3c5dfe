import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkInvariants } from './check_invariants.ts';
import { pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Kind, reached, type Swept } from './sweep.ts';
import type { Trial } from './trial.ts';

export interface EveryPoint {
  /** The first word of its trials' names. */
  set: string;
  /** Whether answers are shown while they are written. */
  stream: boolean;
  kinds: readonly Kind[];
  /** Fewer kills than these would mean that the sweep looks elsewhere. */
  killsMin: number;
}

/** Filled before the first test of the suite. */
export interface Kills {
  /** A conversation of each kind without a kill. */
  dry: Trial[];
  swept: Swept;
}

/** For a suite: kills a conversation with two tool calls at each of its points, and tests what must hold of any. */
export function killAtEveryPoint({ set, stream, kinds, killsMin }: EveryPoint): Kills {
  const sweep = createSweep({ set, stream, plot: 'plain', models: [undefined, { provider: 'anthropic' }] });
  const kills: Kills = { dry: [], swept: { trials: [], broken: [], missed: [], late: [] } };
  before(async () => {
    kills.dry = await sweep.dryRun(kinds);
    const jobs = kills.dry.flatMap(({ counts }, index) =>
      pointsOf(counts).map((point) => ({ kind: kinds[index] as Kind, points: [point] })),
    );
    kills.swept = await sweep.run(askedFor(set) ?? jobs);
  });
  after(() => sweep.close());

  test(`at least ${killsMin} kill points`, { skip: process.env.GATEHOUSE_KILL !== undefined }, (t) => {
    t.diagnostic(reached(kills.swept).text);
    assert.ok(reached(kills.swept).count >= killsMin);
  });
  checkInvariants(() => kills.swept, ['page', 'after']);
  return kills;
}
