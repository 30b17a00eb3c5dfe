import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatehouseError } from '../../src/base/errors.ts';
import { pageAccountOf } from '../../src/http/page_account.ts';

const idOf = (name: string) => pageAccountOf(name).userId;

test('R93: two names are two people, in every script', () => {
  const names = [
    '李雷',
    'Иван',
    '李 雷',
    'Ann Müller',
    'ann möller',
    'ann müller',
    'ann-müller',
    'Ann',
    'ann',
    'x!',
    'x?',
  ];
  names.push(`${'a'.repeat(70)}1`, `${'a'.repeat(70)}2`, idOf('Ann'), idOf('x!'));
  assert.equal(new Set(names.map(idOf)).size, 15);
});

test('R93: the same name is the same person, however it was typed', () => {
  assert.equal(idOf('Zo\u00eb'), idOf(' Zoe\u0308\n'));
});

test('a name that is an id already stays what it is, others stay readable', () => {
  assert.deepEqual(pageAccountOf('ann_2'), { userId: 'ann_2', name: 'ann_2' });
  assert.deepEqual(pageAccountOf('李雷'), { userId: '李雷', name: '李雷' });
  assert.match(idOf('Zoë B.'), /^zoë-b-[0-9a-f]{8}$/);
});

test('R93: nobody becomes the owner by name, and nobody is nameless', () => {
  assert.equal(pageAccountOf(null).userId, 'owner');
  for (const name of ['owner', 'Owner', ' OWNER ', '', '  ', '-', '!?', 'a'.repeat(81)])
    assert.throws(
      () => pageAccountOf(name),
      (error: unknown) => error instanceof GatehouseError && error.code === 'invalid',
      name,
    );
});
