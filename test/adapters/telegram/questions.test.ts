/** Questions on their way to Telegram: keyboards within its limits, and edits that close them whatever happens. */
import assert from 'node:assert/strict';
import nodeTest, { type TestContext } from 'node:test';
import { keyboardOf } from '../../../adapters/telegram/keyboard.ts';
import { DeliveryError } from '../../../src/base/errors.ts';
import type { Button, Question } from '../../../src/types/message.ts';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createFakeClock } from '../../support/fake_clock.ts';
import { createHarness, message, placeOf, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const never = new AbortController().signal;

const button = (label: string, data = `card.0.${label[0]}`): Button => ({ data, label, style: 'plain' });
const approve: Button = { data: 'card.0.a', label: 'Approve', style: 'approve' };
const deny: Button = { data: 'card.0.d', label: 'Deny', style: 'deny' };
const question = (...buttons: Button[][]): Question => ({ card: 'card', buttons });
const closed = question();

async function begin(t: TestContext) {
  const clock = createFakeClock();
  const telegram = await startTelegramEmulator({ token, clock });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url, clock });
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  /** Sends a question and returns what is needed to change it. */
  const ask = async (words = 'Run it?', place = placeOf(chat)) => {
    const { ref } = await harness.adapter.send(
      message(place, words, { question: question([approve, deny], [button('Details')]) }),
      never,
    );
    const edit = (markdown: string, next: Question) =>
      harness.adapter.edit!(ref, message(place, markdown, { question: next }), never);
    return { ref, edit };
  };
  const seen = () => {
    const [card] = telegram.visible(chat, { fromBot: true });
    return card && { text: card.text, buttons: card.buttons.map((row) => row.map(({ text }) => text)) };
  };
  return { telegram, harness, adapter: harness.adapter, clock, alice, chat, ask, seen };
}

async function failure(work: Promise<unknown>): Promise<DeliveryError> {
  const error = await work.then(
    () => assert.fail('it went well'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeliveryError, String(error));
  return error;
}

test('R49: a question goes out with its buttons, without a preview, and says when', async (t) => {
  const { telegram, adapter, chat, clock } = await begin(t);
  await clock.advance(1_500);
  const asking = message(placeOf(chat), 'Run `x` on https://example.org?', {
    question: question([approve, deny], [button('Details')]),
  });
  const sent = await adapter.send(asking, never);
  assert.equal(sent.sentAt, 1_767_225_601_000);
  assert.deepEqual(telegram.calls.find(({ method }) => method === 'sendMessage')?.args, {
    chat_id: chat.id,
    text: 'Run x on https://example.org?',
    entities: [{ type: 'code', offset: 4, length: 1 }],
    link_preview_options: { is_disabled: true },
    reply_markup: {
      inline_keyboard: [
        [
          { text: 'Approve', callback_data: 'card.0.a', style: 'success' },
          { text: 'Deny', callback_data: 'card.0.d', style: 'danger' },
        ],
        [{ text: 'Details', callback_data: 'card.0.D' }],
      ],
    },
  });
});

test('R49: when the server refuses the formatting, the question keeps its buttons', async (t) => {
  const { telegram, seen, ask } = await begin(t);
  const description = "Bad Request: can't parse entities: unsupported";
  telegram.fault({ method: 'sendMessage', do: 'error', code: 400, description });
  await ask('**Run** it?');
  assert.deepEqual(seen(), { text: 'Run it?', buttons: [['Approve', 'Deny'], ['Details']] });
});

test('a question that is closed already goes out without a keyboard', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  await adapter.send(message(placeOf(chat), 'Denied.', { question: closed }), never);
  const call = telegram.calls.find(({ method }) => method === 'sendMessage');
  assert.equal(Object.hasOwn(call!.args, 'reply_markup'), false);
});

test('R46: what no message of Telegram can hold is refused for good, with the limit, before any call', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const refuse = async (wrong: Question) => {
    const error = await failure(adapter.send(message(placeOf(chat), 'Run it?', { question: wrong }), never));
    assert.deepEqual([error.outcome, error.permanent], ['not_sent', true]);
    return error.message;
  };
  assert.match(await refuse(question([button('x', 'x'.repeat(65))])), /1 to 64 bytes, this one 65/);
  assert.match(await refuse(question([button('x', 'é'.repeat(33))])), /1 to 64 bytes, this one 66/);
  assert.match(await refuse(question([button('x', '')])), /1 to 64 bytes, this one 0/);
  const rows = Array.from({ length: 101 }, (_, index) => [button(`${index}`)]);
  assert.match(await refuse(question(...rows)), /at most 100 buttons, this one has 101/);
  assert.equal(telegram.calls.length, 0);
});

test('R49: long rows go on in the next one, and labels are short, visible and on one line', async () => {
  const row = Array.from({ length: 17 }, (_, index) => button(`${index}`));
  const shape = keyboardOf(question(row)).inline_keyboard.map((keys) => keys.length);
  assert.deepEqual(shape, [8, 8, 1]);
  const labelOf = (label: string) => keyboardOf(question([button(label, 'd')])).inline_keyboard[0]?.[0]?.text;
  assert.equal(labelOf('a'.repeat(65)), `${'a'.repeat(63)}…`);
  assert.equal(labelOf('a'.repeat(64)), 'a'.repeat(64));
  assert.equal(labelOf('two\nlines\u202e'), 'two lines');
  assert.equal(labelOf(' \u200b '), '…');
});

test('R49: many buttons with long labels are cut until Telegram takes them', async (t) => {
  const { telegram, adapter, chat } = await begin(t);
  const many = Array.from({ length: 100 }, (_, index) => [button(`${index} ${'é'.repeat(100)}`, 'x'.repeat(32))]);
  await adapter.send(message(placeOf(chat), 'Which?', { question: question(...many) }), never);
  const [card] = telegram.messages(chat);
  assert.equal(card?.buttons.flat().length, 100);
  assert.equal(card?.buttons.flat()[42]?.text, '42 éééééééééééé…');
});

test('R52: an edit with other buttons and the same words changes the buttons; a closed question has none', async (t) => {
  const { telegram, ask, seen } = await begin(t);
  const { edit } = await ask();
  await edit('Run it?', question([deny]));
  assert.deepEqual(seen(), { text: 'Run it?', buttons: [['Deny']] });
  await edit('Run it?', question([deny]));
  await edit('Approved by Alice.', closed);
  assert.deepEqual(seen(), { text: 'Approved by Alice.', buttons: [] });
  await edit('Approved by Alice.', closed);
  assert.equal(telegram.counts.get('editMessageText'), 4);
  assert.equal(telegram.counts.get('editMessageReplyMarkup'), undefined);
  const call = telegram.calls.findLast(({ method }) => method === 'editMessageText');
  assert.deepEqual(call?.args.link_preview_options, { is_disabled: true });
});

test('R52: where the words cannot be changed any more, the buttons go', async (t) => {
  const { telegram, harness, ask, seen } = await begin(t);
  const { edit } = await ask();
  telegram.fault({
    method: 'editMessageText',
    do: 'error',
    code: 400,
    description: "Bad Request: message can't be edited",
  });
  await edit('Approved.', closed);
  assert.deepEqual(seen(), { text: 'Run it?', buttons: [] });
  assert.ok(!harness.said().includes('can be changed no more'));
});

test('R52: a question that is gone, or whose chat is, counts as edited', async (t) => {
  const { telegram, harness, alice, chat, ask } = await begin(t);
  const first = await ask();
  telegram.deleteMessage({ chat, message_id: Number(first.ref) });
  await first.edit('Approved.', closed);
  assert.ok(harness.said().includes('can be changed no more'));

  const group = telegram.group({ type: 'group', members: [alice] });
  const second = await ask('Run it?', placeOf(group));
  telegram.migrate(group, alice, { announce: 'none' });
  await second.edit('Approved.', closed);

  const third = await ask();
  telegram.block(alice);
  await third.edit('Approved.', closed);
  assert.equal(telegram.counts.get('editMessageReplyMarkup'), 3);
});

test('R52: words that Telegram refuses leave no buttons behind, and the failure is told', async (t) => {
  const { ask, seen } = await begin(t);
  const { edit } = await ask();
  const error = await failure(edit('x'.repeat(4097), closed));
  assert.deepEqual([error.outcome, error.permanent], ['not_sent', true]);
  assert.match(error.message, /message is too long/);
  assert.deepEqual(seen(), { text: 'Run it?', buttons: [] });
});

test('D4: an edit that may succeed later changes nothing now', async (t) => {
  const { telegram, ask, seen } = await begin(t);
  const { edit } = await ask();
  telegram.fault({ method: 'editMessageText', do: 'flood', retryAfter: 7 });
  const flooded = await failure(edit('Approved.', closed));
  assert.deepEqual([flooded.permanent, flooded.retryAfterMs], [false, 7_000]);
  telegram.fault({ method: 'editMessageText', do: 'status_before', status: 502 });
  assert.equal((await failure(edit('Approved.', closed))).permanent, false);
  telegram.fault({
    method: 'editMessageText',
    do: 'error',
    code: 400,
    description: "Bad Request: message can't be edited",
  });
  telegram.fault({ method: 'editMessageReplyMarkup', do: 'flood', retryAfter: 3 });
  assert.equal((await failure(edit('Approved.', closed))).retryAfterMs, 3_000);
  assert.deepEqual(seen(), { text: 'Run it?', buttons: [['Approve', 'Deny'], ['Details']] });
  await edit('Approved.', closed);
  assert.deepEqual(seen(), { text: 'Approved.', buttons: [] });
});
