/** Questions that are open while a Telegram group becomes a supergroup, where message ids begin anew (rule 20). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Visible } from '../emulators/telegram/index.ts';
import { bounded, capabilityOf, room, startWorld } from '../end_to_end/world.ts';

const groupId = -4001;

async function openAndMigrate(t: TestContext, calls = 1) {
  const ran: unknown[] = [];
  const send = capabilityOf('send_mail', {
    effect: 'mutating',
    call: async (input) => {
      ran.push(input);
      return { content: 'sent' };
    },
  });
  const world = await startWorld(t, {
    capabilities: [send],
    config: {
      agent: { capabilities: [{ id: 'send_mail' }] },
      binding: { ...room([groupId], { scope: 'channel' }), stream: false },
    },
  });
  const { telegram, model, alice } = world;
  const bob = telegram.user({ name: 'Bob' });
  const group = telegram.group({ id: groupId, type: 'group', members: [alice, bob] });
  model.script({ calls: Array.from({ length: calls }, (_, n) => ({ name: 'send_mail', input: { to: `bob ${n}` } })) });
  model.respond(() => ({ text: 'Done.' }));
  const asked = telegram.say(group, alice, '@gate_bot write to bob');
  const card = await telegram.waitForMessage(group, /needed|need approval/);
  const next = telegram.migrate(group, alice);
  await telegram.idle();
  const ref = (message: Visible) => ({ message_id: message.id, chat: { id: message.chat } });
  return { ...world, ran, bob, group, next, card, ref, asked };
}

test(
  'R20, R46: a press on the card in the former chat counts, and what became of it stands in the new one',
  bounded,
  async (t) => {
    const { telegram, alice, bob, card, next, ref, ran } = await openAndMigrate(t);
    const stranger = telegram.press(bob, ref(card), 'Approve');
    assert.match((await stranger.answered()).text, /not yours to decide/);
    assert.deepEqual(ran, []);
    const press = telegram.press(alice, ref(card), 'Approve');
    assert.equal((await press.answered()).text, '');
    const shown = await telegram.waitForMessage(next, /approved by Alice/);
    assert.deepEqual(shown.buttons, []);
    await telegram.waitForMessage(next, 'Done.');
    assert.deepEqual(ran, [{ to: 'bob 0' }]);
    const late = telegram.press(bob, ref(card), 'Deny');
    assert.match((await late.answered()).text, /^Already approved by Alice/);
  },
);

test('R20, R45: the code counts in the new chat', bounded, async (t) => {
  const { telegram, alice, card, next, ran } = await openAndMigrate(t);
  const [, code] = /needed ([A-Z0-9]+)/.exec(card.text) ?? [];
  telegram.say(next, alice, `@gate_bot yes ${code}`);
  await telegram.waitForMessage(next, 'Done.');
  assert.equal(ran.length, 1);
});

test(
  'R20: a changed card is put into the new chat once, and that one is edited and pressed from then on',
  bounded,
  async (t) => {
    const { telegram, alice, card, next, ref, ran } = await openAndMigrate(t, 3);
    await telegram.press(alice, ref(card), 'Approve 1').answered();
    const anew = await telegram.waitForMessage(next, '2 calls need approval');
    assert.equal((await telegram.press(alice, ref(anew), 'Deny 2').answered()).text, '');
    await telegram.until('the card is edited', () => telegram.message(ref(anew))?.text.includes('denied by Alice'));
    await telegram.press(alice, ref(anew), 'Approve 3').answered();
    await telegram.waitForMessage(next, 'Done.');
    await telegram.idle();
    assert.deepEqual(ran, [{ to: 'bob 0' }, { to: 'bob 2' }]);
    assert.equal(telegram.visible(next, { fromBot: true }).length, 2, 'the card and the answer');
  },
);

test('R20: a message of the new chat with the id of an older one is another message', bounded, async (t) => {
  const { telegram, alice, next, asked, gateway } = await openAndMigrate(t);
  // Without a mention the bot does not see them.
  let said = telegram.say(next, alice, 'one');
  while (said.message_id < asked.message_id) said = telegram.say(next, alice, 'one more');
  assert.equal(said.message_id, asked.message_id);
  telegram.editMessage(said, '@gate_bot another');
  await telegram.idle();
  assert.deepEqual(await gateway.db.all('select state from approvals'), [{ state: 'pending' }]);
});
