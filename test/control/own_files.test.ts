import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownFiles } from '../../src/control/own_files.ts';
import { controlPath } from '../../src/control/path.ts';

test('R60: no grant shows the data folder, its socket wherever that is, the configuration or the database', () => {
  assert.deepEqual(ownFiles({ dataDir: '/data', configFile: '/etc/gh/config.yaml', storageUrl: 'postgres://db' }), [
    '/data',
    '/data',
    '/etc/gh/config.yaml',
  ]);
  const dataDir = `/data/${'long'.repeat(30)}`;
  const [first, socket, ...others] = ownFiles({ dataDir, configFile: '/c.yaml', storageUrl: 'sqlite:/db/my.db' });
  assert.equal(first, dataDir);
  assert.ok(socket !== dataDir && controlPath(dataDir).startsWith(`${socket}/`), socket);
  assert.deepEqual(others, ['/c.yaml', '/db/my.db', '/db/my.db-wal', '/db/my.db-shm']);
});
