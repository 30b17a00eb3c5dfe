import assert from 'node:assert/strict';
import test from 'node:test';
import { bounded, capabilityOf, said, startWorld } from './world.ts';

/** A tool that asks, and what it was called with. */
function sender() {
  const calls: unknown[] = [];
  const capability = capabilityOf('send_mail', {
    effect: 'mutating',
    call: async (input) => {
      calls.push(input);
      return { content: 'sent' };
    },
  });
  return { calls, capability };
}
const agent = { capabilities: [{ id: 'send_mail' }] };

test(
  'A1, R53: a call that asks parks the run; approved, exactly that call runs once and the run goes on',
  bounded,
  async (t) => {
    const { calls, capability } = sender();
    const { telegram, model, alice, chat } = await startWorld(t, { capabilities: [capability], config: { agent } });
    model.script(
      {
        text: 'I will send it.',
        calls: [{ name: 'send_mail', input: { to: 'bob', _approval_message: 'I want to write to Bob.' } }],
      },
      { text: 'Done.' },
    );
    telegram.say(chat, alice, 'write to bob');
    const card = await telegram.waitForMessage(chat, /Approval needed/);
    assert.equal(calls.length, 0);
    assert.match(card.text, /Tool send_mail of send_mail/);
    assert.match(card.text, /"to": "bob"/);
    assert.match(card.text, /I want to write to Bob/);
    assert.doesNotMatch(card.text, /_approval_message/);
    const press = telegram.press(alice, { message_id: card.id, chat: { id: card.chat } }, 'Approve');
    await press.answered();
    await telegram.waitForMessage(chat, 'Done.');
    assert.deepEqual(calls, [{ to: 'bob' }]);
    const second = await model.request(2);
    assert.equal(second.messages.at(-1)?.results[0]?.text, 'sent');
    await telegram.idle();
    assert.match(said(telegram, chat).join('\n'), /approved by Alice/);
  },
);

test('R14: a stranger who writes a code gets a pairing code and nothing else', bounded, async (t) => {
  const { telegram, alice, chat } = await startWorld(t, { config: { binding: { access: { direct: 'pairing' } } } });
  telegram.say(chat, alice, 'yes 4K7');
  await telegram.waitForMessage(chat, /Ask an admin to admit you/);
  await telegram.idle();
  assert.equal(said(telegram, chat).length, 1);
});

test('R40: nobody who may decide is here or can be told: the card says where it waits', bounded, async (t) => {
  const { capability } = sender();
  const { telegram, model, alice, chat } = await startWorld(t, {
    capabilities: [capability],
    config: { agent, binding: { approvals: { approvers: 'admins' } }, admins: ['tg:900000001'] },
  });
  model.script({ calls: [{ name: 'send_mail', input: {} }] });
  telegram.say(chat, alice, 'send it');
  const card = await telegram.waitForMessage(chat, /Approval needed/);
  assert.match(
    card.text,
    /An admin decides\..*Nobody who may decide could be shown it: it waits on the approvals page/,
  );
});

test(
  'R44, R18: a command of the menu with the bot’s name and a code decides, one for another bot does not',
  bounded,
  async (t) => {
    const { calls, capability } = sender();
    const groupId = -1001000000077;
    const { telegram, model, alice } = await startWorld(t, {
      capabilities: [capability],
      config: { agent, binding: { where: { chats: [groupId], direct: true } } },
      telegram: { privacy: false },
    });
    const group = telegram.group({ id: groupId, members: [alice] });
    model.script({ calls: [{ name: 'send_mail', input: { to: 'bob' } }] }, { text: 'Done.' });
    telegram.say(group, alice, '@gate_bot write to bob');
    const card = await telegram.waitForMessage(group, /Approval needed/);
    const code = /needed ([A-Z0-9]+)/.exec(card.text)?.[1];
    telegram.say(group, alice, `/approve@other_bot ${code}`);
    await telegram.idle();
    assert.equal(calls.length, 0);
    telegram.say(group, alice, `/approve@gate_bot ${code}`);
    await telegram.waitForMessage(group, 'Done.');
    assert.deepEqual(calls, [{ to: 'bob' }]);
  },
);

test('R47: a yes does not act for somebody who was let go while people were asked', bounded, async (t) => {
  for (const binding of [{ id: 'another' }, { access: { direct: 'allowlist', allow: ['tg:900000001'] } }]) {
    const { calls, capability } = sender();
    const world = await startWorld(t, { capabilities: [capability], config: { agent } });
    const { telegram, model, alice, chat } = world;
    model.script({ calls: [{ name: 'send_mail', input: {} }] }, { text: 'It was not sent.' });
    telegram.say(chat, alice, 'send it');
    const card = await telegram.waitForMessage(chat, /Approval needed/);
    await world.reload({ agent, binding });
    await telegram.press(alice, { message_id: card.id, chat: { id: card.chat } }, 'Approve').answered();
    await telegram.waitForMessage(chat, 'It was not sent.');
    assert.deepEqual(calls, []);
    assert.match((await model.request(2)).messages.at(-1)?.results[0]?.text ?? '', /not let in here any more/);
    await world.stop();
  }
});
