/** What is not settled by a kill: a lost answer again and again, and a machine that slept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { startTestGateway } from '../support/gateway.ts';
import { within } from '../support/within.ts';

test('D3: a whole answer in the place of a lost first piece is not sent again without end', async (t) => {
  const clock = createFastClock({ since: Date.now(), speed: 100 });
  const pieceShown = Promise.withResolvers<void>();
  const chats = [-1_000_000_000_001];
  const { telegram, model, gateway } = await startTestGateway(t, {
    clock,
    telegram: { clock },
    config: { binding: { where: { chats }, access: { group: 'open', rate_limit: 'off' } } },
  });
  const alice = telegram.user();
  const chat = telegram.group({ id: chats[0] as number, type: 'supergroup', members: [alice] });
  model.script({
    pieces: ['One moment', ', here it is.'],
    gate: (piece) => (piece === 1 ? pieceShown.promise : undefined),
  });
  telegram.fault({ method: 'sendMessage', do: 'error', code: 400, description: 'Bad Request: not now' });
  telegram.say(chat, alice, `@${telegram.bot.username} hello`);
  await telegram.call('sendMessage');
  telegram.fault({ method: 'sendMessage', do: 'close_after', times: Number.POSITIVE_INFINITY });
  pieceShown.resolve();
  const givenUp = async () => {
    while (!(await gateway.db.get(`select id from outbox where state = 'failed' and kind = 'edit'`)))
      await new Promise((resolve) => setImmediate(resolve));
  };
  await within(15_000, 'giving the answer up', givenUp());
  const copies = telegram.visible(chat, { fromBot: true }).filter((message) => message.text.includes('here it is'));
  assert.equal(copies.length, 5);
  const rows = await gateway.db.all(`select kind, state from outbox where body like '%here it is%'`);
  assert.deepEqual(rows, [{ kind: 'edit', state: 'failed' }]);
});

test('D2: a run at work is not begun again by its own process when the machine slept', async (t) => {
  let slept = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + slept };
  const awake = Promise.withResolvers<void>();
  const { telegram, model } = await startTestGateway(t, { clock });
  const [alice, bob] = [telegram.user(), telegram.user()];
  const chat = telegram.privateChat(alice);
  model.respond(async (request) => {
    if (request.messages.at(-1)?.text === 'from Alice') await awake.promise;
    return { text: `Answer ${request.messages.at(-1)?.text}` };
  });
  telegram.say(chat, alice, 'from Alice');
  await model.request(1);
  slept = 3_600_000;
  // Somebody writes: the gateway looks for runs whose lease has ended.
  telegram.say(telegram.privateChat(bob), bob, 'from Bob');
  await telegram.waitForMessage(bob.id, 'Answer from Bob');
  awake.resolve();
  await telegram.waitForMessage(chat, 'Answer from Alice');
  assert.deepEqual(
    model.requests.map((request) => request.messages.at(-1)?.text),
    ['from Alice', 'from Bob'],
  );
});
