import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roughPieces } from '../../src/base/markdown_split.ts';
import { messagesOf, withLastLine } from '../../src/outbox/enqueue.ts';

const limits = { textLength: 4_096, measure: (markdown: string) => markdown.length };

test('R84: a very long answer is cut by lines first, with its fences closed and opened again', () => {
  const source = `~~~js\n${'const x = 1;\n'.repeat(8_000)}~~~`;
  const pieces = roughPieces(source);
  assert.equal(pieces.length, 7);
  for (const piece of pieces) {
    assert.ok(piece.length < 15_200);
    assert.ok(piece.startsWith('~~~js\n') && piece.endsWith('\n~~~'));
  }
  assert.equal(pieces.join('').match(/const x = 1;/g)?.length, 8_000);
  assert.deepEqual(roughPieces('short\n\n~~~\nx'), ['short\n\n~~~\nx']);
});

test('R84: while a very long answer is cut, others go on', async () => {
  let turns = 0;
  let open = true;
  const count = () => {
    turns += 1;
    if (open) setImmediate(count);
  };
  setImmediate(count);
  const parts = await messagesOf('A line of words.\n\n'.repeat(6_000), limits);
  open = false;
  assert.ok(turns >= 6, `${turns} turns of the event loop`);
  assert.equal(parts.join(' ').match(/A line of words\./g)?.length, 6_000);
  for (const part of parts) assert.ok(part.length <= 4_096);
});

test('R86: a footer stands in the last message if there is room, else below it', () => {
  assert.deepEqual(withLastLine(['a', 'b'], '\n\n_cost_', limits), ['a', 'b\n\n_cost_']);
  const full = 'x'.repeat(4_096);
  assert.deepEqual(withLastLine([full], '\n\n_cost_', limits), [full, '_cost_']);
});
