import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPace } from '../../src/outbox/pace.ts';

const limits = { directPerSecond: 1, groupPerMinute: 20, accountPerSecond: 30 };

test('R85: answers go at once; further parts and edits draw on the budget of the chat', () => {
  const pace = createPace(limits);
  assert.equal(pace.take('a', 'direct', 'answer', 0), 0);
  assert.equal(pace.take('a', 'direct', 'more', 0), 0);
  assert.equal(pace.take('a', 'direct', 'more', 0), 0);
  assert.equal(pace.take('a', 'direct', 'more', 0), 1_000, 'three at once, then one a second');
  assert.equal(pace.take('a', 'direct', 'more', 1_000), 0);
  assert.equal(pace.take('b', 'direct', 'more', 0), 0, 'another chat has its own');
});

test('R85: an edit leaves room for an answer', () => {
  const pace = createPace(limits);
  assert.equal(pace.take('a', 'direct', 'edit', 0), 0);
  assert.equal(pace.take('a', 'direct', 'edit', 0), 0);
  assert.ok(pace.take('a', 'direct', 'edit', 0) > 0);
  assert.equal(pace.take('a', 'direct', 'more', 0), 0);
});

test('R85, O87: in a group at most twenty changes a minute, counted over a minute of edits', () => {
  const pace = createPace(limits);
  let now = 0;
  let edits = 0;
  while (now < 120_000) {
    const wait = pace.take('g', 'group', 'edit', now);
    if (wait === 0) edits += 1;
    now += Math.max(wait, 250);
  }
  assert.ok(edits <= 2 * 20 + 5, `${edits} edits in two minutes`);
  assert.ok(edits >= 30, `${edits} edits in two minutes`);
});

test('D4, R85: a 429 makes that chat keep to the budget, answers too; other chats do not wait', () => {
  const pace = createPace(limits);
  pace.take('a', 'direct', 'answer', 0);
  pace.slow('a', 5_000, 0);
  assert.equal(pace.take('a', 'direct', 'answer', 5_000), 0);
  assert.equal(pace.take('a', 'direct', 'answer', 5_000), 0);
  assert.equal(pace.take('a', 'direct', 'answer', 5_000), 0);
  assert.ok(pace.take('a', 'direct', 'answer', 5_000) > 0);
  for (let n = 0; n < 10; n++) assert.equal(pace.take('b', 'direct', 'answer', 5_000), 0);
});
