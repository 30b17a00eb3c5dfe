/** What strangers can make the gateway hold in memory. */
import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { test as nodeTest, type TestContext } from 'node:test';
import { ask } from '../support/ask.ts';
import { httpOnly, startGateway } from './support.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 15_000 }, body);
const announced = 1024 * 1024;

interface Unfinished {
  request: ClientRequest;
  /** The status of the answer. */
  answered: Promise<number>;
}

/** Announces 1 MiB, sends all but the last byte and waits. */
function begin(t: TestContext, url: string, headers: Record<string, string> = {}, bytes = announced - 1): Unfinished {
  const opened = request(url, { method: 'POST', agent: false, headers: { ...headers, 'content-length': announced } });
  t.after(() => opened.destroy());
  const answered = new Promise<number>((resolve) => {
    opened.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    opened.on('error', () => {});
  });
  opened.write(Buffer.alloc(bytes, 120));
  return { request: opened, answered };
}

test('R9: who may not be heard is refused before the body is read, and the adapter sees no body', async (t) => {
  const gateway = await startGateway(t);
  const bodies: unknown[] = [];
  const adapter = httpOnly(async () => new Response('heard'));
  adapter.authorize = ({ request, path }) => {
    bodies.push(request.body, path);
    return request.headers.get('x-secret') === 'right' ? null : new Response(null, { status: 403 });
  };
  gateway.channels.push({ name: 'team', type: 'telegram', adapter });
  const url = `${gateway.url}/telegram/team`;
  assert.equal(await begin(t, url, { 'x-secret': 'wrong' }).answered, 403);
  assert.deepEqual(bodies, [null, '/']);
  assert.deepEqual(adapter.seen, []);
  const answer = await ask(url, { method: 'POST', headers: { 'x-secret': 'right' }, body: 'hello' });
  assert.deepEqual([answer.status, answer.text], [200, 'heard']);
});

test('bodies that are read at one time have 32 MiB together; the room is there again when their senders are gone', async (t) => {
  const gateway = await startGateway(t);
  gateway.channels.push({ name: 'team', type: 'telegram', adapter: httpOnly(async () => new Response('heard')) });
  const url = `${gateway.url}/telegram/team`;
  const open = Array.from({ length: 34 }, () => begin(t, url));
  assert.equal(await Promise.race(open.map(({ answered }) => answered)), 503);
  for (const { request } of open) request.destroy();
  const body = Buffer.alloc(announced);
  let status = 0;
  while (status !== 200) {
    status = (await ask(url, { method: 'POST', body })).status;
    assert.ok(status === 200 || status === 503, String(status));
  }
  // Heard bodies make room too: more of them than fit at one time, one after another.
  for (let count = 0; count < 40; count++) assert.equal((await ask(url, { method: 'POST', body })).status, 200);
});
