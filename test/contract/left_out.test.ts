import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Features } from '../../src/types/adapter.ts';
import { noFeatures } from '../support/no_features.ts';
import { leftOutWrongly } from './adapter_suite.ts';

const features: Features = { ...noFeatures, edits: true, reconcile: 'find' };

test('a case may be left out only with a reason and against no declared feature', () => {
  const left = {
    'R82: a file is announced and can be fetched': 'this platform has no files',
    'R4: a deleted message is told': 'why not',
    'an edit replaces the words, also by the same ones': 'this platform has no edits',
    'D3: after an unknown send there is exactly one message': 'this platform cannot be asked',
    'a case that does not exist': 'this platform does not have it',
  };
  assert.deepEqual(leftOutWrongly(left, features), [
    'R4: a deleted message is told',
    'an edit replaces the words, also by the same ones',
    'D3: after an unknown send there is exactly one message',
    'a case that does not exist',
  ]);
});
