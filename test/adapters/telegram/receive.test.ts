import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import nodeTest, { type TestContext } from 'node:test';
import { GatehouseError } from '../../../src/base/errors.ts';
import { type StartOptions, startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createHarness, createWatchedClock, type HarnessOptions, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);

async function begin(t: TestContext, more: Partial<HarnessOptions> = {}, options: StartOptions = {}) {
  const telegram = await startTelegramEmulator({ token, ...options });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url, ...more });
  return { telegram, harness, alice: telegram.user({ name: 'Alice' }) };
}

const texts = (events: readonly { kind: string }[]) =>
  events.map((event) => ('text' in event ? (event.text as string) : event.kind));

test('a private message arrives, and the channel is up', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  assert.deepEqual(harness.reports, [{ state: 'up', reason: undefined }]);
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await harness.until('the message', () => harness.stored.length === 1);
  await telegram.idle();
  assert.deepEqual(texts(harness.stored), ['hello']);
  const poll = telegram.calls.find((call) => call.method === 'getUpdates');
  assert.deepEqual(poll?.args, {
    limit: 100,
    timeout: 30,
    allowed_updates: ['message', 'edited_message', 'callback_query', 'my_chat_member', 'message_reaction'],
  });
});

test('D1: nothing is confirmed before it is stored', async (t) => {
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
  assert.equal(telegram.pending, 1);
  assert.equal(telegram.pollsOpen, 0);
  release.resolve();
  await telegram.idle();
  assert.equal(telegram.pending, 0);
  assert.deepEqual(texts(harness.stored), ['hello']);
});

test('D1: an update that was being stored when the process ended comes again', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  harness.onAccept = () => {
    reached.resolve();
    return release.promise.then(() => Promise.reject(new Error('killed')));
  };
  await harness.start();
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await reached.promise;
  const stopped = harness.adapter.stop();
  release.resolve();
  await stopped;
  assert.equal(telegram.pending, 1);

  const next = createHarness(t, { url: telegram.url });
  await next.start();
  await next.until('the message', () => next.stored.length === 1);
  assert.deepEqual(texts(next.stored), ['hello']);
  await telegram.idle();
  assert.equal(telegram.pending, 0);
});

test('D2: a process killed while it stores an update leaves the update to the next', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  const said = telegram.say(telegram.privateChat(alice), alice, 'hello');
  const script = join(import.meta.dirname, 'victim.ts');
  const victim = spawn(process.execPath, [script, telegram.url, token], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => victim.kill('SIGKILL'));
  const [line] = await once(victim.stdout, 'data');
  assert.equal(String(line), `m:${alice.id}:${said.message_id}:0\n`);
  const ended = once(victim, 'exit');
  victim.kill('SIGKILL');
  await ended;
  await harness.start();
  await harness.until('the message', () => harness.stored.length === 1);
  assert.deepEqual(texts(harness.stored), ['hello']);
});

test('D1, R131: while the store refuses, the same update is tried again with growing waits', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness, alice } = await begin(t, { clock });
  let refusals = 3;
  harness.onAccept = () => {
    if (refusals-- > 0) throw new GatehouseError('store_unavailable', 'the disk is full');
  };
  await harness.start();
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  const waits: number[] = [];
  for (const [from, to] of [
    [500, 1_000],
    [1_001, 2_000],
    [2_001, 4_000],
  ] as const) {
    const wait = await clock.waiting(from, to);
    waits.push(wait);
    assert.equal(telegram.pending, 1);
    await clock.advance(wait);
  }
  await harness.until('the message', () => harness.stored.length === 1);
  await telegram.idle();
  assert.equal(harness.counts.get('store_retries'), 3);
  assert.deepEqual(
    harness.reports.map(({ state }) => state),
    ['up', 'down', 'up'],
  );
  assert.match(harness.reports[1]!.reason ?? '', /cannot be stored \(the disk is full\)/);
});

test('D1: one chat that cannot be stored does not take the others along, nor is it lost', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness, alice } = await begin(t, { clock });
  const bob = telegram.user({ name: 'Bob' });
  const [first, second] = [telegram.privateChat(alice), telegram.privateChat(bob)];
  let refuse = true;
  harness.onAccept = (event) => {
    if (refuse && 'chat' in event && event.chat.id === String(alice.id)) throw new Error('busy');
  };
  telegram.say(first, alice, 'a1');
  telegram.say(second, bob, 'b1');
  telegram.say(first, alice, 'a2');
  telegram.say(second, bob, 'b2');
  await harness.start();
  await harness.until('the other chat', () => harness.stored.length === 2);
  assert.deepEqual(texts(harness.stored), ['b1', 'b2']);
  const wait = await clock.waiting(500, 1_000);
  refuse = false;
  await clock.advance(wait);
  await harness.until('all', () => harness.stored.length === 4);
  assert.deepEqual(texts(harness.stored), ['b1', 'b2', 'a1', 'a2']);
});

test('updates of one chat are stored one after another, different chats side by side', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  const bob = telegram.user({ name: 'Bob' });
  const open: string[] = [];
  let most = 0;
  const releases: (() => void)[] = [];
  harness.onAccept = (event) => {
    open.push('text' in event ? event.text : '');
    most = Math.max(most, releases.length + 1);
    return new Promise<void>((resolve) => releases.push(resolve));
  };
  telegram.say(telegram.privateChat(alice), alice, 'a1');
  telegram.say(telegram.privateChat(alice), alice, 'a2');
  telegram.say(telegram.privateChat(bob), bob, 'b1');
  await harness.start();
  await harness.until('both chats to begin', () => open.length === 2);
  assert.deepEqual(open, ['a1', 'b1']);
  for (const release of releases.splice(0)) release();
  await harness.until('the first two', () => harness.stored.length === 2);
  await harness.until('the last to begin', () => open.length === 3);
  for (const release of releases.splice(0)) release();
  await harness.until('all', () => harness.stored.length === 3);
  assert.equal(open[2], 'a2');
  assert.equal(most, 2);
});

test('an update nobody can read is passed over, logged with its id, and counted', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  telegram.pushRaw({ update_id: 700000001, message: { message_id: 'x', chat: { id: 5 }, text: 'private words' } });
  telegram.pushRaw({ update_id: 700000002, message: 7 });
  telegram.pushRaw({ update_id: 700000003, a_kind_of_next_year: { text: 'x' } });
  telegram.pushRaw({
    update_id: 700000004,
    message: { message_id: 1, chat: { id: alice.id, type: 'private' }, date: 1, from: alice, text: '\ud800 half' },
  });
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await harness.until('the message', () => texts(harness.stored).includes('hello'));
  await telegram.idle();
  assert.equal(telegram.pending, 0);
  assert.equal(harness.counts.get('malformed_updates'), 2);
  const skipped = harness.lines.filter((line) => line.includes('skipped'));
  assert.equal(skipped.length, 2);
  assert.equal(JSON.parse(skipped[0]!).update, 700000001);
  assert.ok(!harness.said().includes('private words'));
});

test('updates that are too long to be taken together are taken one by one', async (t) => {
  const clock = createWatchedClock();
  const message = { message_id: 1, chat: { id: 5, type: 'private' }, from: { id: 5 }, date: 1, text: 'hello' };
  const limits: unknown[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const method = request.url?.split('/').at(-1);
    const asked = JSON.parse(body);
    if (method === 'getMe') response.end('{"ok":true,"result":{"id":1,"username":"gate_bot"}}');
    else if (method !== 'getUpdates') response.end('{"ok":true,"result":true}');
    else {
      limits.push(asked.limit);
      if (asked.limit > 1) response.writeHead(200, { 'content-length': 64 * 1024 * 1024 + 1 }).flushHeaders();
      else response.end(JSON.stringify({ ok: true, result: [{ update_id: 1, message }] }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const harness = createHarness(t, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clock });
  await harness.start();
  await clock.advance(await clock.waiting(500, 1_000));
  await harness.until('the message', () => harness.stored.length === 1);
  assert.deepEqual(limits.slice(0, 2), [100, 1]);
});

test('an event the inbox refuses for good does not stop the others', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  harness.onAccept = (event) => {
    if ('text' in event && event.text === 'bad') throw new GatehouseError('invalid', 'never');
  };
  await harness.start();
  const chat = telegram.privateChat(alice);
  telegram.say(chat, alice, 'bad');
  telegram.say(chat, alice, 'good');
  await harness.until('the second', () => harness.stored.length === 1);
  await telegram.idle();
  assert.deepEqual(texts(harness.stored), ['good']);
  assert.equal(harness.counts.get('refused_updates'), 1);
});

test('R8: a wrong token is reported once, with what to do, and ends the channel', async (t) => {
  const { telegram, harness } = await begin(t, { config: { token: '900000001:AAH-not-a-real-token-of-another' } });
  await harness.start();
  assert.equal(harness.reports.length, 1);
  assert.equal(harness.reports[0]!.state, 'failed');
  assert.match(harness.reports[0]!.reason ?? '', /copy the token from @BotFather again into channels\.helper\.token/);
  assert.equal(telegram.calls.length, 0);
});

test('R8: a token with stray characters is refused without asking anybody', async (t) => {
  const { harness } = await begin(t, { config: { token: '900000001:AAH-not-a-real-token /x' } });
  await harness.start();
  assert.deepEqual(
    harness.reports.map(({ state }) => state),
    ['failed'],
  );
  assert.match(harness.reports[0]!.reason ?? '', /characters that no bot token has/);
});

test('R8: a token withdrawn in the middle ends the channel', async (t) => {
  const { telegram, harness } = await begin(t);
  telegram.fault({ method: 'getUpdates', do: 'error', code: 401, description: 'Unauthorized' });
  await harness.start();
  await harness.until('the end', () => harness.reports.at(-1)?.state === 'failed');
  await harness.adapter.stop();
  assert.equal(telegram.counts.get('getUpdates'), 1);
});

test('R8: a second program with the same token is named, and the channel comes back when it ends', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness, alice } = await begin(t, { clock });
  const description =
    'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
  telegram.fault({ method: 'getUpdates', do: 'error', code: 409, description, times: 2 });
  await harness.start();
  await clock.advance(await clock.waiting(500, 1_000));
  await clock.advance(await clock.waiting(1_001, 2_000));
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await harness.until('the message', () => harness.stored.length === 1);
  assert.deepEqual(
    harness.reports.map(({ state }) => state),
    ['up', 'down', 'up'],
  );
  assert.match(harness.reports[1]!.reason ?? '', /another program receives the messages of this bot \(409\)/);
  assert.equal(harness.counts.get('reconnects'), 1);
});

test('R8: two pollers in earnest: the one that is thrown out says so', async (t) => {
  const { telegram, harness } = await begin(t);
  await harness.start();
  await telegram.received('getUpdates');
  const other = createHarness(t, { url: telegram.url });
  await other.start();
  await harness.until('the conflict', () => harness.reports.some(({ state }) => state === 'down'));
  assert.match(harness.reports.at(-1)!.reason ?? '', /409/);
});

test('a webhook set by somebody is taken away, and nothing that waits is lost', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  telegram.say(telegram.privateChat(alice), alice, 'from before');
  await harness.start();
  await harness.until('the message', () => harness.stored.length === 1);
  const call = telegram.calls.find(({ method }) => method === 'deleteWebhook');
  assert.deepEqual(call?.args, { drop_pending_updates: false });
});

test('R8: starting without a server reports down, resolves, and goes on trying', async (t) => {
  const clock = createWatchedClock();
  const gone = await startTelegramEmulator({ token });
  await gone.close();
  const harness = createHarness(t, { url: gone.url, clock });
  await harness.start();
  assert.deepEqual(harness.reports, [
    { state: 'down', reason: 'Telegram: the server refuses connections (ECONNREFUSED)' },
  ]);
  const waits: number[] = [];
  for (const to of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    const wait = await clock.waiting(to / 2, to);
    waits.push(wait);
    await clock.advance(wait);
  }
  assert.equal(harness.reports.length, 1);
  const telegram = await startTelegramEmulator({ token, port: Number(new URL(gone.url).port) });
  t.after(() => telegram.close());
  await clock.advance(await clock.waiting(30_000, 60_000));
  await harness.until('the channel to come up', () => harness.reports.at(-1)?.state === 'up');
});

test('R8: an outage in the middle is bridged; 5xx, closed and cut connections are down, not the end', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness, alice } = await begin(t, { clock });
  telegram.fault({ method: 'getUpdates', do: 'status_before', status: 502 });
  telegram.fault({ method: 'getUpdates', do: 'close_after', nth: 2 });
  telegram.fault({ method: 'deleteWebhook', do: 'hang_before', nth: 3 });
  await harness.start();
  await clock.advance(await clock.waiting(500, 1_000));
  await clock.advance(await clock.waiting(1_001, 2_000));
  // The third time nothing answers at all.
  await telegram.received('deleteWebhook', { after: 5 });
  await clock.advance(await clock.waiting(20_000, 20_000));
  telegram.say(telegram.privateChat(alice), alice, 'hello');
  await clock.advance(await clock.waiting(2_001, 4_000));
  await harness.until('the message', () => harness.stored.length === 1);
  assert.equal(harness.reports.at(-1)?.state, 'up');
});

test('a 429 while polling waits as long as the server says', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness } = await begin(t, { clock });
  telegram.fault({ method: 'getUpdates', do: 'flood', retryAfter: 9 });
  await harness.start();
  assert.equal(await clock.waiting(9_000, 9_000), 9_000);
});

test('R1: ids that begin anew after a quiet week are received: an offset is used once', async (t) => {
  const clock = createWatchedClock();
  const { telegram, harness, alice } = await begin(t, {}, { clock });
  await harness.start();
  const chat = telegram.privateChat(alice);
  const now = Math.floor(clock.now() / 1000);
  telegram.pushRaw({ update_id: 900000000, message: { message_id: 1, chat, from: alice, date: now, text: 'before' } });
  await harness.until('the first', () => harness.stored.length === 1);
  const confirming = await telegram.received((call) => call.args.offset === 900000001);
  await clock.advance(30_000);
  await telegram.received((call) => call.method === 'getUpdates' && !('offset' in call.args), { after: confirming.id });
  telegram.pushRaw({ update_id: 1000, message: { message_id: 2, chat, from: alice, date: now, text: 'after' } });
  await harness.until('the second', () => harness.stored.length === 2);
  assert.deepEqual(texts(harness.stored), ['before', 'after']);
});

test('stop confirms what is stored and takes nothing more', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  const chat = telegram.privateChat(alice);
  let stopping: Promise<void> | undefined;
  harness.onAccept = async () => {
    stopping ??= harness.adapter.stop();
  };
  telegram.say(chat, alice, 'one');
  await harness.start();
  await harness.until('the message', () => harness.stored.length === 1);
  await stopping;
  assert.equal(telegram.pending, 0);
  telegram.say(chat, alice, 'two');
  assert.equal(telegram.pending, 1);
  assert.equal(telegram.pollsOpen, 0);
  assert.deepEqual(texts(harness.stored), ['one']);
});

test('R46: a press that is no event is answered all the same', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  const chat = telegram.privateChat(alice);
  const said = telegram.say(chat, alice, 'hello');
  const press = telegram.pressStale(alice, said, 'x:1');
  assert.equal((await press.answered()).text, 'This button does nothing any more.');
  await telegram.idle();
  assert.deepEqual(texts(harness.stored), ['hello']);
});

test('R5: the parts of an album arrive as messages with one marker', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  telegram.album(telegram.privateChat(alice), alice, [{ bytes: 'a' }, { bytes: 'b' }, { bytes: 'c' }], {
    caption: 'three',
  });
  await harness.until('the parts', () => harness.stored.length === 3);
  const markers = new Set(harness.stored.map((event) => event.kind === 'message' && event.partOf));
  assert.equal(markers.size, 1);
  assert.ok(![...markers].includes(undefined));
  assert.deepEqual(texts(harness.stored), ['three', '', '']);
});

for (const announce of ['to_then_from', 'from_then_to', 'to', 'from'] as const)
  test(`R20: a migration announced "${announce}" is one fact, in order with the messages around it`, async (t) => {
    const { telegram, harness, alice } = await begin(t, {}, { privacy: false });
    const group = telegram.group({ type: 'group', members: [alice] });
    telegram.say(group, alice, 'before');
    const upgraded = telegram.migrate(group, alice, { announce });
    telegram.say(upgraded, alice, 'after');
    // Slow to store: a later message that did not wait for it would overtake it.
    harness.onAccept = (event) =>
      event.kind === 'migration' ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    await harness.start();
    await harness.until('the last', () => texts(harness.stored).includes('after'));
    const kinds = harness.stored.map(({ kind }) => kind);
    const twice = announce.includes('then');
    assert.deepEqual(
      kinds,
      twice ? ['message', 'migration', 'migration', 'message'] : ['message', 'migration', 'message'],
    );
    const keys = harness.stored.filter(({ kind }) => kind === 'migration').map(({ key }) => key);
    assert.deepEqual([...new Set(keys)], [`g:${group.id}:${upgraded.id}`]);
  });

test('R13: who adds the bot to a group is told', async (t) => {
  const { telegram, harness, alice } = await begin(t);
  await harness.start();
  const group = telegram.group({ bot: 'left' });
  telegram.addBot(group, alice);
  telegram.removeBot(group, alice);
  await harness.until('both', () => harness.stored.filter(({ kind }) => kind === 'membership').length === 2);
  const changes = harness.stored.map((event) => event.kind === 'membership' && `${event.change} by ${event.by.id}`);
  assert.deepEqual(changes, [`added by ${alice.id}`, `removed by ${alice.id}`]);
});
