import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, room, said, startTimedWorld, startWorld, words } from './world.ts';

const id = -4001;
const shared = room([id], { scope: 'channel' });

for (const announce of ['to_then_from', 'from_then_to', 'to', 'from'] as const)
  test(
    `N84, N85, N86: announced "${announce}", a new group id keeps conversation and admission`,
    bounded,
    async (t) => {
      const { telegram, model, alice, gateway, world } = await startWorld(t, { config: { binding: shared } });
      const group = telegram.group({ id, members: [alice] });
      model.script(
        { calls: [{ name: 'store_set', input: { key: 'colour', value: 'green' } }] },
        { text: 'Noted.' },
        { calls: [{ name: 'store_get', input: { key: 'colour' } }] },
        { text: 'It is green.' },
      );
      telegram.say(group, alice, '@gate_bot remember green');
      await telegram.waitForMessage(group, 'Noted.');
      const next = telegram.migrate(group, alice, { announce });
      telegram.say(next, alice, '@gate_bot which colour?');
      await telegram.waitForMessage(next, 'It is green.');
      assert.deepEqual(words(model.requests[2]), [
        ['user', 'Alice: @gate_bot remember green'],
        ['assistant', 'Noted.'],
        ['user', 'Alice: @gate_bot which colour?'],
      ]);
      assert.equal(model.requests[3]?.messages.at(-1)?.results[0]?.text, 'green');
      for (const update of telegram.updates.filter(({ update }) => JSON.stringify(update).includes('migrate_')))
        telegram.redeliver(update.update.update_id);
      await telegram.idle();
      assert.deepEqual(await gateway.db.all('select distinct chat from conversations where chat < ?', '0'), [
        { chat: String(next.id) },
      ]);
      // The new id is known after a restart too.
      await world.restart();
      telegram.say(next, alice, '@gate_bot still there?');
      await telegram.waitForMessage(next, 'still there?');
      assert.equal(words(model.requests[4]).length, 5);
    },
  );

test('N84: an answer under way learns of the new id from its refusal and is sent once', bounded, async (t) => {
  const { telegram, model, alice, world } = await startWorld(t, {
    config: { binding: { ...shared, stream: false } },
  });
  const group = telegram.group({ id, members: [alice] });
  const gate = createGate();
  model.script({ text: 'Here I am.', gate: () => gate.opened }, { text: 'Still here.' });
  telegram.say(group, alice, '@gate_bot where are you?');
  await model.request(1);
  const next = telegram.migrate(group, alice, { announce: 'none' });
  gate.open();
  await telegram.waitForMessage(next, 'Here I am.');
  assert.deepEqual(
    callsOf(telegram, 'sendMessage').map(({ status, args }) => [status, Number(args.chat_id)]),
    [
      [400, id],
      [200, next.id],
    ],
  );
  await world.restart();
  telegram.say(next, alice, '@gate_bot and now?');
  await telegram.waitForMessage(next, 'Still here.');
  assert.equal(words(model.requests[1]).length, 3, 'the same conversation');
  assert.deepEqual(said(telegram, next), ['Here I am.', 'Still here.']);
});

test('N84: a streamed answer is finished in the new chat', bounded, async (t) => {
  const { telegram, model, alice, pass } = await startTimedWorld(t, { config: { binding: shared } });
  const group = telegram.group({ id, members: [alice] });
  const gate = createGate();
  model.script({
    pieces: ['First half, ', 'second half.'],
    text: 'First half, second half.',
    gate: (n) => (n === 1 ? gate.opened : undefined),
  });
  telegram.say(group, alice, '@gate_bot tell');
  await pass(telegram.waitForMessage(group, 'First half'));
  const next = telegram.migrate(group, alice, { announce: 'to_then_from' });
  await pass(telegram.idle());
  gate.open();
  await pass(telegram.waitForMessage(next, 'First half, second half.'));
  await pass(telegram.idle());
  assert.deepEqual(said(telegram, next), ['First half, second half.']);
});
