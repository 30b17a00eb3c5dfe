/** Presses on their way in, and their answers: stored first, answered at once, and never in anybody's way. */
import assert from 'node:assert/strict';
import nodeTest, { type TestContext } from 'node:test';
import { GatehouseError } from '../../../src/base/errors.ts';
import type { Question } from '../../../src/types/message.ts';
import { startTelegramEmulator, type User } from '../../emulators/telegram/index.ts';
import { createHarness, createWatchedClock, message, placeOf, token } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 60_000 }, body);
const never = new AbortController().signal;
const question: Question = { card: 'card', buttons: [[{ data: 'card.0.a', label: 'Approve', style: 'approve' }]] };

async function begin(t: TestContext) {
  const clock = createWatchedClock();
  const telegram = await startTelegramEmulator({ token, clock });
  t.after(() => telegram.close());
  const harness = createHarness(t, { url: telegram.url, clock });
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  await harness.start();
  const { ref } = await harness.adapter.send(message(placeOf(chat), 'Run it?', { question }), never);
  const card = { chat, message_id: Number(ref) };
  const press = (user: User = alice) => telegram.press(user, card, 'Approve');
  const counted = (name: string) => harness.counts.get(name) ?? 0;
  return { telegram, harness, clock, alice, chat, card, press, counted };
}

test('R46: the presser is told the notice in a box, and of nothing to tell nothing', async (t) => {
  const { harness, press } = await begin(t);
  const quiet = await press().answered();
  assert.deepEqual(quiet, { text: '', alert: false });
  harness.tell = () => ({ notice: 'Bob has denied this.' });
  assert.deepEqual(await press().answered(), { text: 'Bob has denied this.', alert: true });
});

test('a notice that is too long for Telegram is cut, never inside a character', async (t) => {
  const { harness, press } = await begin(t);
  harness.tell = () => ({ notice: 'x'.repeat(200) });
  assert.equal((await press().answered()).text, 'x'.repeat(200));
  harness.tell = () => ({ notice: `${'x'.repeat(198)}😀😀` });
  assert.equal((await press().answered()).text, `${'x'.repeat(198)}…`);
});

test('D1: while the store refuses, a press is neither confirmed nor answered', async (t) => {
  const { telegram, harness, clock, press, counted } = await begin(t);
  let refuse = true;
  harness.onAccept = () => {
    if (refuse) throw new Error('the disk is full');
  };
  const pressed = press();
  const wait = await clock.waiting(500, 1_000);
  assert.equal(pressed.answer, null);
  assert.equal(telegram.pending, 1);
  assert.equal(telegram.counts.get('answerCallbackQuery'), undefined);
  refuse = false;
  await clock.advance(wait);
  await pressed.answered();
  await telegram.idle();
  assert.equal(telegram.pending, 0);
  assert.equal(counted('store_retries'), 1);
});

test('R46: a press of a copy in the same chat, or of a deleted question, decides nothing', async (t) => {
  const { telegram, harness, alice, chat, card } = await begin(t);
  const copy = telegram.forward(alice, card, chat);
  const pressed = [
    telegram.pressStale(alice, copy, 'card.0.a'),
    telegram.pressStale(alice, card, 'x', { noMessage: true }),
  ];
  telegram.deleteMessage(card);
  pressed.push(telegram.pressStale(alice, card, 'card.0.a'));
  for (const one of pressed)
    assert.deepEqual(await one.answered(), { text: 'This button does nothing any more.', alert: true });
  await telegram.idle();
  assert.deepEqual(
    harness.stored.map(({ kind }) => kind),
    ['message'],
  );
});

test('a press that can never be stored is answered and passed over', async (t) => {
  const { telegram, harness, press, counted } = await begin(t);
  harness.onAccept = () => {
    throw new GatehouseError('invalid', 'no such card');
  };
  assert.equal((await press().answered()).text, 'This button does nothing any more.');
  await telegram.idle();
  assert.equal(counted('refused_updates'), 1);
});

test('R1: a press that comes again is told again with its key; the second answer is no failure', async (t) => {
  const { telegram, harness, press, counted } = await begin(t);
  const pressed = press();
  await pressed.answered();
  telegram.redeliver(pressed.update_id, { newId: true });
  await harness.until('the press again', () => harness.stored.length === 2);
  await telegram.until('the second answer', () => telegram.counts.get('answerCallbackQuery') === 2);
  await telegram.idle();
  const [first, again] = harness.stored;
  assert.equal(first?.key, `callback:${pressed.id}`);
  assert.equal(again?.key, first?.key);
  await harness.adapter.stop();
  await harness.adapter.close?.();
  assert.equal(counted('press_answers_failed'), 0);
});

test('an answer that hangs delays neither updates nor stop, and close no longer than two seconds', async (t) => {
  const { telegram, harness, clock, alice, chat, press, counted } = await begin(t);
  telegram.fault({ method: 'answerCallbackQuery', do: 'hang_before' });
  press();
  await telegram.call(({ method, fault }) => method === 'answerCallbackQuery' && fault === 'hang_before');
  telegram.say(chat, alice, 'meanwhile');
  await harness.until('the message', () => harness.stored.length === 2);
  await harness.adapter.stop();
  let isClosed = false;
  const closing = harness.adapter.close!().then(() => {
    isClosed = true;
  });
  await clock.waiting(2_000, 2_000);
  await clock.advance(1_999);
  assert.equal(isClosed, false);
  await clock.advance(1);
  await closing;
  assert.equal(counted('press_answers_failed'), 1);
});

test('an answer in flight is given before the channel is closed', async (t) => {
  const { telegram, harness, press } = await begin(t);
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  telegram.before('answerCallbackQuery', () => {
    reach();
    return held;
  });
  const pressed = press();
  await reached;
  await harness.adapter.stop();
  const closing = harness.adapter.close!();
  release();
  await closing;
  assert.deepEqual(pressed.answer, { text: '', alert: false });
});

test('D4: an answer is tried again when Telegram asks to wait a little, three times in all', async (t) => {
  const { telegram, clock, press, counted, harness } = await begin(t);
  telegram.fault({ method: 'answerCallbackQuery', do: 'flood', retryAfter: 2 });
  telegram.fault({ method: 'answerCallbackQuery', do: 'close_before', nth: 2 });
  const pressed = press();
  await clock.waiting(2_000, 2_000);
  await clock.advance(2_000);
  await clock.waiting(1_000, 1_000);
  await clock.advance(1_000);
  assert.deepEqual(await pressed.answered(), { text: '', alert: false });
  assert.equal(counted('press_answers_failed'), 0);

  telegram.fault({ method: 'answerCallbackQuery', do: 'close_before', times: 3 });
  press();
  for (let tries = 1; tries < 3; tries++) {
    await clock.waiting(1_000, 1_000);
    await clock.advance(1_000);
  }
  await harness.until('it is given up', () => counted('press_answers_failed') === 1);
  assert.equal(telegram.counts.get('answerCallbackQuery'), 6);
});

test('an answer whose time is over is no failure; one that would come too late is given up', async (t) => {
  const { telegram, harness, press, counted } = await begin(t);
  const description = 'Bad Request: query is too old and response timeout expired or query ID is invalid';
  telegram.fault({ method: 'answerCallbackQuery', do: 'error', code: 400, description });
  press();
  await telegram.call('answerCallbackQuery');
  telegram.fault({ method: 'answerCallbackQuery', do: 'flood', retryAfter: 60 });
  press();
  await harness.until('it is given up', () => counted('press_answers_failed') > 0);
  assert.equal(counted('press_answers_failed'), 1);
  assert.equal(telegram.counts.get('answerCallbackQuery'), 2);
});

test('of very many presses at once the answers are bounded, and the presses are not', async (t) => {
  const { telegram, harness, press, counted } = await begin(t);
  telegram.fault({ method: 'answerCallbackQuery', do: 'hang_before', times: Number.POSITIVE_INFINITY });
  for (let count = 0; count < 250; count++) press();
  await harness.until('all presses', () => harness.stored.length === 250);
  await harness.until('what was dropped', () => counted('press_answers_dropped') === 34);
  await harness.adapter.stop();
});
