import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The environment of a person's shell: without what npm and the test runner set for their children. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_TEST|NODE_OPTIONS|INIT_CWD)/i.test(name)),
);

test('what npm pack makes starts where it is installed', { timeout: 240_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pack-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, env });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) as string;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true }));
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--omit=dev', join(folder, tarball)], {
    cwd: folder,
    env,
  });
  await writeFile(
    join(folder, 'config.yaml'),
    [
      'gateway: { listen: "127.0.0.1:0" }',
      'models: { main: { provider: demo } }',
      'channels: { local: { type: web } }',
      'agents: { helper: { model: main, instructions: You help. } }',
      'bindings: [{ id: page, agent: helper, channel: local, where: { direct: true } }]',
    ].join('\n'),
  );
  const bin = join(folder, 'node_modules', '.bin', 'gatehouse');
  const checked = await run(bin, ['check'], { cwd: folder, env });
  assert.match(checked.stdout, /^config\.yaml is valid/);

  const child = spawn(bin, ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /running at (\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  assert.equal((await fetch(`${url}/chat`, { redirect: 'manual' })).status, 401);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
});
