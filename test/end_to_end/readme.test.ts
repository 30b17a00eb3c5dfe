import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const rows = [...read('./README.md').matchAll(/^\| ([A-Z]{1,2}\d+) \|.*\| (`[^|]+`) \|$/gm)].map(([, row, files]) => ({
  row: row as string,
  files: [...(files as string).matchAll(/`([^`]+)`/g)].map(([, file]) => file as string),
}));
/** Rows are numbered over all groups and begin at 30 here; smaller numbers are rules and invariants. */
const rowsOf = (name: string) =>
  [...name.matchAll(/\b(AA|AB|[E-PU-Z])(\d+)\b/g)].filter(([, , number]) => Number(number) >= 30).map(([row]) => row);

test('every row of the README is named by a test of the file it points to', () => {
  assert.ok(rows.length > 40);
  for (const { row, files } of rows)
    for (const file of files)
      assert.ok(new RegExp(`(test|Database)\\([^)]*\\b${row}\\b`).test(read(`../${file}`)), `${row} in ${file}`);
});

test('every row that a test here names is in the README', () => {
  const known = new Set(rows.map(({ row }) => row));
  const named = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.test.ts') && file !== 'readme.test.ts')
    .flatMap((file) =>
      [...read(`./${file}`).matchAll(/test\(\s*[`'"](.*?)[`'"],/gs)].flatMap(([, name]) => rowsOf(name as string)),
    );
  assert.ok(named.length > 40);
  assert.deepEqual(
    [...new Set(named)].filter((row) => !known.has(row)),
    [],
  );
});
