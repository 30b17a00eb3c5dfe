import assert from 'node:assert/strict';
import nodeTest, { type TestContext } from 'node:test';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createHarness, createWatchedClock, type HarnessOptions, message, placeOf, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const never = new AbortController().signal;

async function begin(t: TestContext, more: Partial<HarnessOptions> = {}) {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  const { adapter } = createHarness(t, { url: telegram.url, ...more });
  const alice = telegram.user({ name: 'Alice' });
  return { telegram, adapter, alice, chat: telegram.privateChat(alice) };
}

test('R85: typing is shown where the answer will stand, and clearing it calls nobody', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  const forum = telegram.group({ forum: true, members: [alice] });
  const topic = telegram.topic(forum, alice, 'deploys');
  await adapter.setStatus!(placeOf(chat), { text: 'thinking' });
  await adapter.setStatus!(placeOf(forum, topic), { text: 'thinking' });
  await adapter.setStatus!(placeOf(chat), null);
  const shown = (where: typeof chat) => telegram.actions(where).map(({ action, thread }) => ({ action, thread }));
  assert.deepEqual(shown(chat), [{ action: 'typing', thread: null }]);
  assert.deepEqual(shown(forum), [{ action: 'typing', thread: topic }]);
});

test('R85: a status that fails harms nothing, and a chat that asks for quiet is left alone', async (t) => {
  const clock = createWatchedClock();
  const { telegram, adapter, chat } = await begin(t, { clock });
  telegram.fault({ method: 'sendChatAction', do: 'close_before' });
  await adapter.setStatus!(placeOf(chat), { text: 'x' });
  telegram.fault({ method: 'sendChatAction', do: 'flood', retryAfter: 5 });
  await adapter.setStatus!(placeOf(chat), { text: 'x' });
  await adapter.setStatus!(placeOf(chat), { text: 'x' });
  assert.equal(telegram.counts.get('sendChatAction'), 2);
  await clock.advance(5_000);
  await adapter.setStatus!(placeOf(chat), { text: 'x' });
  assert.equal(telegram.counts.get('sendChatAction'), 3);
});

test('R85: an answer in the making is a draft in a private chat, formatted like the answer', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', '**Hel'), true);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', '**Hello** you'), true);
  const drafts = telegram.calls.filter(({ method }) => method === 'sendMessageDraft');
  assert.equal(drafts.length, 2);
  assert.equal(drafts[0]?.args.draft_id, drafts[1]?.args.draft_id);
  assert.equal(drafts[1]?.args.text, 'Hello you');
  assert.deepEqual(drafts[1]?.args.entities, [{ type: 'bold', offset: 0, length: 5 }]);
});

test('R85: groups have no drafts, and nobody is asked', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const group = telegram.group({ members: [alice] });
  assert.equal(await adapter.preview!(placeOf(group), 'answer-1', 'Hello'), false);
  assert.equal(telegram.calls.length, 0);
});

test('R85: a server without drafts is asked once', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  telegram.fault({ method: 'sendMessageDraft', do: 'error', code: 404, description: 'Not Found: method not found' });
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', 'Hello'), false);
  assert.equal(await adapter.preview!(placeOf(telegram.privateChat(alice)), 'answer-2', 'Hello'), false);
  assert.equal(telegram.counts.get('sendMessageDraft'), 1);
});

test('R85: a chat that takes no drafts is asked once, other chats are not blamed', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const other = telegram.privateChat(telegram.user({ name: 'Bob' }));
  const description = 'Bad Request: drafts are not allowed here';
  telegram.fault({ method: 'sendMessageDraft', do: 'error', code: 400, description });
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', 'Hello'), false);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-2', 'Hello'), false);
  assert.equal(await adapter.preview!(placeOf(other), 'answer-3', 'Hello'), true);
  assert.equal(telegram.counts.get('sendMessageDraft'), 2);
});

test('R85: a draft that fails for now does not end drafts', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  telegram.fault({ method: 'sendMessageDraft', do: 'status_before', status: 502 });
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', 'Hello'), true);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', 'Hello you'), true);
  assert.equal(telegram.drafts(chat).at(-1)?.text, 'Hello you');
});

test('R85: one draft call at a time; of what comes meanwhile the latest is shown', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const gate = Promise.withResolvers<void>();
  const remove = telegram.before('sendMessageDraft', () => gate.promise);
  const first = adapter.preview!(placeOf(chat), 'answer-1', 'a');
  await telegram.received('sendMessageDraft');
  const others = ['ab', 'abc', 'abcd'].map((text) => adapter.preview!(placeOf(chat), 'answer-1', text));
  assert.deepEqual(await Promise.all(others), [true, true, true]);
  remove();
  gate.resolve();
  assert.equal(await first, true);
  const drafts = telegram.calls.filter(({ method }) => method === 'sendMessageDraft');
  assert.deepEqual(
    drafts.map(({ args }) => args.text),
    ['a', 'abcd'],
  );
});

test('R85: the message that takes the place of a draft comes after its last draft', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const gate = Promise.withResolvers<void>();
  const remove = telegram.before('sendMessageDraft', () => gate.promise);
  const preview = adapter.preview!(placeOf(chat), 'answer-1', 'a');
  await telegram.received('sendMessageDraft');
  await adapter.preview!(placeOf(chat), 'answer-1', 'ab');
  const sending = adapter.send(message(placeOf(chat), 'abc', { answerId: 'answer-1' }), never);
  remove();
  gate.resolve();
  await Promise.all([preview, sending]);
  assert.deepEqual(
    telegram.calls.map(({ method, args }) => `${method} ${args.text}`),
    ['sendMessageDraft a', 'sendMessage abc'],
  );
});

test('R85: a draft that hangs does not hold the message back', async (t) => {
  const clock = createWatchedClock();
  const { telegram, adapter, chat } = await begin(t, { clock });
  telegram.fault({ method: 'sendMessageDraft', do: 'hang_before' });
  const preview = adapter.preview!(placeOf(chat), 'answer-1', 'a');
  await telegram.received('sendMessageDraft');
  const sending = adapter.send(message(placeOf(chat), 'abc', { answerId: 'answer-1' }), never);
  await clock.advance(await clock.waiting(1_000, 1_000));
  await sending;
  assert.equal(telegram.messages(chat)[0]?.text, 'abc');
  await clock.advance(20_000);
  assert.equal(await preview, true);
});

test('R85: an empty preview shows no "Thinking…", and a long one is cut to what fits', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', ''), true);
  assert.equal(telegram.calls.length, 0);
  assert.equal(await adapter.preview!(placeOf(chat), 'answer-1', `**${'x'.repeat(4095)}😀 more**`), true);
  const draft = telegram.calls.at(-1);
  assert.equal(draft?.status, 200);
  assert.equal(String(draft?.args.text).length, 4096);
});

test('P4: membership is what Telegram says, and unknown when it cannot say', async (t) => {
  const { telegram, adapter, alice } = await begin(t);
  const bob = telegram.user({ name: 'Bob' });
  const group = telegram.group({ members: [alice, bob], botIsAdmin: true });
  const isMember = (user: { id: number }) => adapter.lookup!.isMember!(String(group.id), String(user.id));
  assert.equal(await isMember(alice), true);
  telegram.leave(group, bob);
  assert.equal(await isMember(bob), false);
  telegram.fault({ method: 'getChatMember', do: 'error', code: 400, description: 'Bad Request: user not found' });
  assert.equal(await isMember(alice), false);
  telegram.fault({ method: 'getChatMember', do: 'close_before' });
  await assert.rejects(isMember(alice), { name: 'GatehouseError', code: 'unavailable' });
  await assert.rejects(adapter.lookup!.isMember!('-100424242', String(alice.id)), { code: 'unavailable' });
});

test('a chat is looked up by its title', async (t) => {
  const { telegram, adapter, alice, chat } = await begin(t);
  const group = telegram.group({ title: 'Ops', members: [alice] });
  assert.deepEqual(await adapter.lookup!.chat!(String(group.id)), { title: 'Ops' });
  assert.deepEqual(await adapter.lookup!.chat!(String(chat.id)), { title: 'Alice' });
});

test('R18: commands are registered with Telegram', async (t) => {
  const { telegram, adapter } = await begin(t);
  await adapter.registerCommands!([{ name: 'help', description: 'What I can do' }]);
  assert.deepEqual(telegram.commandsMenu, [{ command: 'help', description: 'What I can do' }]);
  telegram.fault({ method: 'setMyCommands', do: 'close_before' });
  await assert.rejects(adapter.registerCommands!([]), { name: 'DeliveryError' });
});

test('what the adapter can do and how fast', async (t) => {
  const { adapter } = await begin(t);
  const { measure, ...limits } = adapter.limits;
  assert.deepEqual(limits, {
    textLength: 4096,
    directPerSecond: 1,
    groupPerMinute: 20,
    accountPerSecond: 30,
    buttonsPerMessage: 100,
    buttonsPerRow: 8,
    buttonDataBytes: 64,
    fileBytesMax: 20 * 1024 * 1024,
  });
  assert.equal(measure('**hi** 😀'), 5);
  assert.equal(measure(' \n'), 0);
});
