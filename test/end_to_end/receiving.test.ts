import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freePort } from '../support/free_port.ts';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, lastWords, said, startTimedWorld, startWorld, words } from './world.ts';

test('K61, E38, R2: an update delivered again after its answer causes no call of any kind', bounded, async (t) => {
  const { telegram, model, alice, chat, world } = await startWorld(t);
  model.script({ text: 'Hello.' });
  const message = telegram.say(chat, alice, 'hi');
  await telegram.waitForMessage(chat, 'Hello.');
  await telegram.call('setMyCommands');
  const before = callsOf(telegram).length;
  telegram.redeliver(message);
  telegram.redeliver(message, { newId: true });
  await telegram.idle();
  assert.equal(callsOf(telegram).length, before);

  await world.restart();
  telegram.redeliver(message);
  telegram.redeliver(message, { newId: true });
  // A message behind them in the same lane: had they been taken, they would be answered before it.
  model.script({ text: 'Second.' });
  telegram.say(chat, alice, 'again');
  await telegram.waitForMessage(chat, 'Second.');
  assert.deepEqual(said(telegram, chat), ['Hello.', 'Second.']);
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'hi'],
    ['assistant', 'Hello.'],
    ['user', 'again'],
  ]);
});

test('K65: a command delivered again is carried out once', bounded, async (t) => {
  const { telegram, alice, chat, gateway, world } = await startWorld(t);
  telegram.say(chat, alice, 'hi');
  await telegram.waitForMessage(chat, 'You said: hi');
  const command = telegram.say(chat, alice, '/new');
  await telegram.waitForMessage(chat, 'This is a new conversation.');
  telegram.redeliver(command);
  await world.restart();
  telegram.redeliver(command, { newId: true });
  telegram.say(chat, alice, 'later');
  await telegram.waitForMessage(chat, 'You said: later');
  assert.deepEqual(said(telegram, chat), [
    'You said: hi',
    'This is a new conversation. The old one is kept.',
    'You said: later',
  ]);
  assert.deepEqual(await world.gateway.db.get('select count(*) as n from conversations'), { n: 2 });
  assert.notEqual(gateway, world.gateway);
});

/** A bot that Telegram calls; `push` makes such a call by hand, with the secret of an earlier one. */
async function startWebhookWorld(t: TestContext, hooks?: { beforeCommit(): void }) {
  const port = await freePort();
  const world = await startWorld(t, {
    ...(hooks ? { hooks } : {}),
    config: { gateway: { listen: `127.0.0.1:${port}`, public_url: `http://127.0.0.1:${port}` } },
  });
  const { telegram } = world;
  await world.world.restart({
    channels: { tg: { type: 'telegram', token: telegram.token, api_url: telegram.url, mode: 'webhook' } },
  });
  await telegram.call('setWebhook');
  const push = async (update: object) => {
    const response = await fetch(telegram.webhook.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-telegram-bot-api-secret-token': telegram.webhook.attempts[0]?.secret ?? '',
      },
      body: JSON.stringify(update),
    });
    await response.arrayBuffer();
    return response.status;
  };
  return { ...world, push };
}

test('K63, D1: a webhook call repeated in turn and at once is one message', bounded, async (t) => {
  const { telegram, model, alice, chat, push } = await startWebhookWorld(t);
  model.script({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
  telegram.say(chat, alice, 'first');
  await telegram.waitForMessage(chat, 'One.');
  const first = telegram.updates.at(-1)?.update as { update_id: number; message: { message_id: number; text: string } };
  for (const _ of [1, 2, 3]) assert.equal(await push(first), 200);
  const second = { update_id: first.update_id + 7, message: { ...first.message, message_id: 77, text: 'second' } };
  const statuses = await Promise.all([1, 2, 3, 4, 5].map(() => push(second)));
  assert.deepEqual(statuses, [200, 200, 200, 200, 200]);
  await telegram.waitForMessage(chat, 'Two.');
  telegram.say(chat, alice, 'third');
  await telegram.waitForMessage(chat, 'Three.');
  assert.deepEqual(words(model.requests[2]), [
    ['user', 'first'],
    ['assistant', 'One.'],
    ['user', 'second'],
    ['assistant', 'Two.'],
    ['user', 'third'],
  ]);
  assert.deepEqual(said(telegram, chat), ['One.', 'Two.', 'Three.']);
});

test('K66, D1: 200 is said before the run; another answer makes one message all the same', bounded, async (t) => {
  let failures = 0;
  const { telegram, model, alice, chat } = await startWebhookWorld(t, {
    beforeCommit() {
      if (failures === 0) return;
      failures -= 1;
      throw new Error('the disk is full');
    },
  });
  const gate = createGate();
  model.script({ text: 'Done.', gate: () => gate.opened });
  failures = 1;
  telegram.say(chat, alice, 'go');
  await model.request(1);
  await telegram.until('a confirmed attempt', () => telegram.webhook.attempts.some(({ status }) => status === 200));
  assert.deepEqual(
    telegram.webhook.attempts.map(({ status }) => status),
    [503, 200],
  );
  assert.deepEqual(said(telegram, chat), [], 'acknowledged while the model still works');
  gate.open();
  await telegram.waitForMessage(chat, 'Done.');
  await telegram.idle();
  assert.deepEqual(said(telegram, chat), ['Done.']);
  assert.equal(model.requests.length, 1);
});

test('K62, W131: an update whose storing fails is not confirmed and is answered once', bounded, async (t) => {
  let broken = false;
  const failed = createGate();
  const { telegram, model, alice, chat, world } = await startWorld(t, {
    hooks: {
      beforeCommit() {
        if (!broken) return;
        failed.open();
        throw new Error('the disk is full');
      },
    },
  });
  await telegram.polling();
  broken = true;
  const message = telegram.say(chat, alice, 'keep me');
  await failed.opened;
  assert.equal(telegram.pending, 1, 'not confirmed');
  await world.gateway.stop();
  assert.equal(telegram.pending, 1, 'not confirmed by stopping either');
  broken = false;
  await world.restart();
  await telegram.waitForMessage(chat, 'You said: keep me');
  telegram.redeliver(message);
  await telegram.idle();
  assert.equal(model.requests.length, 1);
});

test('W131: a single failed write is tried again without a restart', bounded, async (t) => {
  let failures = 0;
  const { telegram, alice, chat, pass, model } = await startTimedWorld(t, {
    hooks: {
      beforeCommit() {
        if (failures === 0) return;
        failures -= 1;
        throw new Error('the disk is full');
      },
    },
  });
  await pass(telegram.polling());
  failures = 1;
  telegram.say(chat, alice, 'keep me');
  await pass(telegram.waitForMessage(chat, 'You said: keep me'));
  assert.equal(failures, 0);
  await pass(telegram.idle());
  assert.deepEqual(said(telegram, chat), ['You said: keep me']);
  assert.equal(model.requests.length, 1);
});

test('K67, R5: an album is one turn with one caption; a straggler joins through the queue', bounded, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t);
  const gate = createGate();
  model.script({ text: 'Three pictures.', gate: () => gate.opened }, { text: 'And one more.' });
  const album = '13700000000000001';
  telegram.say(chat, alice, 'what is this?', { photo: { bytes: jpeg(1) }, mediaGroup: album });
  await clock.advance(150);
  telegram.say(chat, alice, '', { photo: { bytes: jpeg(2) }, mediaGroup: album });
  await clock.advance(150);
  telegram.say(chat, alice, '', { photo: { bytes: jpeg(3) }, mediaGroup: album });
  const first = await pass(model.request(1));
  assert.equal(first.messages.length, 1);
  assert.equal(first.messages[0]?.images, 3);
  assert.equal(lastWords(first).split('what is this?').length, 2, 'the caption stands there once');
  telegram.say(chat, alice, '', { photo: { bytes: jpeg(4) }, mediaGroup: album });
  await pass(telegram.idle());
  gate.open();
  await pass(telegram.waitForMessage(chat, 'And one more.'));
  assert.equal(model.requests.length, 2);
  assert.equal(model.requests[1]?.messages.at(-1)?.images, 1);
});

/** Bytes that begin as a JPEG does. */
function jpeg(serial: number): Uint8Array {
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70, serial]);
}
