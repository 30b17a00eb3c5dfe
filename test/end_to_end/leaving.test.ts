import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, said, startTimedWorld, startWorld } from './world.ts';

test('D3: a reload that replaces a channel waits for what is being sent over it', bounded, async (t) => {
  const { telegram, model, alice, chat, world } = await startWorld(t, { config: { binding: { stream: false } } });
  const reloading = createGate();
  let reload = Promise.resolve();
  let sends = 0;
  telegram.after('sendMessage', async () => {
    sends += 1;
    if (sends > 1) return;
    const tg = { type: 'telegram', token: telegram.token, api_url: telegram.url, webhook_secret: 'reload-secret-1' };
    reload = world.reload({ channels: { tg } });
    reloading.open();
    // Long enough for a reload that does not wait.
    for (let turns = 0; turns < 150; turns++)
      await fetch(`${world.gateway.url}/healthz`).then((answer) => answer.text());
  });
  model.script({ text: 'only once' }, { text: 'over the new one' });
  telegram.say(chat, alice, 'hi');
  await reloading.opened;
  await reload;
  telegram.say(chat, alice, 'again');
  await telegram.waitForMessage(chat, 'over the new one');
  assert.deepEqual(said(telegram, chat), ['only once', 'over the new one']);
  assert.equal(callsOf(telegram, 'sendMessage').length, 2);
});

test(
  'R88: stop does not wait for a platform that hangs; the message is left for the next start',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat, world, clock, pass } = await startTimedWorld(t, {
      config: { binding: { stream: false } },
    });
    model.script({ text: 'late' });
    telegram.fault({ method: 'sendMessage', do: 'hang_before', times: 1 });
    telegram.say(chat, alice, 'hi');
    await pass(telegram.received('sendMessage'));
    const asked = clock.now();
    await pass(world.gateway.stop());
    assert.ok(clock.now() - asked < 5_000, `took ${clock.now() - asked} ms`);
    await pass(world.restart());
    await pass(telegram.waitForMessage(chat, 'late'));
  },
);
