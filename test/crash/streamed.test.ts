import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { killAtEveryPoint } from './every_point.ts';

describe('a streamed conversation with two tool calls, killed at every point', { timeout: 600_000 }, () => {
  const kills = killAtEveryPoint({
    set: 'streamed',
    stream: true,
    kinds: ['direct', 'group', 'page'],
    killsMin: 130,
  });

  test('the answers are really seen while they are written', () => {
    const [direct, group] = kills.dry.map(({ counts }) => counts);
    assert.ok((direct?.['telegram.sendMessageDraft.accepted'] ?? 0) >= 2);
    assert.equal(group?.['telegram.sendMessage.accepted'], 1);
    assert.ok((group?.['telegram.editMessageText.accepted'] ?? 0) >= 2);
  });
});
