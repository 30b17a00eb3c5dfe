import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import nodeTest, { type TestContext } from 'node:test';
import { DeliveryError } from '../../../src/base/errors.ts';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createHarness, createWatchedClock, type HarnessOptions, message, placeOf, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const never = new AbortController().signal;

async function begin(t: TestContext, more: Partial<HarnessOptions> = {}) {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url, ...more });
  const alice = telegram.user({ name: 'Alice' });
  return { telegram, harness, adapter: harness.adapter, alice, chat: telegram.privateChat(alice) };
}

async function failure(work: Promise<unknown>): Promise<DeliveryError> {
  const error = await work.then(
    () => assert.fail('it went well'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeliveryError, String(error));
  assert.ok(!`${error.stack}${JSON.stringify(error)}${String(error.cause)}`.includes('AAH-not-a-real-token'));
  return error;
}

const facts = ({ outcome, permanent, retryAfterMs, migratedTo }: DeliveryError) => ({
  outcome,
  permanent,
  retryAfterMs,
  migratedTo,
});
const plain = { outcome: 'not_sent', permanent: false, retryAfterMs: undefined, migratedTo: undefined };

test('words go out with entities, without link previews and without a parse mode', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const { ref } = await adapter.send(message(placeOf(chat), '**Hi** `x`'), never);
  const [seen] = telegram.messages(chat);
  assert.equal(String(seen?.id), ref);
  assert.equal(seen?.text, 'Hi x');
  const call = telegram.calls.find(({ method }) => method === 'sendMessage');
  assert.deepEqual(call?.args, {
    chat_id: chat.id,
    text: 'Hi x',
    entities: [
      { type: 'bold', offset: 0, length: 2 },
      { type: 'code', offset: 3, length: 1 },
    ],
    link_preview_options: { is_disabled: true },
  });
});

test('R21: an answer replies to its question, and a deleted question does not stop it', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const group = telegram.group({ members: [alice] });
  const asked = telegram.say(group, alice, '/ask');
  await adapter.send(message(placeOf(group), 'one', { replyTo: String(asked.message_id) }), never);
  telegram.deleteMessage(asked);
  await adapter.send(message(placeOf(group), 'two', { replyTo: String(asked.message_id) }), never);
  const ours = telegram.visible(group, { fromBot: true });
  assert.deepEqual(
    ours.map(({ text, replyTo }) => ({ text, replyTo })),
    [
      { text: 'one', replyTo: asked.message_id },
      { text: 'two', replyTo: null },
    ],
  );
});

test('R21: an answer goes to its topic, and to General by naming none', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const forum = telegram.group({ forum: true, members: [alice] });
  const topic = telegram.topic(forum, alice, 'deploys');
  await adapter.send(message(placeOf(forum, topic), 'in the topic'), never);
  await adapter.send(message(placeOf(forum), 'in General'), never);
  await adapter.send(message(placeOf(forum, 1), 'also in General'), never);
  assert.deepEqual(
    telegram.visible(forum, { fromBot: true }).map(({ text, thread }) => ({ text, thread })),
    [
      { text: 'in the topic', thread: topic },
      { text: 'in General', thread: null },
      { text: 'also in General', thread: null },
    ],
  );
});

test('R21: what Telegram puts outside a lost topic is taken back and refused for good', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const forum = telegram.group({ forum: true, members: [alice], botIsAdmin: true });
  const topic = telegram.topic(forum, alice, 'deploys');
  telegram.setTopic(forum, topic, 'lost');
  const error = await failure(adapter.send(message(placeOf(forum, topic), 'secret plan'), never));
  assert.deepEqual(facts(error), { ...plain, permanent: true });
  assert.deepEqual(telegram.visible(forum, { fromBot: true }), []);
});

test('R21: a deleted topic is permanent', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const forum = telegram.group({ forum: true, members: [alice] });
  const topic = telegram.topic(forum, alice, 'deploys');
  telegram.setTopic(forum, topic, 'deleted');
  const error = await failure(adapter.send(message(placeOf(forum, topic), 'x'), never));
  assert.deepEqual(facts(error), { ...plain, permanent: true });
  assert.match(error.message, /message thread not found/);
  assert.deepEqual(telegram.visible(forum, { fromBot: true }), []);
});

test('R84: when the server refuses the formatting the same words go once more without it', async (t) => {
  const { telegram, harness, adapter, chat } = await begin(t);
  const description = "Bad Request: can't parse entities: unsupported";
  telegram.fault({ method: 'sendMessage', do: 'error', code: 400, description });
  await adapter.send(message(placeOf(chat), '**Hi** and `a_b` \\* end'), never);
  assert.deepEqual(
    telegram.messages(chat).map(({ text, entities }) => ({ text, entities })),
    [{ text: 'Hi and a_b * end', entities: [] }],
  );
  assert.equal(telegram.counts.get('sendMessage'), 2);
  assert.ok(!harness.said().includes('a_b'));
});

test('R84: it is tried once more only, and only for that refusal', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const refuse = (description: string, times = 2) =>
    telegram.fault({ method: 'sendMessage', do: 'error', code: 400, description, times });
  refuse('Bad Request: ENTITY_BOUNDS_INVALID');
  assert.equal((await failure(adapter.send(message(placeOf(chat), '**a**'), never))).permanent, true);
  assert.equal(telegram.counts.get('sendMessage'), 2);
  refuse('Bad Request: chat not found', 1);
  assert.equal((await failure(adapter.send(message(placeOf(chat), '**a**'), never))).permanent, true);
  assert.equal(telegram.counts.get('sendMessage'), 3);
});

test('a message too long for Telegram is refused for good and was not sent', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const error = await failure(adapter.send(message(placeOf(chat), 'x'.repeat(4097)), never));
  assert.deepEqual(facts(error), { ...plain, permanent: true });
  assert.match(error.message, /message is too long/);
  assert.deepEqual(telegram.messages(chat), []);
});

test('a message without visible words is not sent at all', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const error = await failure(adapter.send(message(placeOf(chat), ' \n '), never));
  assert.deepEqual(facts(error), { ...plain, permanent: true });
  assert.equal(telegram.calls.length, 0);
});

test('D4: a 429 says how long to wait and that nothing was sent', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  telegram.fault({ method: 'sendMessage', do: 'flood', retryAfter: 7 });
  const error = await failure(adapter.send(message(placeOf(chat), '**x**'), never));
  assert.deepEqual(facts(error), { ...plain, retryAfterMs: 7000 });
  assert.equal(telegram.counts.get('sendMessage'), 1);
});

test('people who blocked the bot, and chats it is not in, are permanent', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  telegram.say(chat, alice, 'hi');
  telegram.block(alice);
  const blocked = await failure(adapter.send(message(placeOf(chat), 'x'), never));
  assert.deepEqual(facts(blocked), { ...plain, permanent: true });
  const unknown = await failure(adapter.send(message({ channel: 'helper', chat: '424242' }, 'x'), never));
  assert.deepEqual(facts(unknown), { ...plain, permanent: true });
  assert.match(unknown.message, /chat not found/);
});

test('R20: a chat that became a supergroup tells its new id', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const group = telegram.group({ type: 'group', members: [alice] });
  const upgraded = telegram.migrate(group, alice, { announce: 'none' });
  const error = await failure(adapter.send(message(placeOf(group), 'x'), never));
  assert.deepEqual(facts(error), { ...plain, migratedTo: String(upgraded.id) });
});

test('a withdrawn token is no fault of the message', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  telegram.fault({ method: 'sendMessage', do: 'error', code: 401, description: 'Unauthorized' });
  assert.deepEqual(facts(await failure(adapter.send(message(placeOf(chat), 'x'), never))), plain);
});

for (const [what, fault, count] of [
  ['the connection closes after the server has taken it', { do: 'close_after' }, 1],
  ['the connection closes before', { do: 'close_before' }, 0],
  ['a proxy answers 502 after the server has taken it', { do: 'status_after', status: 502 }, 1],
  ['the server answers 500', { do: 'error', code: 500, description: 'Internal Server Error' }, 0],
] as const)
  test(`D3: the outcome is unknown when ${what}`, async (t) => {
    const { telegram, adapter, chat } = await begin(t);
    telegram.fault({ method: 'sendMessage', ...fault });
    const error = await failure(adapter.send(message(placeOf(chat), '**x**'), never));
    assert.deepEqual(facts(error), { ...plain, outcome: 'unknown' });
    assert.equal(telegram.messages(chat).length, count);
    assert.equal(telegram.counts.get('sendMessage'), 1);
  });

test('D3: the outcome is unknown when no answer comes in time', async (t) => {
  const clock = createWatchedClock();
  const { telegram, adapter, chat } = await begin(t, { clock });
  telegram.fault({ method: 'sendMessage', do: 'hang_after' });
  const failing = failure(adapter.send(message(placeOf(chat), 'x'), never));
  await telegram.until('the message', () => telegram.messages(chat).length === 1);
  await clock.advance(await clock.waiting(20_000, 20_000));
  assert.deepEqual(facts(await failing), { ...plain, outcome: 'unknown' });
});

test('D3: the outcome is unknown when the caller gives up on a call that is out, not_sent before', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  telegram.fault({ method: 'sendMessage', do: 'hang_before' });
  const giveUp = new AbortController();
  const failing = failure(adapter.send(message(placeOf(chat), 'x'), giveUp.signal));
  await telegram.received('sendMessage');
  giveUp.abort();
  assert.deepEqual(facts(await failing), { ...plain, outcome: 'unknown' });
  assert.deepEqual(facts(await failure(adapter.send(message(placeOf(chat), 'x'), giveUp.signal))), plain);
});

test('D3: a refused connection and an unknown host are certainly not sent', async (t) => {
  const gone = await startTelegramEmulator({ token });
  await gone.close();
  const refused = createHarness(t, { url: gone.url }).adapter;
  const place = { channel: 'helper', chat: '5' };
  assert.deepEqual(facts(await failure(refused.send(message(place, 'x'), never))), plain);
  const nowhere = createHarness(t, { url: 'http://gatehouse.invalid' }).adapter;
  assert.deepEqual(facts(await failure(nowhere.send(message(place, 'x'), never))), plain);
});

test('D3: a connection that is never accepted was not written to; a TLS greeting is no message either', async (t) => {
  const clock = createWatchedClock();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const address = silent.address();
  assert.ok(typeof address === 'object' && address);
  const { adapter } = createHarness(t, { url: `https://127.0.0.1:${address.port}`, clock });
  const greeted = new Promise<void>((resolve) =>
    silent.once('connection', (socket) => socket.once('data', () => resolve())),
  );
  const failing = failure(adapter.send(message({ channel: 'helper', chat: '5' }, 'x'), never));
  await greeted;
  await clock.advance(await clock.waiting(20_000, 20_000));
  assert.deepEqual(facts(await failing), plain);
});

test('D3: an edit can be repeated; not modified is success', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const { ref } = await adapter.send(message(placeOf(chat), 'one'), never);
  await adapter.edit!(ref, message(placeOf(chat), '*two*'), never);
  await adapter.edit!(ref, message(placeOf(chat), '*two*'), never);
  assert.deepEqual(
    telegram.messages(chat).map(({ text, entities }) => ({ text, entities })),
    [{ text: 'two', entities: [{ type: 'italic', offset: 0, length: 3 }] }],
  );
  assert.equal(telegram.calls.at(-1)?.status, 400);
});

test('an edit of a message that is gone, or is not ours, is permanent', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  const theirs = telegram.say(chat, alice, 'mine');
  for (const ref of ['4711', String(theirs.message_id)]) {
    const error = await failure(adapter.edit!(ref, message(placeOf(chat), 'x'), never));
    assert.deepEqual(facts(error), { ...plain, permanent: true });
  }
});

test('R84: a 429 on an edit is not taken for a refusal of the formatting', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const { ref } = await adapter.send(message(placeOf(chat), 'one'), never);
  telegram.fault({ method: 'editMessageText', do: 'flood', retryAfter: 3 });
  const error = await failure(adapter.edit!(ref, message(placeOf(chat), '**two**'), never));
  assert.equal(error.retryAfterMs, 3000);
  await adapter.edit!(ref, message(placeOf(chat), '**two**'), never);
  assert.equal(telegram.messages(chat)[0]?.entities[0]?.type, 'bold');
});

test('removing a message twice is success', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const { ref } = await adapter.send(message(placeOf(chat), 'one'), never);
  await adapter.remove!(ref, placeOf(chat));
  assert.deepEqual(telegram.messages(chat), []);
  await adapter.remove!(ref, placeOf(chat));
});

test('a reaction is set and taken back', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  const said = telegram.say(chat, alice, 'hello');
  await adapter.react!(String(said.message_id), placeOf(chat), '👀');
  assert.deepEqual(telegram.message(said)?.reactions, ['👀']);
  await adapter.react!(String(said.message_id), placeOf(chat), null);
  assert.deepEqual(telegram.message(said)?.reactions, []);
});

test('R84: a name in words that are not ours pings nobody, and addresses stay whole', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const group = telegram.group({ members: [alice] });
  const text = 'ask @alice_b, `@carol_b` or bob@example.org at https://medium.com/@dave_b';
  await adapter.send(message(placeOf(group), text), never);
  const [seen] = telegram.visible(group, { fromBot: true });
  assert.equal(seen?.text, 'ask @\u2060alice_b, @carol_b or bob@example.org at https://medium.com/@dave_b');
  assert.deepEqual(
    seen?.detected.map(({ type }) => type).filter((type) => type === 'mention'),
    [],
  );
});
