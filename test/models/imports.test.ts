/** The SDK stays behind src/models, and is loaded only by the profile that needs it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const sources = ['src', 'adapters', 'capabilities'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

test('only src/models names the SDK, and it loads it lazily', () => {
  assert.ok(sources.includes('src/models/providers.ts'));
  for (const source of sources) {
    const text = readFileSync(source, 'utf8');
    const mentions = text.match(/^.*['"](ai|@ai-sdk\/[a-z-]+)['"].*$/gm) ?? [];
    if (source.startsWith('src/models/'))
      for (const line of mentions) assert.match(line, /^import type |await import\(/, `${source}: ${line}`);
    else
      assert.deepEqual(
        mentions.filter((line) => /\bimport\b|\bfrom\b/.test(line)),
        [],
        source,
      );
  }
});
