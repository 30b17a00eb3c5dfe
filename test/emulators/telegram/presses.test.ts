/** Buttons and presses: what is on a message, what reaches the bot, and what the presser sees. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Api } from 'grammy';
import { createFakeClock } from '../../support/fake_clock.ts';
import { type EmulatorOptions, startTelegramEmulator } from './index.ts';
import { refused } from './refused.ts';

async function start(t: TestContext, options: EmulatorOptions = {}) {
  const emulator = await startTelegramEmulator({ pollThrottle: false, ...options });
  t.after(() => emulator.close());
  const api = new Api(emulator.token, { apiRoot: emulator.url });
  const alice = emulator.user({ name: 'Alice' });
  const chat = emulator.privateChat(alice);
  const ask = (rows = [[yes, no]], id = chat.id) =>
    api.sendMessage(id, 'Approve?', { reply_markup: { inline_keyboard: rows } });
  return { emulator, api, alice, chat, ask };
}

const yes = { text: 'Yes', callback_data: 'y' };
const no = { text: 'No', callback_data: 'n' };
const tooOld = 'Bad Request: query is too old and response timeout expired or query ID is invalid';

test('a button is pressed by its label or its data, and must be on the message', async (t) => {
  const { emulator, api, alice, ask } = await start(t);
  const card = await ask();
  emulator.press(alice, card, 'Yes');
  emulator.press(alice, card, 'n');
  const updates = await api.getUpdates({ timeout: 0 });
  assert.deepEqual(
    updates.map(({ callback_query: query }) => [query?.data, query?.message?.message_id, query?.from.id]),
    [
      ['y', card.message_id, alice.id],
      ['n', card.message_id, alice.id],
    ],
  );
  assert.throws(() => emulator.press(alice, card, 'Maybe'), /no button 'Maybe'.*it has: Yes \(y\), No \(n\)/);
  await api.editMessageReplyMarkup(card.chat.id, card.message_id);
  assert.throws(() => emulator.press(alice, card, 'Yes'), /it has: none/);
  assert.throws(() => emulator.press(alice, { ...card, message_id: 4242 }, 'Yes'), /there is no message 4242/);
});

test('two buttons with one label are told apart by their data only', async (t) => {
  const { emulator, alice, ask } = await start(t);
  const card = await ask([[yes, { text: 'Yes', callback_data: 'y2' }]]);
  assert.throws(() => emulator.press(alice, card, 'Yes'), /or several/);
  emulator.press(alice, card, 'y2');
  assert.equal(emulator.pending, 1);
});

test('the presser sees the answer, and a second one is an error', async (t) => {
  const { emulator, api, alice, ask } = await start(t);
  const press = emulator.press(alice, await ask(), 'Yes');
  assert.equal(press.answer, null);
  await refused(api.answerCallbackQuery(press.id, { text: 'x'.repeat(201) }), 400, 'Bad Request: MESSAGE_TOO_LONG');
  await api.answerCallbackQuery(press.id, { text: 'x'.repeat(200), show_alert: true });
  assert.deepEqual(await press.answered(), { text: 'x'.repeat(200), alert: true });
  assert.deepEqual(press.answer, { text: 'x'.repeat(200), alert: true });
  await refused(api.answerCallbackQuery(press.id), 400, tooOld);
  await refused(api.answerCallbackQuery('430000000000009999'), 400, tooOld);
});

test('a press that nobody answers says so', async (t) => {
  const { emulator, alice, ask } = await start(t);
  const press = emulator.press(alice, await ask(), 'Yes');
  await assert.rejects(press.answered({ timeoutMs: 1 }), /an answer to press 43\d+ did not happen/);
});

test('a press can be answered for 150 s', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, alice, ask } = await start(t, { clock });
  const card = await ask();
  const [first, second] = [emulator.press(alice, card, 'Yes'), emulator.press(alice, card, 'Yes')];
  await clock.advance(150_000);
  await api.answerCallbackQuery(first.id);
  assert.equal(second.over, false);
  await clock.advance(1);
  assert.equal(second.over, true);
  await refused(api.answerCallbackQuery(second.id), 400, tooOld);
});

test('an edit changes buttons with the words, or alone, or takes them away', async (t) => {
  const { emulator, api, chat, ask } = await start(t);
  const card = await ask();
  const labels = () => emulator.message(card)?.buttons.map((row) => row.map(({ text }) => text));
  const notModified =
    'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';
  const only = (button: typeof yes) => ({ reply_markup: { inline_keyboard: [[button]] } });
  assert.deepEqual(labels(), [['Yes', 'No']]);
  await api.editMessageText(chat.id, card.message_id, 'Approve?', only(no));
  assert.deepEqual(labels(), [['No']]);
  await refused(api.editMessageText(chat.id, card.message_id, 'Approve?', only(no)), 400, notModified);
  await api.editMessageReplyMarkup(chat.id, card.message_id, only(yes));
  assert.deepEqual(labels(), [['Yes']]);
  await refused(api.editMessageReplyMarkup(chat.id, card.message_id, only(yes)), 400, notModified);
  await refused(
    api.editMessageReplyMarkup(chat.id, card.message_id, only({ text: 'x', callback_data: 'x'.repeat(65) })),
    400,
    'Bad Request: BUTTON_DATA_INVALID',
  );
  await api.editMessageText(chat.id, card.message_id, 'Approved.');
  assert.deepEqual(labels(), []);
  await api.editMessageReplyMarkup(chat.id, card.message_id, only(yes));
  await api.editMessageReplyMarkup(chat.id, card.message_id, { reply_markup: { inline_keyboard: [] } });
  assert.deepEqual(labels(), []);
});

test('a forwarded copy has no buttons that call a bot, but an app can send any press on it', async (t) => {
  const { emulator, api, alice, ask } = await start(t);
  const group = emulator.group({ members: [alice] });
  const copy = emulator.forward(alice, await ask(), group);
  assert.deepEqual(emulator.message(copy)?.buttons, []);
  assert.equal(emulator.message(copy)?.text, 'Approve?');
  assert.throws(() => emulator.press(alice, copy, 'Yes'), /it has: none/);
  emulator.pressStale(alice, copy, 'y');
  const query = (await api.getUpdates({ timeout: 0 })).at(-1)?.callback_query;
  const message = query?.message as { chat: { id: number }; forward_origin?: { type: string } } | undefined;
  assert.deepEqual([query?.data, message?.chat.id, message?.forward_origin?.type], ['y', group.id, 'user']);
  const links = await api.sendMessage(alice.id, 'See', {
    reply_markup: { inline_keyboard: [[{ text: 'Site', url: 'https://example.org' }]] },
  });
  assert.equal(emulator.message(emulator.forward(alice, links, group))?.buttons.flat()[0]?.text, 'Site');
});

test('a group that became a supergroup keeps its buttons: presses come from the old chat, edits are refused', async (t) => {
  const { emulator, api, alice, ask } = await start(t);
  const group = emulator.group({ type: 'group', members: [alice] });
  const card = await ask([[yes, no]], group.id);
  const upgraded = emulator.migrate(group, alice, { announce: 'none' });
  emulator.press(alice, card, 'Yes');
  const [update] = await api.getUpdates({ timeout: 0 });
  assert.equal(update?.callback_query?.message?.chat.id, group.id);
  await assert.rejects(api.editMessageReplyMarkup(group.id, card.message_id), {
    parameters: { migrate_to_chat_id: upgraded.id },
  });
});
