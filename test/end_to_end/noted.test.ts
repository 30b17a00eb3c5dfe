import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, callsOf, said, startTimedWorld } from './world.ts';

test('D3: a message that arrived is not sent again because noting it failed', bounded, async (t) => {
  let failures = 0;
  let failing = false;
  const { telegram, model, alice, chat, world, pass } = await startTimedWorld(t, {
    config: { binding: { stream: false } },
    hooks: {
      beforeCommit() {
        if (!failing || failures === 2) return;
        failures += 1;
        throw new Error('disk full for a moment');
      },
    },
  });
  model.script({ text: 'only once' }, { text: 'and the next' });
  telegram.after('sendMessage', () => {
    failing = true;
  });
  telegram.say(chat, alice, 'hi');
  await pass(telegram.waitForMessage(chat, 'only once'));
  telegram.say(chat, alice, 'again');
  await pass(telegram.waitForMessage(chat, 'and the next'));
  assert.equal(failures, 2);
  assert.deepEqual(said(telegram, chat), ['only once', 'and the next']);
  assert.equal(callsOf(telegram, 'sendMessage').length, 2);
  const rows = await world.gateway.db.all('select state, attempts, unknown_sends from outbox order by id limit 1');
  assert.deepEqual(rows, [{ state: 'sent', attempts: 1, unknown_sends: 0 }]);
});
