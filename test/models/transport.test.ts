/** The transport below the provider packages: what `fetch` promises them, and what is ours: bounds, bytes, no redirects. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createFetch, type Watch, watch } from '../../src/models/transport.ts';
import { within } from '../support/within.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: TestContext, answer: Answer) {
  const seen: { request: IncomingMessage; socket: number }[] = [];
  const sockets = new Set<unknown>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    seen.push({ request, socket: sockets.size });
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/x`, seen };
}

const send = createFetch({
  headersLeftOut: ['authorization'],
  answerBytesMax: 1_000,
  tooLarge: () => new Error('larger than allowed'),
});
const post = (url: string, init: RequestInit = {}) =>
  within(5_000, 'an answer', send(url, { method: 'POST', body: '{"a":"ä"}', ...init }));
/** As the SDKs read: a body promises no more than its reader. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  let text = '';
  for (;;) {
    const { done, value } = await within(5_000, 'the next piece', reader.read());
    if (done) return text;
    text += Buffer.from(value).toString();
  }
}

describe('transport', { timeout: 20_000 }, () => {
  test('status, headers and text come through; the body and its length go out; a header that is left out does not', async (t) => {
    const { url, seen } = await serve(t, (_request, response) => {
      response.writeHead(429, 'Slow down', { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] }).end('busy');
    });
    const response = await post(url, { headers: { Authorization: 'Bearer key', 'X-Own': 'yes' } });
    assert.equal(response.ok, false);
    assert.equal(response.status, 429);
    assert.equal(response.statusText, 'Slow down');
    assert.equal(response.headers.get('retry-after'), '7');
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(await textOf(response), 'busy');
    const { headers, method } = seen[0]!.request;
    assert.equal(method, 'POST');
    assert.equal(headers['content-length'], '10');
    assert.equal(headers['x-own'], 'yes');
    assert.equal(headers['accept-encoding'], 'identity');
    assert.equal(headers.authorization, undefined);
  });

  for (const [name, pack] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)
    test(`an answer that is packed with ${name} all the same comes out plain, and is bounded as such`, async (t) => {
      let text = 'packed words';
      const { url } = await serve(t, (_request, response) => {
        response.writeHead(200, { 'content-encoding': name }).end(pack(text));
      });
      assert.equal(await textOf(await post(url)), 'packed words');
      text = 'x'.repeat(100_000);
      await assert.rejects(textOf(await post(url)), /larger than allowed/);
    });

  test('a packed answer that breaks off fails', async (t) => {
    const { url } = await serve(t, (_request, response) => {
      const packed = gzipSync('words that never come whole');
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length });
      response.write(packed.subarray(0, 12), () => response.destroy());
    });
    await assert.rejects(textOf(await post(url)), { name: 'TypeError', message: 'terminated' });
  });

  test('connections are kept', async (t) => {
    const { url, seen } = await serve(t, (_request, response) => void response.end('ok'));
    for (let count = 0; count < 3; count++) assert.equal(await textOf(await post(url)), 'ok');
    assert.deepEqual(
      seen.map(({ socket }) => socket),
      [1, 1, 1],
    );
  });

  test('a redirect is not followed', async (t) => {
    const { url, seen } = await serve(t, (_request, response) => {
      response.writeHead(307, { location: '/v1/other' }).end();
    });
    assert.equal((await post(url)).status, 307);
    assert.equal(seen.length, 1);
  });

  test('an answer without a body is one', async (t) => {
    const { url } = await serve(t, (_request, response) => void response.writeHead(204).end());
    const response = await post(url);
    assert.equal(response.status, 204);
    assert.equal(response.body, null);
  });

  test('a longer answer than allowed fails, and the connection is closed', async (t) => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve(t, (request, response) => {
      request.socket.once('close', () => closed.resolve());
      response.writeHead(200).write('x'.repeat(1_001));
    });
    await assert.rejects(textOf(await post(url)), { message: 'larger than allowed' });
    await within(5_000, 'the end of the connection', closed.promise);
  });

  test('an abort rejects with its reason, before the answer and within it', async (t) => {
    const asked = Promise.withResolvers<void>();
    const { url } = await serve(t, (_request, response) => {
      if (response.req.headers['x-begin'] === 'yes') response.writeHead(200).write('a beginning');
      asked.resolve();
    });
    const before = new AbortController();
    const waiting = post(url, { signal: before.signal });
    waiting.catch(() => {});
    await within(5_000, 'the request', asked.promise);
    before.abort(new Error('not any more'));
    await assert.rejects(waiting, { message: 'not any more' });
    await assert.rejects(post(url, { signal: before.signal }), { message: 'not any more' });

    const during = new AbortController();
    const response = await post(url, { signal: during.signal, headers: { 'x-begin': 'yes' } });
    const reader = response.body!.getReader();
    assert.equal(Buffer.from((await within(5_000, 'a piece', reader.read())).value!).toString(), 'a beginning');
    during.abort(new Error('enough'));
    await assert.rejects(within(5_000, 'the end', reader.read()), { message: 'enough' });
  });

  test('an answer that breaks off fails as terminated, one that never begins as failed', async (t) => {
    const { url } = await serve(t, (request, response) => {
      if (request.headers['x-begin'] !== 'yes') return void request.socket.destroy();
      response.writeHead(200, { 'content-length': 100 });
      response.write('a beginning', () => request.socket.destroy());
    });
    await assert.rejects(textOf(await post(url, { headers: { 'x-begin': 'yes' } })), {
      name: 'TypeError',
      message: 'terminated',
    });
    await assert.rejects(post(url), { name: 'TypeError', message: 'fetch failed' });
  });

  test('a request that cannot be made rejects and says nothing of its headers', async (t) => {
    const { url } = await serve(t, (_request, response) => void response.end());
    const error = await post(url, { headers: { 'x-key': 'secret\nkey' } }).then(
      () => assert.fail('it was sent'),
      (reason: Error) => reason,
    );
    assert.equal(String(error.stack).includes('secret'), false);
  });

  test('the attempt is told what was sent and that bytes came', async (t) => {
    const { url } = await serve(t, (_request, response) => void response.end('ok'));
    const seen = { sent: false, answered: false, requestBytes: 0, times: 0 };
    const observer: Watch = Object.assign(seen, {
      onBytes() {
        seen.times += 1;
      },
    });
    const { signal } = new AbortController();
    watch(signal, observer);
    await textOf(await post(url, { signal }));
    assert.deepEqual(
      { sent: seen.sent, answered: seen.answered, requestBytes: seen.requestBytes },
      { sent: true, answered: true, requestBytes: 10 },
    );
    // Once for the headers, once for the text.
    assert.equal(seen.times, 2);
  });
});
