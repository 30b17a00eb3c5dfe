import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, startWorld } from './world.ts';

test('R73: a request that failed, and one that was stopped, give back what was reserved', bounded, async (t) => {
  const { telegram, model, alice, chat, world } = await startWorld(t, {
    // One request may cost 0.4 $ and a little: two that kept their reservation would leave no room for a third.
    config: { agent: { limits: { budget_usd: { day: 1 } } }, model: { max_output_tokens: 40_000, retries: 0 } },
  });
  model.script({ status: 500 }, { hang: true }, { hang: true }, { text: 'there is room' });
  telegram.say(chat, alice, 'm1');
  await telegram.waitForMessage(chat, 'The model cannot be reached right now.');
  for (const n of [2, 3]) {
    telegram.say(chat, alice, `m${n}`);
    const request = await model.request(n);
    telegram.say(chat, alice, '/stop');
    assert.equal(await request.ended, 'client');
  }
  telegram.say(chat, alice, 'm4');
  await telegram.waitForMessage(chat, 'there is room');
  assert.deepEqual(await world.gateway.db.all('select id from ledger where settled = 0'), []);
});
