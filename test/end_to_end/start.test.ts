/** What keeps the program from starting: a clear message each, exit code 1, and nothing left behind. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import { needs } from '../support/needs.ts';
import { createSite, type GatewayProcess } from './gateway_process.ts';

const bounded = { timeout: 180_000 } as const;

async function _metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGTERM');
  assert.equal((await gateway.ended).code, 0);
}

test('R94: a second start on the same data folder is refused, and the first goes on', bounded, async (t) => {
  const site = await createSite(t);
  await site.configure();
  const gateway = await site.start();
  const second = await site.run('start');
  assert.equal(second.code, 1);
  assert.match(second.err, new RegExp(`^gatehouse: .*${gateway.pid}`));
  assert.ok(!second.err.includes('    at '), 'no stack');
  assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
  assert.equal(statSync(site.dataDir).mode & 0o777, 0o700);
  await stop(gateway);
});

test('a port in use ends the start with its name and what to change', bounded, async (t) => {
  const site = await createSite(t);
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  t.after(() => squatter.close());
  const { port } = squatter.address() as { port: number };
  await site.configure({ gateway: { listen: `127.0.0.1:${port}` } });
  const refused = await site.run('start');
  assert.equal(refused.code, 1);
  assert.match(refused.err, new RegExp(`gatehouse: .*127\\.0\\.0\\.1:${port}.*gateway\\.listen`));
  assert.match(refused.err, /in config\.yaml: gateway: \{ listen: "127\.0\.0\.1:\d+" \}$/m);
  assert.ok(!refused.err.includes('    at '));
  // The folder was given back.
  await site.configure();
  await stop(await site.start());
});

test(
  'R89: a token from an environment variable that is not set is an error before anything runs',
  bounded,
  async (t) => {
    const site = await createSite(t);
    await site.configure({ channels: { tg: { type: 'telegram', token: `$${'{NO_SUCH_TOKEN}'}` } } });
    const refused = await site.run('start');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /config\.yaml:\d+ channels\.tg\.token: .*NO_SUCH_TOKEN/);
    assert.ok(!existsSync(site.dataDir), 'nothing was created');
  },
);

test('a database of a newer version is refused and left alone', bounded, async (t) => {
  const site = await createSite(t);
  await site.configure();
  await stop(await site.start());
  const db = await openStore(`sqlite:${join(site.dataDir, 'gatehouse.db')}`);
  await db.run('insert into schema_migrations (name, sha256, at) values (?, ?, ?)', '9999_future', 'f', 1);
  await db.close();
  const refused = await site.run('start');
  assert.equal(refused.code, 1);
  assert.equal(
    refused.err.split('\n').at(-2),
    'gatehouse: The database is newer than this program: it holds migration 9999_future. ' +
      'Start the version of Gatehouse that was used last, or a later one; or restore an older backup.',
  );
});

const readOnly = { ...bounded, skip: process.getuid?.() === 0 ? needs('setpriv') : false };

test('a data folder or database that cannot be written is named, with exit code 1', readOnly, async (t) => {
  const site = await createSite(t);
  await site.configure();
  await chmod(site.folder, 0o755);
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const start = () => {
    const words = [...user, process.execPath, ...site.launch, 'start'];
    return site.spawn(words[0] as string, words.slice(1));
  };
  await chmod(join(site.folder, 'config.yaml'), 0o644);
  if (user.length === 0) await chmod(site.folder, 0o555);
  const folder = await start();
  if (user.length === 0) await chmod(site.folder, 0o755);
  assert.equal(folder.code, 1);
  assert.match(folder.err, new RegExp(`gatehouse: .*${site.dataDir}`));
  assert.ok(!folder.err.includes('    at '), folder.err);

  await mkdir(site.dataDir);
  await writeFile(join(site.dataDir, 'gatehouse.db'), '');
  await chmod(site.dataDir, 0o777);
  await chmod(join(site.dataDir, 'gatehouse.db'), 0o444);
  const database = await start();
  assert.equal(database.code, 1);
  assert.match(database.err, /gatehouse: .*(gatehouse\.db|data_dir|data folder|database)/i);
  assert.ok(!database.err.includes('    at '), database.err);
});
