import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkInvariants } from './check_invariants.ts';
import { pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Kind, reached, type Swept } from './sweep.ts';
import type { Trial } from './trial.ts';

const kinds: Kind[] = ['direct', 'group', 'page'];

describe('a streamed conversation with two tool calls, killed at every point', { timeout: 600_000 }, () => {
  const sweep = createSweep({
    set: 'streamed',
    stream: true,
    plot: 'plain',
    models: [undefined, { provider: 'anthropic' }],
  });
  let dry: Trial[];
  let swept: Swept;
  before(async () => {
    dry = await sweep.dryRun(kinds);
    const jobs = dry.flatMap(({ counts }, index) =>
      pointsOf(counts).map((point) => ({ kind: kinds[index] as Kind, points: [point] })),
    );
    swept = await sweep.run(askedFor('streamed') ?? jobs);
  });
  after(() => sweep.close());

  test('the answers are really seen while they are written', () => {
    const [direct, group] = dry.map(({ counts }) => counts);
    assert.ok((direct?.['telegram.sendMessageDraft.accepted'] ?? 0) >= 2);
    assert.equal(group?.['telegram.sendMessage.accepted'], 1);
    assert.ok((group?.['telegram.editMessageText.accepted'] ?? 0) >= 2);
  });
  test('at least 130 kill points', { skip: process.env.GATEHOUSE_KILL !== undefined }, (t) => {
    t.diagnostic(reached(swept).text);
    assert.ok(reached(swept).count >= 130);
  });
  checkInvariants(() => swept, ['page', 'after']);
});
