import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { killAtEveryPoint } from './every_point.ts';

describe('an unstreamed conversation with two tool calls, killed at every point', { timeout: 600_000 }, () => {
  const kills = killAtEveryPoint({ set: 'unstreamed', stream: false, kinds: ['direct', 'page'], killsMin: 75 });

  test('nothing is seen before the answer is whole', () => {
    assert.equal(kills.dry[0]?.counts['telegram.sendMessageDraft.accepted'], undefined);
    assert.equal(kills.dry[0]?.counts['telegram.editMessageText.accepted'], undefined);
    assert.equal(kills.dry[0]?.counts['telegram.sendMessage.accepted'], 1);
  });
  test('the kills fall where they are said to', { skip: process.env.GATEHOUSE_KILL !== undefined }, () => {
    const seen = (name: string) => {
      const trial = kills.swept.trials.find((candidate) => candidate.name === `unstreamed-direct ${name}`);
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
});
