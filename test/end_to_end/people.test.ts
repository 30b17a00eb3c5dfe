import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, callsOf, said, startWorld } from './world.ts';

const pairing = { binding: { access: { direct: 'pairing', rate_limit: 'off' } } };

test(
  'R16, R14: claim with the printed code, then admit a second account by its code, all in chat',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat, gateway, world } = await startWorld(t, { config: pairing });
    const bob = telegram.user({ name: 'Bob' });
    const bobs = telegram.privateChat(bob);
    const code = gateway.claimCode as string;
    assert.match(code, /^[A-Z0-9-]{20,}$/);

    telegram.say(chat, alice, `claim ${code}`);
    await telegram.waitForMessage(chat, 'You are the admin of this gateway now.');
    telegram.say(bobs, bob, `claim ${code}`);
    await telegram.waitForMessage(bobs, 'There is no claim code to redeem.');

    telegram.say(bobs, bob, 'hello?');
    telegram.say(bobs, bob, 'anybody?');
    const asked = await telegram.waitForMessage(bobs, 'I do not know you yet.');
    const pairCode = /[A-Z2-9]{8}/.exec(asked.text.split(':').at(-1) ?? '')?.[0] as string;
    telegram.say(bobs, bob, `/pair ${pairCode}`);
    telegram.say(chat, alice, '/pair list');
    await telegram.waitForMessage(chat, `tg:${bob.id}`);
    telegram.say(chat, alice, `/pair ${pairCode}`);
    await telegram.waitForMessage(chat, 'Admitted: Bob');
    await telegram.waitForMessage(bobs, 'An admin has admitted you.');
    telegram.say(bobs, bob, 'now?');
    await telegram.waitForMessage(bobs, 'You said: now?');

    await world.restart();
    assert.equal(world.gateway.claimCode, null, 'no further code while there is an admin');
    telegram.say(bobs, bob, 'still?');
    await telegram.waitForMessage(bobs, 'You said: still?');
    assert.equal(model.requests.length, 2);
    assert.equal(
      said(telegram, bobs).filter((text) => text.startsWith('I do not know you')).length,
      1,
      'one code only',
    );
    const audit = await auditOf(world.gateway);
    assert.deepEqual(audit, [
      { actor: `tg:${alice.id}`, action: 'admin.claim', subject: `tg:${alice.id}` },
      { actor: `tg:${alice.id}`, action: 'pair', subject: `tg:${bob.id}` },
    ]);
  },
);

const auditOf = (gateway: { db: { all<T>(sql: string): Promise<T[]> } }) =>
  gateway.db.all<{ actor: string; action: string; subject: string }>(
    'select actor, action, subject from audit order by id',
  );

test(
  'R14, 158: an admitted id stays admitted whatever its user name, and a name never stands for an id',
  bounded,
  async (t) => {
    const { telegram, alice, chat, model } = await startWorld(t, {
      config: { ...pairing, admins: ['tg:100000001'] },
    });
    assert.equal(alice.id, 100_000_001);
    telegram.say(chat, alice, '/pair tg:42');
    await telegram.waitForMessage(chat, 'Admitted: 42');
    const named = telegram.user({ id: 42, name: 'Someone', username: 'someone' });
    telegram.say(telegram.privateChat(named), named, 'in');
    await telegram.waitForMessage(42, 'You said: in');
    const pretender = telegram.user({ id: 4_200, name: '42', username: 'user42' });
    telegram.say(telegram.privateChat(pretender), pretender, 'in too');
    await telegram.waitForMessage(4_200, 'I do not know you yet.');
    assert.equal(model.requests.length, 1);
  },
);

test('R13: a strange group gets one line, once; /pair here by an admin opens it', bounded, async (t) => {
  const { telegram, alice, model } = await startWorld(t, { config: { admins: ['tg:100000001'] } });
  const eve = telegram.user({ name: 'Eve' });
  const group = telegram.group({ title: 'Strangers', members: [eve, alice], bot: 'left' });
  telegram.addBot(group, eve);
  telegram.say(group, eve, '@gate_bot hi');
  telegram.say(group, eve, '@gate_bot hello?');
  await telegram.waitForMessage(group, 'I do not answer in this group yet.');
  telegram.say(group, eve, '/pair@gate_bot here');
  await telegram.idle();
  telegram.say(group, alice, '/pair@gate_bot here');
  await telegram.waitForMessage(group, `Admitted: the group tg:${group.id}.`);
  telegram.say(group, eve, '@gate_bot now?');
  await telegram.waitForMessage(group, 'now?');
  assert.equal(model.requests.length, 1);
  assert.equal(said(telegram, group).filter((text) => text.startsWith('I do not answer')).length, 1);
});

test(
  'R13: a group is open when an admin adds the bot, and closed again when somebody else does',
  bounded,
  async (t) => {
    const { telegram, alice } = await startWorld(t, { config: { admins: ['tg:100000001'] } });
    const eve = telegram.user({ name: 'Eve' });
    const ours = telegram.group({ title: 'Ours', members: [eve, alice], bot: 'left' });
    telegram.addBot(ours, alice);
    telegram.say(ours, eve, '@gate_bot hi');
    await telegram.waitForMessage(ours, 'You said');
    telegram.removeBot(ours, alice);
    telegram.addBot(ours, eve);
    telegram.say(ours, eve, '@gate_bot hi again');
    await telegram.waitForMessage(ours, 'I do not answer in this group yet.');
  },
);

test('R16: five wrong codes end the claim', bounded, async (t) => {
  const { telegram, alice, chat, gateway } = await startWorld(t, { config: pairing });
  for (let tries = 0; tries < 5; tries++) telegram.say(chat, alice, 'claim AAAABBBBCCCCDDDDEEEEFFFFGG');
  telegram.say(chat, alice, `claim ${gateway.claimCode}`);
  await telegram.waitForMessage(chat, 'There is no claim code to redeem.');
  assert.equal(said(telegram, chat).filter((text) => text === 'That code is not right.').length, 5);
});

test('AB155, R13: allowlist: others are told so in a direct chat and meet silence in a room', bounded, async (t) => {
  const id = -1001000000001;
  const access = { direct: 'allowlist', group: 'allowlist', allow: ['tg:100000001'], rate_limit: 'off' };
  const { telegram, alice, chat, model } = await startWorld(t, {
    config: { binding: { where: { chats: [id], direct: true }, access } },
  });
  const eve = telegram.user({ name: 'Alice', username: 'alice' });
  const group = telegram.group({ id, members: [alice, eve] });
  telegram.say(group, eve, '@gate_bot hi');
  telegram.say(telegram.privateChat(eve), eve, 'hi');
  await telegram.waitForMessage(eve.id, 'I am not open to you here.');
  telegram.say(chat, alice, 'hi');
  await telegram.waitForMessage(chat, 'You said: hi');
  telegram.say(group, alice, '@gate_bot hi');
  await telegram.waitForMessage(group, 'You said: Alice:');
  assert.equal(model.requests.length, 2);
  assert.equal(callsOf(telegram, 'sendMessage').filter(({ args }) => Number(args.chat_id) === id).length, 1);
});

test('R18: the commands are registered, answer in chat and start no run', bounded, async (t) => {
  const { telegram, alice, chat, model } = await startWorld(t);
  await telegram.until('a command menu', () => telegram.commandsMenu.length > 0);
  assert.deepEqual(
    telegram.commandsMenu.map(({ command }) => command),
    [
      'help',
      'new',
      'stop',
      'status',
      'approve',
      'deny',
      'whoami',
      'usage',
      'tools',
      'policy',
      'mode',
      'claim',
      'pair',
      'link',
      'unlink',
    ],
  );
  telegram.say(chat, alice, '/start');
  await telegram.waitForMessage(chat, 'You said: /start');
  const replies: [string, string][] = [
    ['/help', 'I am Helper.'],
    ['!status', 'I am idle here.'],
    ['/whoami', `You are Alice, tg:${alice.id}, a member.`],
    ['/usage', 'Today, this agent: 1 requests'],
    ['/stop', 'Nothing is running here.'],
    ['/pair list', 'Only an admin can admit people.'],
  ];
  for (const [command, reply] of replies) {
    telegram.say(chat, alice, command);
    await telegram.waitForMessage(chat, reply);
  }
  telegram.say(chat, alice, 'help me write a letter');
  await telegram.waitForMessage(chat, 'You said: help me write a letter');
  assert.equal(model.requests.length, 2);
});
