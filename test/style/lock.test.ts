import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, { resolved?: string; gypfile?: boolean }>;
};

test('the lock names packages and no addresses', () => {
  assert.deepEqual(
    Object.entries(lock.packages).filter(([, { resolved }]) => resolved?.startsWith('http')),
    [],
  );
});

test('npm 10 needs no compiler: the lock says that better-sqlite3 ships its binaries', () => {
  // npm 10 ignores allowScripts and would run node-gyp for its binding.gyp, which fails without Python. `npm install`
  // drops the line: put `"gypfile": false` back under its version.
  assert.equal(lock.packages['node_modules/better-sqlite3']?.gypfile, false);
});
