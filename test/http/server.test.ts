import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { GatehouseError } from '../../src/base/errors.ts';
import { createHttp } from '../../src/http/server.ts';
import { ask } from '../support/ask.ts';
import { silentLog } from '../support/silent_log.ts';
import { approvalParts } from './questions.ts';
import { httpOnly, startGateway } from './support.ts';

const echo = () => httpOnly(async ({ request }) => new Response(await request.text()));

test('healthz answers anybody', async (t) => {
  const { url } = await startGateway(t);
  for (const headers of [{}, { host: 'anything.example' }, { via: '1.1 proxy' }]) {
    assert.equal((await ask(`${url}/healthz`, { headers })).status, 200);
  }
});

test('readyz: 503 until every channel was up or has failed for good; strict wants all of them up', async (t) => {
  const gateway = await startGateway(t);
  const telegram = { name: 'tg', type: 'telegram', state: 'starting' as 'starting' | 'up' | 'down', since: 0 };
  gateway.readiness.channels = [
    telegram,
    { name: 'web', type: 'web', state: 'up', since: 0 },
    { name: 'dead', type: 'slack', state: 'failed', reason: 'the token is wrong', since: 0 },
  ];
  const status = async (query = '') => (await ask(`${gateway.url}/readyz${query}`)).status;
  assert.equal(await status(), 503);
  telegram.state = 'down';
  assert.equal(await status(), 503);
  telegram.state = 'up';
  assert.equal(await status(), 200);
  assert.equal(await status('?strict'), 503);
  telegram.state = 'down';
  assert.equal(await status(), 200);
  gateway.readiness.store = { ok: false, reason: 'disk full' };
  assert.equal(await status(), 503);
  gateway.readiness.store = { ok: true };
  telegram.state = 'up';
  gateway.readiness.channels.pop();
  assert.equal(await status('?strict'), 200);
});

test('R93: reasons in readyz and metrics go to this machine or a session', async (t) => {
  const gateway = await startGateway(t, { publicUrl: 'https://bots.example.com' });
  gateway.readiness.channels = [{ name: 'tg', type: 'telegram', state: 'failed', reason: 'wrong token', since: 0 }];
  const direct = await ask(`${gateway.url}/readyz`);
  assert.deepEqual(JSON.parse(direct.text), {
    ready: true,
    store: { ok: true },
    channels: [
      { name: 'tg', type: 'telegram', state: 'failed', reason: 'wrong token', since: '1970-01-01T00:00:00.000Z' },
    ],
  });
  assert.match((await ask(`${gateway.url}/metrics`)).text, /gatehouse_up/);

  const proxied = { host: 'bots.example.com', 'x-forwarded-for': '9.9.9.9' };
  for (const path of ['/readyz', '/metrics']) {
    const refused = await ask(gateway.url + path, { headers: proxied });
    assert.equal(refused.status, 403);
    assert.doesNotMatch(refused.text, /token|gatehouse_up/);
  }
  const cookie = await gateway.signIn('ada');
  assert.match((await ask(`${gateway.url}/readyz`, { headers: { ...proxied, cookie } })).text, /wrong token/);
  assert.match((await ask(`${gateway.url}/metrics`, { headers: { ...proxied, cookie } })).text, /gatehouse_up/);
});

test('metrics that are switched off are an address that leads nowhere', async (t) => {
  const { url } = await startGateway(t, { metrics: async () => '' });
  assert.equal((await ask(`${url}/metrics`)).status, 404);
});

test('R93: the front door leads to the chat, and an unknown address to a page', async (t) => {
  const { url } = await startGateway(t);
  const front = await ask(`${url}/`);
  assert.deepEqual([front.status, front.headers.location], [302, '/chat']);
  assert.equal((await ask(`${url}/no/such/<script>`)).status, 404);
});

test('pages carry a policy that allows nothing inline and nothing from elsewhere', async (t) => {
  const { url } = await startGateway(t);
  const { headers } = await ask(`${url}/signin`);
  assert.equal(
    headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal((await ask(`${url}/`)).headers['referrer-policy'], 'no-referrer');
});

test('R9: a platform path reaches its channel with the body byte for byte and without a session', async (t) => {
  const gateway = await startGateway(t, { publicUrl: 'https://bots.example.com' });
  const adapter = echo();
  gateway.channels.push({ name: 'team', type: 'telegram', adapter });
  const body = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x20, 0x7d]);
  await ask(`${gateway.url}/telegram/team/hook?a=1`, {
    method: 'POST',
    headers: { host: 'bots.example.com', 'x-forwarded-proto': 'https', 'x-telegram-bot-api-secret-token': 's' },
    body,
  });
  const seen = adapter.seen[0];
  assert.equal(seen?.path, '/hook');
  assert.equal(seen?.session, null);
  assert.equal(seen?.request.headers.get('x-telegram-bot-api-secret-token'), 's');
  let bytes: Buffer = Buffer.alloc(0);
  adapter.http = async ({ request }) => {
    bytes = Buffer.from(await request.arrayBuffer());
    return new Response('ok');
  };
  await ask(`${gateway.url}/telegram/team`, { method: 'POST', body });
  assert.deepEqual(bytes, body);
});

test('R93: only configured channels have platform paths, and dot segments lead nowhere else', async (t) => {
  const gateway = await startGateway(t);
  const adapter = echo();
  gateway.channels.push({ name: 'team', type: 'telegram', adapter }, { name: 'web', type: 'web', adapter: echo() });
  for (const path of ['/telegram/other', '/slack/team', '/web/web', '/telegram/team/../../web/web', '/telegram']) {
    const answer = await ask(gateway.url + path, { headers: { accept: 'text/html' } });
    assert.equal(answer.status, 404, path);
  }
  assert.deepEqual(adapter.seen, []);
});

test('a body over 1 MiB is refused, announced or not', async (t) => {
  const gateway = await startGateway(t);
  const adapter = echo();
  gateway.channels.push({ name: 'team', type: 'telegram', adapter });
  const path = `${gateway.url}/telegram/team`;
  const most = Buffer.alloc(1024 * 1024, 97);
  assert.equal((await ask(path, { method: 'POST', body: most })).status, 200);
  const over = Buffer.alloc(1024 * 1024 + 1, 97);
  assert.equal((await ask(path, { method: 'POST', body: over })).status, 413);
  const chunked = { 'transfer-encoding': 'chunked' };
  assert.equal((await ask(path, { method: 'POST', headers: chunked, body: over })).status, 413);
  assert.equal(adapter.seen.length, 1);
});

test('headers over 16 KiB are refused', async (t) => {
  const { url } = await startGateway(t);
  assert.equal((await ask(`${url}/healthz`, { headers: { 'x-long': 'a'.repeat(17_000) } })).status, 431);
});

test('a target with a host of its own is a bad request', async (t) => {
  const { url } = await startGateway(t);
  const { port } = new URL(url);
  const first = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`GET http://evil.example/chat HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    });
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (data) => resolve(String(data).split('\r\n')[0] ?? ''));
  });
  assert.match(first, /^HTTP\/1\.1 4\d\d /);
});

test('R92: the log holds method, path, status and time, and neither query nor secret path', async (t) => {
  const gateway = await startGateway(t);
  gateway.channels.push({ name: 'mac', type: 'imessage', adapter: echo() });
  await ask(`${gateway.url}/imessage/mac/very-secret-path`, { method: 'POST', body: 'private words' });
  await ask(`${gateway.url}/signin?code=very-secret-code`);
  const lines = gateway.logged.join('');
  assert.match(lines, /"method":"POST","path":"\/imessage\/mac","status":200/);
  assert.doesNotMatch(lines, /very-secret|private words/);
});

test('an adapter that throws is a 500 without its words', async (t) => {
  const gateway = await startGateway(t);
  const adapter = httpOnly(async () => {
    throw new Error('inner workings');
  });
  gateway.channels.push({ name: 'team', type: 'telegram', adapter });
  const answer = await ask(`${gateway.url}/telegram/team`, { method: 'POST', body: 'x' });
  assert.equal(answer.status, 500);
  assert.doesNotMatch(answer.text, /inner workings/);
});

test('a port in use is named together with its key', async (t) => {
  const { url, db } = await startGateway(t);
  const port = Number(new URL(url).port);
  const second = createHttp({
    listen: { host: '127.0.0.1', port },
    publicUrl: null,
    configFile: 'my.yaml',
    db,
    clock: systemClock,
    log: silentLog,
    channels: () => [],
    readiness: () => ({ store: { ok: true }, channels: [] }),
    metrics: async () => '',
    onOwner: async () => {},
    approvals: approvalParts,
  });
  await assert.rejects(second.start(), (error) => {
    assert.ok(error instanceof GatehouseError);
    assert.equal(error.code, 'in_use');
    assert.equal(error.message, `127.0.0.1:${port} (gateway.listen) is in use by another program`);
    assert.equal(
      error.hint,
      `Stop the other program, or take another port in my.yaml: gateway: { listen: "127.0.0.1:${port + 1}" }`,
    );
    return true;
  });
});

/** A stream that says one thing and then stays open until it is cancelled. */
function endless(onCancel: () => void): Response {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
    cancel: onCancel,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

test('a session holds 32 streams at most; signing out and stopping end them', async (t) => {
  const gateway = await startGateway(t);
  let cancelled = 0;
  gateway.channels.push({ name: 'web', type: 'web', adapter: httpOnly(async () => endless(() => cancelled++)) });
  const cookie = await gateway.signIn('ada');
  const bob = await gateway.signIn('bob');
  const open = async (as: string) =>
    (await fetch(`${gateway.url}/chat/api/events`, { headers: { cookie: as } })) as Response;
  const streams = await Promise.all(Array.from({ length: 32 }, () => open(cookie)));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  assert.equal((await open(cookie)).status, 503);
  const other = await open(bob);
  assert.equal(other.status, 200);

  await ask(`${gateway.url}/signout`, { method: 'POST', headers: { origin: gateway.url, cookie } });
  const texts = await Promise.all(streams.map((stream) => stream.text()));
  assert.deepEqual(new Set(texts), new Set(['data: 1\n\n']));
  assert.equal(cancelled, 33);

  const rest = other.text();
  await gateway.http.stop();
  assert.equal(await rest, 'data: 1\n\n');
  assert.equal(cancelled, 34);
});

test('R88: stopping lets an open request finish', async (t) => {
  const gateway = await startGateway(t);
  let release = () => {};
  const entered = new Promise<void>((inside) => {
    gateway.channels.push({
      name: 'team',
      type: 'telegram',
      adapter: httpOnly(async () => {
        inside();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return new Response('done');
      }),
    });
  });
  const answer = ask(`${gateway.url}/telegram/team`, { method: 'POST', body: 'x' });
  await entered;
  const stopped = gateway.http.stop();
  release();
  assert.equal((await answer).text, 'done');
  await stopped;
  await assert.rejects(ask(`${gateway.url}/healthz`), /ECONNREFUSED/);
});
