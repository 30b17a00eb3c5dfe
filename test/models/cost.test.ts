/** Rule 73: what a request cost, and the most it can cost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, mostCost, requestBytes } from '../../src/models/cost.ts';
import { contextWindowOf } from '../../src/models/known.ts';
import { ask, demoProfile, profileOf, requestOf, wireCase } from './wires.ts';

const price = { input: 2.5, cachedInput: 0.25, output: 10 };
const priced = profileOf(wireCase('chat'), 'http://127.0.0.1', { price, maxOutputTokens: 1_000 });
const unpriced = profileOf(wireCase('chat'), 'http://127.0.0.1');

test('R73: cached tokens are priced apart; an unknown price is null, the demo is free', () => {
  const usage = { input: 1_000_000, cachedInput: 400_000, output: 100_000 };
  assert.equal(costOf(priced, usage), 1.5 + 0.1 + 1);
  assert.equal(costOf(unpriced, usage), null);
  assert.equal(costOf(demoProfile, usage), 0);
});

test('R73: more cached than read counts as all cached', () => {
  assert.equal(costOf(priced, { input: 1_000_000, cachedInput: 2_000_000, output: 0 }), 0.25);
});

test('R73: the most a request can cost is a third of its bytes and all of the output', () => {
  assert.equal(mostCost(priced, 300_000), 0.25 + 0.01);
  assert.equal(mostCost(unpriced, 300_000), null);
  assert.equal(mostCost(demoProfile, 300_000), 0);
  const anthropic = { ...priced, provider: 'anthropic' as const };
  assert.equal(mostCost(anthropic, 300_000), 0.3125 + 0.01, 'writing the cache costs a quarter more');
  assert.equal(mostCost(priced, 30_000_000), 0.5 + 0.01, 'never more than the model can read');
});

test('bytes of a request: letters by their UTF-8 length, pictures by what they are charged', () => {
  const plain = requestBytes(requestOf(ask('')));
  assert.equal(requestBytes(requestOf(ask('日本'))) - plain, 6);
  const picture = { role: 'user' as const, content: '', images: [{ mime: 'image/png', base64: 'A'.repeat(900_000) }] };
  assert.equal(requestBytes(requestOf([picture])) - plain, 15_000);
});

test('context windows of models that are known, and of others', () => {
  assert.deepEqual(
    ['gpt-5.4', 'openai/gpt-5-mini', 'claude-sonnet-4-5', 'gemini-3-pro', 'o4-mini', 'olmo-7b', 'my-model'].map(
      contextWindowOf,
    ),
    [400_000, 400_000, 200_000, 1_000_000, 200_000, 128_000, 128_000],
  );
});
