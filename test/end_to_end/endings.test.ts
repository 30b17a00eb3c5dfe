import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, callsOf, said, startTimedWorld, startWorld } from './world.ts';

test('R84: an answer of which nothing would be visible is told as an empty one', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script({ text: '```\n\n```' }, { text: 'the next' });
  telegram.say(chat, alice, 'm');
  await telegram.waitForMessage(chat, '(The model gave an empty answer.)');
  telegram.say(chat, alice, 'n');
  await telegram.waitForMessage(chat, 'the next');
  assert.deepEqual(said(telegram, chat), ['(The model gave an empty answer.)', 'the next']);
});

test('D3: of an answer that may have arrived nobody says that it did not', bounded, async (t) => {
  const { telegram, model, alice, chat, world, pass } = await startTimedWorld(t, {
    config: { binding: { stream: false } },
  });
  model.script({ text: 'copies' }, { text: 'the next' });
  telegram.fault({ do: 'close_after', method: 'sendMessage', times: 5 });
  telegram.say(chat, alice, 'hi');
  const failed = async () => {
    while ((await world.gateway.db.all(`select id from outbox where state = 'failed'`)).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(failed());
  telegram.say(chat, alice, 'again');
  await pass(telegram.waitForMessage(chat, 'the next'));
  assert.deepEqual(said(telegram, chat), ['copies', 'copies', 'copies', 'copies', 'copies', 'the next']);
  assert.equal(callsOf(telegram, 'sendMessage').length, 6);
});

test('D3: the reply to a command comes at least once, also when its first sending is in doubt', bounded, async (t) => {
  const { telegram, alice, chat, pass } = await startTimedWorld(t);
  telegram.fault({ do: 'close_after', method: 'sendMessage', times: 1 });
  telegram.say(chat, alice, '/whoami');
  await pass(telegram.until('the second one', () => telegram.visible(chat, { fromBot: true }).length === 2));
});

test('D3: a report of a failed delivery that may have arrived is not repeated', bounded, async (t) => {
  const { telegram, model, alice, chat, world, pass } = await startTimedWorld(t);
  telegram.fault({ do: 'error', code: 400, description: 'Bad Request: message is too long', method: 'sendMessage' });
  telegram.fault({ do: 'close_after', method: 'sendMessage', nth: 2 });
  model.script({ text: 'refused' }, { text: 'the next' });
  telegram.say(chat, alice, 'hi');
  const failed = async () => {
    while ((await world.gateway.db.all(`select id from outbox where state = 'failed'`)).length < 2)
      await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(failed());
  telegram.say(chat, alice, 'again');
  await pass(telegram.waitForMessage(chat, 'the next'));
  assert.deepEqual(
    telegram.visible(chat, { fromBot: true }).map((message) => message.text),
    ['An answer could not be delivered here; it is kept in the log.', 'the next'],
  );
});
