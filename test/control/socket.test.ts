import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { GatehouseError } from '../../src/base/errors.ts';
import { callControl, NotRunning } from '../../src/control/client.ts';
import { controlPath } from '../../src/control/path.ts';
import { type ControlHandler, startControl } from '../../src/control/server.ts';

function dataFolder(t: TestContext, name = ''): string {
  const root = mkdtempSync(join(tmpdir(), 'gh-control-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function running(t: TestContext, dataDir: string, handlers: Record<string, ControlHandler> = {}) {
  const control = await startControl(dataDir, handlers);
  t.after(() => control.close());
  return control;
}

test('R94: a command and its arguments reach the handler, and the result comes back', async (t) => {
  const dataDir = dataFolder(t);
  await running(t, dataDir, { echo: async (args) => ({ got: args }), nothing: async () => undefined });
  assert.deepEqual(await callControl(dataDir, 'echo', { text: 'ä\n"', n: 1 }), { got: { text: 'ä\n"', n: 1 } });
  assert.equal(await callControl(dataDir, 'nothing', {}), null);
});

test('R94: the socket is in the data folder, for its owner alone', async (t) => {
  const dataDir = dataFolder(t);
  const control = await running(t, dataDir);
  assert.equal(control.path, join(dataDir, 'control.sock'));
  assert.equal(statSync(control.path).mode & 0o777, 0o600);
});

test('an error of a handler arrives with its code and hint, a bug with its message', async (t) => {
  const dataDir = dataFolder(t);
  await running(t, dataDir, {
    refuse: async () => {
      throw new GatehouseError('refused', 'not today', { hint: 'ask tomorrow' });
    },
    bug: async () => {
      throw new TypeError('x is not a function');
    },
  });
  await assert.rejects(callControl(dataDir, 'refuse', {}), (error: GatehouseError) => {
    assert.deepEqual([error.code, error.message, error.hint], ['refused', 'not today', 'ask tomorrow']);
    return true;
  });
  await assert.rejects(callControl(dataDir, 'bug', {}), { message: 'x is not a function' });
  await assert.rejects(callControl(dataDir, 'toString', {}), {
    code: 'not_found',
    message: 'the running gateway does not know the command toString',
  });
});

test('without a gateway the client says so, also when a dead one left its socket', async (t) => {
  const dataDir = dataFolder(t);
  await assert.rejects(callControl(dataDir, 'status', {}), NotRunning);
  writeFileSync(join(dataDir, 'control.sock'), '');
  await assert.rejects(callControl(dataDir, 'status', {}), NotRunning);
  await running(t, dataDir, { status: async () => 'up' });
  assert.equal(await callControl(dataDir, 'status', {}), 'up');
});

test('R94: a second gateway on the same folder is refused and the first goes on', async (t) => {
  const dataDir = dataFolder(t);
  await running(t, dataDir, { status: async () => 'first' });
  await assert.rejects(startControl(dataDir, {}), {
    code: 'in_use',
    message: `another gateway is running on ${dataDir}`,
  });
  assert.equal(await callControl(dataDir, 'status', {}), 'first');
});

test('a path too long for a socket moves to a private folder, the same for both sides', async (t) => {
  const dataDir = dataFolder(t, 'x'.repeat(120));
  const control = await running(t, dataDir, { status: async () => 'up' });
  const folder = join(tmpdir(), `gatehouse-${process.getuid?.()}`);
  assert.ok(control.path.startsWith(`${folder}/`), control.path);
  assert.ok(Buffer.byteLength(control.path) <= 103);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(await callControl(dataDir, 'status', {}), 'up');
  assert.notEqual(controlPath(`${dataDir}y`), control.path);
});

test('after close the socket is gone', async (t) => {
  const dataDir = dataFolder(t);
  const control = await startControl(dataDir, {});
  await control.close();
  assert.equal(existsSync(control.path), false);
});

test('a request that is too long or no request at all does not end the gateway', { timeout: 10_000 }, async (t) => {
  const dataDir = dataFolder(t);
  const { path } = await running(t, dataDir, { status: async () => 'up' });
  const flood = connect(path);
  flood.on('error', () => {});
  flood.write(Buffer.alloc(1_200_000, 120));
  await new Promise((resolve) => flood.once('close', resolve));
  const noise = connect(path);
  noise.write('this is no JSON\n');
  const [answer] = (await once(noise, 'data')) as [Buffer];
  assert.equal(JSON.parse(answer.toString()).ok, false);
  noise.destroy();
  assert.equal(await callControl(dataDir, 'status', {}), 'up');
});

test('a gateway that does not answer is given up on', { timeout: 10_000 }, async (t) => {
  const dataDir = dataFolder(t);
  const server = createServer(() => {});
  server.listen(join(dataDir, 'control.sock'));
  await once(server, 'listening');
  t.after(() => server.close());
  await assert.rejects(callControl(dataDir, 'status', {}, { timeoutMs: 50 }), {
    code: 'unavailable',
    message: `the gateway on ${dataDir} gave no answer: no answer within 0.05 s`,
  });
});
