/** How updates reach a bot: polling, lifetimes, webhook. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Api, Bot } from 'grammy';
import { createFakeClock } from '../../support/fake_clock.ts';
import { type EmulatorOptions, startTelegramEmulator } from './index.ts';

async function start(options: EmulatorOptions = {}) {
  const emulator = await startTelegramEmulator(options);
  const api = new Api(emulator.token, { apiRoot: emulator.url });
  const alice = emulator.user({ name: 'Alice', username: 'alice' });
  const chat = emulator.privateChat(alice);
  const ids = async (poll: Parameters<Api['getUpdates']>[0]) =>
    (await api.getUpdates(poll)).map((update) => update.update_id);
  return { emulator, api, alice, chat, ids };
}

test('an update is served until a higher offset confirms it', async (t) => {
  const { emulator, alice, chat, ids } = await start({ firstUpdateId: 1 });
  t.after(emulator.close);
  for (const text of ['one', 'two', 'three']) emulator.say(chat, alice, text);
  assert.deepEqual(await ids({ timeout: 0 }), [1, 2, 3]);
  assert.deepEqual(await ids({ timeout: 0, offset: 2, limit: 1 }), [2]);
  assert.deepEqual(await ids({ timeout: 0, offset: 3 }), [3]);
  assert.equal(emulator.pending, 1);
  assert.deepEqual(await ids({ timeout: 0, offset: 4 }), []);
  assert.equal(emulator.pending, 0);
});

test('a negative offset forgets all but the last ones', async (t) => {
  const { emulator, alice, chat, ids } = await start({ firstUpdateId: 1 });
  t.after(emulator.close);
  for (const text of ['one', 'two', 'three']) emulator.say(chat, alice, text);
  assert.deepEqual(await ids({ timeout: 0, offset: -2 }), [2, 3]);
  assert.equal(emulator.pending, 2);
});

test('a long poll is answered by the next update, and ends empty after its timeout, 50 s at most', async (t) => {
  const clock = createFakeClock();
  const { emulator, alice, chat, ids } = await start({ clock, firstUpdateId: 1 });
  t.after(emulator.close);
  const first = ids({ timeout: 30 });
  await emulator.polling();
  emulator.say(chat, alice, 'hello');
  assert.deepEqual(await first, [1]);
  const second = ids({ timeout: 1_000, offset: 2 });
  await emulator.polling();
  await clock.advance(49_999);
  assert.equal(emulator.pollsOpen, 1);
  await clock.advance(1);
  assert.deepEqual(await second, []);
});

test('a second poller ends the first with 409; the next conflict is held back by 3 s', async (t) => {
  const clock = createFakeClock();
  const { emulator, api } = await start({ clock });
  t.after(emulator.close);
  const conflict =
    /^409: Conflict: terminated by other getUpdates request; make sure that only one bot instance is running/;
  const poll = () =>
    api.getUpdates({ timeout: 30 }).then(
      () => 'answered',
      (error: Error) => error.message.replace(/^.*\((.*)\)$/, '$1'),
    );
  const first = poll();
  await emulator.polling();
  const second = poll();
  assert.match(await first, conflict);
  const third = poll();
  await emulator.until('the third poll', () => emulator.counts.get('getUpdates') === 3);
  await emulator.until('its wait', () => clock.pending().length === 2);
  await clock.advance(3_000);
  assert.match(await second, conflict);
  await clock.advance(47_000);
  assert.equal(await third, 'answered');
});

test('a short poll that repeats its offset within 3 s is stretched to 3 s', async (t) => {
  const clock = createFakeClock();
  const { emulator, ids } = await start({ clock });
  t.after(emulator.close);
  assert.deepEqual(await ids({ timeout: 0 }), []);
  const again = ids({ timeout: 0 });
  await emulator.polling();
  await clock.advance(3_000);
  assert.deepEqual(await again, []);
});

test('presses live 150 s and messages 24 h', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, alice, chat } = await start({ clock });
  t.after(emulator.close);
  const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] };
  const card = await api.sendMessage(chat.id, 'Approve?', { reply_markup });
  emulator.say(chat, alice, 'hello');
  emulator.press(alice, card, 'y');
  assert.equal(emulator.pending, 2);
  await clock.advance(150_000);
  assert.equal(emulator.pending, 1);
  await clock.advance(86_400_000 - 150_000);
  assert.equal(emulator.pending, 0);
  const old = Math.floor(clock.now() / 1000) - 86_401;
  emulator.say(chat, alice, 'from the day before yesterday', { date: old });
  assert.equal(emulator.pending, 0);
});

test('allowed_updates is remembered; the default leaves reactions out', async (t) => {
  const { emulator, api, alice, chat } = await start();
  t.after(emulator.close);
  const card = await api.sendMessage(chat.id, 'x');
  emulator.react(alice, card, ['👍']);
  assert.equal(emulator.pending, 0);
  await api.getUpdates({ timeout: 0, allowed_updates: ['message_reaction'] });
  emulator.say(chat, alice, 'not wanted');
  emulator.react(alice, card, ['🔥']);
  const [update] = await api.getUpdates({ timeout: 0 });
  assert.deepEqual(update?.message_reaction?.old_reaction, [{ type: 'emoji', emoji: '👍' }]);
  assert.deepEqual(update?.message_reaction?.new_reaction, [{ type: 'emoji', emoji: '🔥' }]);
  assert.equal(emulator.pending, 1);
});

test('an old update comes again with its id or another one', async (t) => {
  const { emulator, alice, chat, ids } = await start({ firstUpdateId: 1 });
  t.after(emulator.close);
  const said = emulator.say(chat, alice, 'hello');
  await ids({ timeout: 0 });
  await ids({ timeout: 0, offset: 2 });
  emulator.redeliver(said);
  assert.deepEqual(await ids({ timeout: 0, offset: 2, limit: 5 }), [1]);
  assert.deepEqual(await ids({ timeout: 0, offset: 3 }), []);
  emulator.redeliver(said, { newId: true });
  assert.deepEqual(await ids({ timeout: 0, offset: 2 }), [2]);
  assert.equal(emulator.pushRaw({ novelty: { any: 'thing' } }), 3);
  assert.deepEqual(await ids({ timeout: 0, offset: 3 }), [3]);
});

test('an answer that got lost confirms nothing: the successor is served the same updates', async (t) => {
  const { emulator, api, alice, chat, ids } = await start({ firstUpdateId: 7 });
  t.after(emulator.close);
  emulator.say(chat, alice, 'hello');
  emulator.fault({ method: 'getUpdates', do: 'close_after' });
  await assert.rejects(ids({ timeout: 30 }), /Network request for 'getUpdates' failed/);
  assert.deepEqual(await ids({ timeout: 30 }), [7]);
  const dying = new AbortController();
  const poll = api.getUpdates({ offset: 8, timeout: 30 }, dying.signal as never);
  await emulator.polling();
  dying.abort();
  await assert.rejects(poll);
  await emulator.until('the poll to be given up', () => emulator.pollsOpen === 0);
  emulator.say(chat, alice, 'while away');
  assert.deepEqual(await ids({ offset: 8, timeout: 30 }), [8]);
});

test('a grammY bot starts, answers and stops', async (t) => {
  const { emulator, alice, chat } = await start({ pollThrottle: false });
  t.after(emulator.close);
  const bot = new Bot(emulator.token, { client: { apiRoot: emulator.url } });
  bot.on('message:text', (context) => context.reply(`echo ${context.message.text}`));
  const running = bot.start();
  emulator.say(chat, alice, 'hello');
  await emulator.waitForMessage(chat, 'echo hello');
  await emulator.idle();
  await bot.stop();
  await running;
  assert.deepEqual(emulator.calls.map(({ method }) => method).slice(0, 4), [
    'getMe',
    'deleteWebhook',
    'getUpdates',
    'sendMessage',
  ]);
});

/** A receiver whose answers the test decides: a status, and headers or a body. */
async function startReceiver(answers: { status: number; headers?: Record<string, string>; body?: string }[]) {
  const received: { text: string; secret: string | undefined }[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const update = JSON.parse(body) as { message?: { text: string } };
    received.push({
      text: update.message?.text ?? '',
      secret: request.headers['x-telegram-bot-api-secret-token']?.toString(),
    });
    const answer = answers.shift() ?? { status: 200 };
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url, received, close };
}

test('webhook: secret, retry at once, then after a delay, in order per chat, other chats in between', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, alice, chat } = await start({ clock });
  t.after(emulator.close);
  const receiver = await startReceiver([{ status: 500 }, { status: 503 }]);
  t.after(receiver.close);
  await api.setWebhook(receiver.url, { secret_token: 'secret-1' });
  await assert.rejects(
    api.getUpdates(),
    /409: Conflict: can't use getUpdates method while webhook is active; use deleteWebhook/,
  );
  emulator.say(chat, alice, 'one');
  emulator.say(chat, alice, 'two');
  await emulator.until('two failures', () => emulator.webhook.attempts.length === 2);
  const bob = emulator.user({ name: 'Bob' });
  emulator.say(emulator.privateChat(bob), bob, 'other');
  await emulator.until('the other chat', () => emulator.webhook.attempts.length === 3);
  assert.equal(emulator.pending, 2);
  assert.equal(
    (await api.getWebhookInfo()).last_error_message,
    'Wrong response from the webhook: 503 Service Unavailable',
  );
  await clock.advance(1_000);
  await emulator.idle();
  assert.deepEqual(
    receiver.received.map(({ text }) => text),
    ['one', 'one', 'other', 'one', 'two'],
  );
  assert.ok(receiver.received.every(({ secret }) => secret === 'secret-1'));
  assert.deepEqual(
    emulator.webhook.attempts.map(({ status }) => status),
    [500, 503, 200, 200, 200],
  );
});

test('webhook: Retry-After is kept, retryNow does not wait, an answer may carry a call', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, alice, chat } = await start({ clock });
  t.after(emulator.close);
  const call = JSON.stringify({ method: 'sendMessage', chat_id: chat.id, text: 'from the answer' });
  const receiver = await startReceiver([
    { status: 429, headers: { 'retry-after': '3000' } },
    { status: 200, body: call },
  ]);
  t.after(receiver.close);
  await api.setWebhook(receiver.url);
  emulator.say(chat, alice, 'one');
  await emulator.until('the refusal', () => emulator.webhook.attempts.length === 1);
  assert.deepEqual(
    clock.pending().map((at) => at - clock.now()),
    [3_000_000],
  );
  emulator.webhook.retryNow();
  await emulator.waitForMessage(chat, 'from the answer');
  assert.equal(receiver.received[0]?.secret, undefined);
});

test('webhook: bad secrets and addresses are refused; deleteWebhook brings polling back', async (t) => {
  const { emulator, api } = await start();
  t.after(emulator.close);
  await assert.rejects(
    api.setWebhook('https://example.org', { secret_token: 'a'.repeat(257) }),
    /400: Bad Request: secret token is too long/,
  );
  await assert.rejects(api.setWebhook('https://example.org', { secret_token: 'ä' }), /unallowed characters/);
  await assert.rejects(
    api.setWebhook('http://example.org'),
    /400: Bad Request: bad webhook: An HTTPS URL must be provided/,
  );
  await api.setWebhook('https://example.org/hook');
  await api.deleteWebhook();
  assert.deepEqual(await api.getUpdates({ timeout: 0 }), []);
});
