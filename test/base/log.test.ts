import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, mask } from '../../src/base/log.ts';

test('R90: a secret with quotes and backslashes is in no line, however deep in JSON it stands', () => {
  const secret = 'p"ass\\word-1234';
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: 'info', format: 'json', secrets: () => [secret], write });
  log.error(
    { err: new Error(`cannot log in with ${secret}`), body: JSON.stringify({ password: secret }) },
    `x ${secret}`,
  );
  const { msg, err, body } = JSON.parse(lines[0]!);
  assert.equal(msg, 'x [secret]');
  assert.equal(err.message, 'cannot log in with [secret]');
  assert.equal(body, '{"password":"[secret]"}');
  assert.ok(!lines[0]!.includes('word-1234'));
});

test('R90: outside JSON a secret is masked as it is; a short word is none', () => {
  assert.equal(mask('the key "a"b\\c"d\\ef" and abc', ['"a"b\\c"d\\ef"', 'abc']), 'the key [secret] and abc');
});
