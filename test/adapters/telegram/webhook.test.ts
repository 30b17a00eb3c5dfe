import assert from 'node:assert/strict';
import nodeTest, { type TestContext } from 'node:test';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createHarness, createWatchedClock, type Harness, type HarnessOptions, serve, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const secret = 'a-secret_0123456789';

async function begin(t: TestContext, more: Partial<HarnessOptions> = {}) {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  let harness: Harness;
  const publicUrl = await serve(t, () => harness.adapter);
  const config = { mode: 'webhook' as const, webhook_secret: secret };
  harness = createHarness(t, { url: telegram.url, publicUrl, config, ...more });
  return { telegram, harness, publicUrl, alice: telegram.user({ name: 'Alice' }) };
}

/** One request as anybody on the internet could make it. */
function knock(harness: Harness, options: { method?: string; secret?: string; body?: string; path?: string }) {
  const request = new Request('http://gateway/telegram/helper', {
    method: options.method ?? 'POST',
    headers: options.secret === undefined ? {} : { 'X-Telegram-Bot-Api-Secret-Token': options.secret },
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  return harness.adapter.http!({ request, path: options.path ?? '/', session: null });
}

test('a message is pushed to the address below public_url and confirmed with 200', async (t) => {
  const { telegram, harness, publicUrl, alice } = await begin(t);
  await harness.start();
  assert.deepEqual(harness.reports, [{ state: 'up', reason: undefined }]);
  const call = telegram.calls.find(({ method }) => method === 'setWebhook');
  assert.deepEqual(call?.args, {
    url: `${publicUrl}/telegram/helper`,
    secret_token: secret,
    max_connections: 40,
    allowed_updates: ['message', 'edited_message', 'callback_query', 'my_chat_member', 'message_reaction'],
  });
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await harness.until('the message', () => harness.stored.length === 1);
  await telegram.idle();
  assert.deepEqual(
    telegram.webhook.attempts.map(({ status }) => status),
    [200],
  );
});

test('D1: an update that cannot be stored is answered 503 and comes again', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  let refusals = 2;
  harness.onAccept = () => {
    if (refusals-- > 0) throw new Error('the store is down');
  };
  await harness.start();
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await telegram.until('two attempts', () => telegram.webhook.attempts.length === 2);
  telegram.webhook.retryNow();
  await harness.until('the message', () => harness.stored.length === 1);
  await telegram.idle();
  assert.deepEqual(
    telegram.webhook.attempts.map(({ status }) => status),
    [503, 503, 200],
  );
  assert.equal(harness.stored.length, 1);
});

test('D1: 200 is said only after the event is stored', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  harness.onAccept = () => {
    reached.resolve();
    return release.promise;
  };
  await harness.start();
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await reached.promise;
  assert.equal(telegram.webhook.attempts.length, 0);
  release.resolve();
  await telegram.idle();
  assert.equal(telegram.webhook.attempts[0]?.status, 200);
});

test('R9: without the secret nothing of a call is read', async (t) => {
  const { harness } = await begin(t);
  await harness.start();
  const status = async (options: Parameters<typeof knock>[1]) => (await knock(harness, options)).status;
  const body = JSON.stringify({
    update_id: 1,
    message: { message_id: 1, chat: { id: 5, type: 'private' }, from: { id: 5, first_name: 'M' }, date: 1, text: 'x' },
  });
  assert.equal(await status({ body }), 401);
  assert.equal(await status({ body, secret: 'wrong' }), 403);
  assert.equal(await status({ body, secret: `${secret}x` }), 403);
  assert.equal(await status({ body: '{broken', secret: 'wrong' }), 403);
  assert.equal(harness.stored.length, 0);
  assert.equal(await status({ body, secret }), 200);
  assert.equal(harness.stored.length, 1);
});

test('R9: other methods, other paths and broken bodies are refused', async (t) => {
  const { harness } = await begin(t);
  await harness.start();
  const get = await knock(harness, { method: 'GET', secret });
  assert.equal(get.status, 405);
  assert.equal(get.headers.get('allow'), 'POST');
  assert.equal((await knock(harness, { secret, path: '/more', body: '{}' })).status, 404);
  assert.equal((await knock(harness, { secret, body: '{"update_id":1' })).status, 400);
});

test('an update nobody can read is answered 200, so that it does not block its chat', async (t) => {
  const { harness } = await begin(t);
  await harness.start();
  const status = async (update: unknown) => (await knock(harness, { secret, body: JSON.stringify(update) })).status;
  assert.equal(await status({ update_id: 1, message: { chat: 7 } }), 200);
  assert.equal(await status({ update_id: 2, a_kind_of_next_year: {} }), 200);
  assert.equal(await status([]), 200);
  assert.equal(harness.counts.get('malformed_updates'), 2);
  assert.equal(harness.stored.length, 0);
});

test('R9: without a configured secret one is made, kept and used', async (t) => {
  const config = { mode: 'webhook' as const, webhook_secret: null };
  const { telegram, harness } = await begin(t, { config });
  await harness.start();
  const made = harness.state.get('webhook_secret') ?? '';
  assert.match(made, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(telegram.calls.find(({ method }) => method === 'setWebhook')?.args.secret_token, made);
  const again = createHarness(t, { url: telegram.url, publicUrl: 'http://127.0.0.1:9', config, state: harness.state });
  await again.start();
  assert.equal(telegram.calls.findLast(({ method }) => method === 'setWebhook')?.args.secret_token, made);
  assert.ok(!harness.said().includes(made));
});

test('before the channel knows who it is, Telegram is asked to come again', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness } = await begin(t, {
    clock,
    config: { mode: 'webhook', webhook_secret: secret },
  });
  telegram.fault({ method: 'getMe', do: 'status_before', status: 502 });
  assert.equal((await knock(harness, { secret, body: '{}' })).status, 503);
  await harness.start();
  assert.equal(harness.reports[0]?.state, 'down');
  assert.equal((await knock(harness, { secret, body: '{}' })).status, 503);
  await clock.advance(await clock.waiting(500, 1_000));
  await harness.until('the channel to come up', () => harness.reports.at(-1)?.state === 'up');
});

test('R8: webhook mode without a public address is reported once, with what to do', async (t) => {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url, config: { mode: 'webhook' } });
  await harness.start();
  assert.deepEqual(
    harness.reports.map(({ state }) => state),
    ['failed'],
  );
  assert.match(harness.reports[0]!.reason ?? '', /set gateway\.public_url, or channels\.helper\.mode: polling/);
});

test('R8: an address Telegram does not take is reported once', async (t) => {
  const { harness } = await begin(t, { publicUrl: 'http://gateway.example' });
  await harness.start();
  assert.deepEqual(
    harness.reports.map(({ state }) => state),
    ['failed'],
  );
  assert.match(harness.reports[0]!.reason ?? '', /An HTTPS URL must be provided.*check gateway\.public_url/);
});

test('R88: after stop a call is answered 503, so that Telegram keeps the update', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  await harness.adapter.stop();
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await telegram.until('an attempt', () => telegram.webhook.attempts.length > 0);
  assert.equal(telegram.webhook.attempts[0]?.status, 503);
  assert.equal(harness.stored.length, 0);
  assert.equal(telegram.pending, 1);
});

test('R9: a stranger is refused by the headers alone; when polling there is no such address', async (t) => {
  const { harness } = await begin(t);
  await harness.start();
  const judged = (headers: Record<string, string>, of = harness) => {
    const request = new Request('http://gateway/telegram/helper', { method: 'POST', headers });
    return of.adapter.authorize!({ request, path: '/', session: null })?.status ?? null;
  };
  assert.equal(judged({}), 401);
  assert.equal(judged({ 'X-Telegram-Bot-Api-Secret-Token': 'wrong' }), 403);
  assert.equal(judged({ 'X-Telegram-Bot-Api-Secret-Token': secret }), null);
  const polling = (await begin(t, { config: { mode: 'polling' } })).harness;
  assert.equal(judged({ 'X-Telegram-Bot-Api-Secret-Token': secret }, polling), 404);
});
