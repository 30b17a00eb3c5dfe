import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeperThan } from '../../src/base/json_depth.ts';

test('depth counts arrays and objects, whatever the values are', () => {
  assert.equal(isDeeperThan('x', 0), false);
  assert.equal(isDeeperThan({}, 0), true);
  assert.equal(isDeeperThan({ a: 1, b: null }, 1), false);
  assert.equal(isDeeperThan({ a: [] }, 1), true);
  assert.equal(isDeeperThan({ a: [1, { b: 'x' }], c: {} }, 3), false);
  assert.equal(isDeeperThan({ a: [1, { b: [] }], c: {} }, 3), true);
});

test('depth is told of what no recursion could walk through', () => {
  assert.equal(isDeeperThan(JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 256), true);
});
