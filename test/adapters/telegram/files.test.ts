import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import nodeTest, { type TestContext } from 'node:test';
import { GatehouseError } from '../../../src/base/errors.ts';
import type { IncomingFile } from '../../../src/types/message.ts';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createHarness, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const never = new AbortController().signal;
const limitBytes = 20 * 1024 * 1024;

async function begin(t: TestContext) {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url });
  await harness.start();
  const alice = telegram.user({ name: 'Alice' });
  const file = async (index = 0) => {
    const event = await harness.until('the message', () => harness.stored[index]);
    assert.ok(event.kind === 'message');
    return event.files[0]!;
  };
  return { telegram, harness, adapter: harness.adapter, alice, chat: telegram.privateChat(alice), file };
}

async function failure(work: Promise<unknown>): Promise<GatehouseError> {
  const error = await work.then(
    () => assert.fail('it went well'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof GatehouseError, String(error));
  assert.ok(!`${error.stack}${error.hint}${JSON.stringify(error)}${String(error.cause)}`.includes('AAH-not-a-real'));
  return error;
}

test('R82: what a person sends is fetched whole', async (t) => {
  const { telegram, adapter, alice, chat, file } = await begin(t);
  telegram.say(chat, alice, 'see', { document: { bytes: 'one,two\n', name: 'data.csv', mime: 'text/csv' } });
  const found = await file();
  assert.deepEqual(
    { name: found.name, mime: found.mime, bytes: found.bytes, kind: found.kind },
    { name: 'data.csv', mime: 'text/csv', bytes: 8, kind: 'document' },
  );
  assert.equal(Buffer.from(await adapter.download!(found, never)).toString(), 'one,two\n');
});

test('R82: a file over 20 MB is refused before and after asking, and its message is not lost', async (t) => {
  const { telegram, adapter, alice, chat, file } = await begin(t);
  telegram.say(chat, alice, 'big', { video: { size: limitBytes + 1 } });
  const found = await file();
  assert.equal((await failure(adapter.download!(found, never))).code, 'limit');
  assert.equal(telegram.counts.get('getFile'), undefined);
  const { bytes: _, ...unannounced } = found;
  const error = await failure(adapter.download!(unannounced, never));
  assert.equal(error.code, 'limit');
  assert.equal(error.message, 'The file is larger than 20 MB.');
  assert.equal(telegram.counts.get('getFile'), 1);
});

test('R82: a file Telegram no longer has is unavailable', async (t) => {
  const { adapter } = await begin(t);
  const error = await failure(adapter.download!({ ref: 'gone', name: 'a', mime: 'a/b', kind: 'document' }, never));
  assert.equal(error.code, 'unavailable');
});

test('R82: a failing file server is told without its address', async (t) => {
  const { telegram, adapter, alice, chat, file } = await begin(t);
  telegram.say(chat, alice, '', { voice: { bytes: 'ogg' } });
  const found = await file();
  telegram.fault({ method: 'download', do: 'close_before' });
  assert.equal((await failure(adapter.download!(found, never))).code, 'unavailable');
  telegram.fault({ method: 'download', do: 'status_before', status: 503 });
  assert.match((await failure(adapter.download!(found, never))).message, /status 503/);
  assert.equal(Buffer.from(await adapter.download!(found, never)).toString(), 'ogg');
});

/** A Bot API server whose file part answers as told. */
async function fileServer(
  t: TestContext,
  answer: { type?: string; chunks: () => Iterable<string | Buffer>; length?: number; cut?: boolean },
) {
  const state = { sent: 0 };
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/file/'))
      return void response.end(JSON.stringify({ ok: true, result: { file_id: 'f', file_path: 'photos/a b.jpg' } }));
    response.setHeader('content-type', answer.type ?? 'application/octet-stream');
    if (answer.length !== undefined) response.setHeader('content-length', answer.length);
    for (const chunk of answer.chunks()) {
      state.sent += chunk.length;
      response.write(chunk);
    }
    if (answer.cut) response.write('', () => response.destroy());
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { state, adapter: createHarness(t, { url }).adapter };
}

const photo: IncomingFile = { ref: 'f', name: 'a.jpg', mime: 'image/jpeg', kind: 'image' };

test('R82: a sign-in page instead of the file is an error, however it is labelled', async (t) => {
  const page = () => ['  <!DOCTYPE html><html><body>Sign in</body></html>'];
  const labelled = await fileServer(t, { type: 'text/html; charset=utf-8', chunks: page });
  assert.match((await failure(labelled.adapter.download!(photo, never))).message, /web page came instead/);
  const pdf: IncomingFile = { ref: 'f', name: 'a.pdf', mime: 'application/pdf', kind: 'document' };
  assert.match((await failure(labelled.adapter.download!(pdf, never))).message, /web page came instead/);
  const disguised = await fileServer(t, { chunks: page });
  assert.match((await failure(disguised.adapter.download!(photo, never))).message, /web page came instead/);
});

test('R82: a page that a person sent as a file is a file', async (t) => {
  const { adapter } = await fileServer(t, { type: 'text/html', chunks: () => ['<html>mine</html>'] });
  const page: IncomingFile = { ref: 'f', name: 'a.html', mime: 'text/html', kind: 'document' };
  assert.equal(Buffer.from(await adapter.download!(page, never)).toString(), '<html>mine</html>');
});

test('R82: a file that announces or turns out to be too long is given up on the way', async (t) => {
  const announced = await fileServer(t, { chunks: () => ['x'], length: limitBytes + 1 });
  assert.equal((await failure(announced.adapter.download!(photo, never))).code, 'limit');
  const mega = Buffer.alloc(1024 * 1024, 120);
  const endless = await fileServer(t, { chunks: () => Array.from({ length: 21 }, () => mega) });
  assert.equal((await failure(endless.adapter.download!(photo, never))).code, 'limit');
  const whole = await fileServer(t, { chunks: () => Array.from({ length: 20 }, () => mega) });
  assert.equal((await whole.adapter.download!(photo, never)).length, limitBytes);
});

test('R82: a connection cut in the middle of a file gives no half file', async (t) => {
  const { adapter } = await fileServer(t, { length: 100, chunks: () => ['only these'], cut: true });
  assert.equal((await failure(adapter.download!(photo, never))).code, 'unavailable');
});
