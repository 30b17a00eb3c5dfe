import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkInvariants } from './check_invariants.ts';
import { pointsOf } from './kill_point.ts';
import { askedFor, createSweep, type Kind, reached, type Swept } from './sweep.ts';
import type { Trial } from './trial.ts';

const kinds: Kind[] = ['direct', 'page'];

describe('an unstreamed conversation with two tool calls, killed at every point', { timeout: 600_000 }, () => {
  const sweep = createSweep({
    set: 'unstreamed',
    stream: false,
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
    swept = await sweep.run(askedFor('unstreamed') ?? jobs);
  });
  after(() => sweep.close());

  test('nothing is seen before the answer is whole', () => {
    assert.equal(dry[0]?.counts['telegram.sendMessageDraft.accepted'], undefined);
    assert.equal(dry[0]?.counts['telegram.editMessageText.accepted'], undefined);
    assert.equal(dry[0]?.counts['telegram.sendMessage.accepted'], 1);
  });
  test('at least 75 kill points', { skip: process.env.GATEHOUSE_KILL !== undefined }, (t) => {
    t.diagnostic(reached(swept).text);
    assert.ok(reached(swept).count >= 75);
  });
  test('the kills fall where they are said to', { skip: process.env.GATEHOUSE_KILL !== undefined }, () => {
    const seen = (name: string) => {
      const trial = swept.trials.find((candidate) => candidate.name === `unstreamed-direct ${name}`);
      const results = trial?.requests.at(-1)?.messages.flatMap((message) => message.results.map(({ text }) => text));
      return { messages: trial?.texts.length, written: Object.values(trial?.written ?? {}), results };
    };
    const unknown =
      'Outcome unknown: this call was under way when the gateway was interrupted. It may have taken effect. Check before you try it again.';
    assert.deepEqual(seen('telegram.sendMessage.received#1'), { messages: 1, written: [1], results: ['written', '1'] });
    assert.deepEqual(seen('telegram.sendMessage.accepted#1'), { messages: 2, written: [1], results: ['written', '1'] });
    assert.deepEqual(seen('tool.before#1'), { messages: 1, written: [0], results: [unknown, '0'] });
    assert.deepEqual(seen('tool.after#1'), { messages: 1, written: [1], results: [unknown, '1'] });
  });
  checkInvariants(() => swept, ['page', 'after']);
});
