import assert from 'node:assert/strict';
import test from 'node:test';
import { bounded, capabilityOf, startWorld } from './world.ts';

test(
  'R44: whoever knows the code has seen the card, also when the gateway was never told that it arrived',
  bounded,
  async (t) => {
    const calls: unknown[] = [];
    const capability = capabilityOf('send_mail', {
      effect: 'mutating',
      async call(input) {
        calls.push(input);
        return { content: 'sent' };
      },
    });
    const config = { agent: { capabilities: [{ id: 'send_mail' }] } };
    const { telegram, model, alice, chat } = await startWorld(t, { capabilities: [capability], config });
    model.script({ calls: [{ name: 'send_mail', input: { to: 'bob' } }] }, { text: 'Done.' });
    // It stands there; the answer is lost, and the card will be sent again in a while.
    telegram.fault({ method: 'sendMessage', do: 'close_after' });
    telegram.say(chat, alice, 'write to bob');
    const card = await telegram.waitForMessage(chat, /Approval needed/);
    telegram.say(chat, alice, `yes ${/needed\W+([A-Z0-9]+)/.exec(card.text)?.[1]}`);
    await telegram.waitForMessage(chat, 'Done.');
    assert.deepEqual(calls, [{ to: 'bob' }]);
  },
);
