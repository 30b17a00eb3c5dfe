import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, callsOf, room, said, startWorld, words } from './world.ts';

const id = -1001000000001;

test(
  'P93, R10: in a group with privacy mode a mention, a reply, a command and a named account address the bot',
  bounded,
  async (t) => {
    const { telegram, model, alice } = await startWorld(t, { config: { binding: room([id]) } });
    const group = telegram.group({ id, members: [alice] });
    model.respond((request) => ({ text: `Answer ${request.number}.` }));
    telegram.say(group, alice, '@gate_bot one');
    const first = await telegram.waitForMessage(group, 'Answer 1.');
    telegram.say(group, alice, 'two', { replyTo: { message_id: first.id, chat: group } });
    await telegram.waitForMessage(group, 'Answer 2.');
    telegram.say(group, alice, 'Gate, three', {
      entities: [{ type: 'text_mention', offset: 0, length: 4, user: telegram.bot }],
    });
    await telegram.waitForMessage(group, 'Answer 3.');
    telegram.say(group, alice, '/ask@gate_bot four');
    await telegram.waitForMessage(group, 'Answer 4.');
    telegram.say(group, alice, '/whoami@gate_bot');
    await telegram.waitForMessage(group, `tg:${alice.id}`);
    assert.equal(model.requests.length, 4);
  },
);

test('P95, R10, R11, Y141: ten messages that address nobody or somebody else cause no call', bounded, async (t) => {
  const { telegram, model, alice, gateway } = await startWorld(t, {
    config: { binding: room([id]) },
    telegram: { privacy: false },
  });
  const bob = telegram.user({ name: 'Bob', username: 'bob_builder' });
  const group = telegram.group({ id, members: [alice, bob] });
  await telegram.call('setMyCommands');
  const before = callsOf(telegram).length;
  const first = telegram.say(group, alice, 'good morning');
  telegram.say(group, bob, 'hello', { replyTo: first });
  telegram.say(group, alice, '@bob_builder look');
  telegram.say(group, alice, '@everyone look');
  telegram.say(group, alice, '/start@other_bot');
  telegram.say(group, alice, '@other_bot help');
  telegram.say(group, alice, 'gate_bot is a name');
  telegram.say(group, alice, 'mail me at x@gate_bot.example');
  telegram.say(group, bob, 'see https://t.me/gate_bot');
  telegram.say(group, bob, '', { photo: { bytes: 'x' } });
  await telegram.idle();
  // The one after them is answered alone, and nothing of what was overheard is kept.
  telegram.say(group, alice, '@gate_bot now you');
  await telegram.waitForMessage(group, 'now you');
  assert.deepEqual(words(model.requests[0]), [['user', 'Alice: @gate_bot now you']]);
  assert.equal(model.requests.length, 1);
  // On a slow machine that one answer is shown while it is written.
  const ofAWrittenAnswer = ['sendChatAction', 'editMessageText'];
  assert.deepEqual(
    callsOf(telegram)
      .slice(before)
      .map(({ method }) => method)
      .filter((method) => !ofAWrittenAnswer.includes(method)),
    ['sendMessage'],
  );
  assert.deepEqual(await gateway.db.all('select user_id from accounts'), [{ user_id: String(alice.id) }]);
  assert.deepEqual(
    await gateway.db.get(`select count(*) as n from inbox where state = 'ignored' and payload is null`),
    {
      n: 10,
    },
  );
});

test('P96, R10: trigger follow answers in a topic it takes part in without a new mention', bounded, async (t) => {
  const { telegram, alice, world } = await startWorld(t, {
    config: { binding: room([id], { trigger: 'follow' }) },
    telegram: { privacy: false },
  });
  const bob = telegram.user({ name: 'Bob' });
  const group = telegram.group({ id, forum: true, members: [alice, bob] });
  const [plans, other] = ['Plans', 'Other'].map((name) => telegram.topic(group, alice, name)) as [number, number];
  telegram.say(group, alice, '@gate_bot one', { thread: plans });
  await telegram.waitForMessage(group, 'one');
  await world.restart();
  telegram.say(group, bob, 'unasked', { thread: other });
  telegram.say(group, bob, 'two', { thread: plans });
  const answer = await telegram.waitForMessage(group, 'You said: Bob: two');
  assert.equal(answer.thread, plans);
  assert.equal(said(telegram, group).length, 2);
});

test('R10: trigger mention asks for a mention every time, trigger all for none', bounded, async (t) => {
  const quiet = id - 1;
  const { telegram, model, alice } = await startWorld(t, {
    config: {
      bindings: [
        { ...room([id], { trigger: 'all' }), id: 'all', agent: 'helper', channel: 'tg' },
        {
          ...room([quiet], { trigger: 'mention', where: { chats: [quiet] } }),
          id: 'some',
          agent: 'helper',
          channel: 'tg',
        },
      ],
    },
    telegram: { privacy: false },
  });
  const talking = telegram.group({ id, forum: true, members: [alice] });
  const silent = telegram.group({ id: quiet, forum: true, members: [alice] });
  const topic = telegram.topic(silent, alice, 'Plans');
  telegram.say(silent, alice, '@gate_bot hi', { thread: topic });
  await telegram.waitForMessage(silent, 'You said');
  telegram.say(silent, alice, 'and more', { thread: topic });
  telegram.say(talking, alice, 'anything');
  await telegram.waitForMessage(talking, 'anything');
  assert.equal(model.requests.length, 2);
});

test('F33, R12: of several bindings the most specific answers, once', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, {
    config: {
      agents: { other: { name: 'Other', model: 'main', instructions: 'You are the other.' } },
      bindings: [
        { id: 'general', agent: 'helper', channel: 'tg', where: { direct: true, chats: 'any' } },
        { id: 'special', agent: 'other', channel: 'tg', where: { chats: [id] } },
      ],
    },
  });
  const group = telegram.group({ id, members: [alice] });
  telegram.say(group, alice, '@gate_bot hi');
  await telegram.waitForMessage(group, 'You said');
  await telegram.idle();
  assert.deepEqual(
    model.requests.map(({ instructions }) => instructions),
    ['You are the other.'],
  );
  assert.equal(said(telegram, group).length, 1);
});

test(
  'V123, V126, R6: other bots start nothing, whether they mention the bot or repeat its words',
  bounded,
  async (t) => {
    const { telegram, model, alice } = await startWorld(t, {
      config: { binding: room([id], { trigger: 'all' }) },
      telegram: { privacy: false },
    });
    const group = telegram.group({ id, members: [alice] });
    const parrot = { id: 777, is_bot: true, first_name: 'Parrot', username: 'parrot_bot' };
    let echoes = 0;
    telegram.after('sendMessage', (call) => {
      echoes += 1;
      const text = `@gate_bot ${String(call.args.text)}`;
      telegram.pushRaw({
        message: { message_id: 5_000 + echoes, from: parrot, chat: group, date: Math.floor(Date.now() / 1000), text },
      });
    });
    telegram.say(group, alice, 'hi');
    await telegram.waitForMessage(group, 'You said: Alice: hi');
    await telegram.until('an echo that was taken', () => echoes === 1 && telegram.pending === 0);
    telegram.say(group, alice, 'bye');
    await telegram.waitForMessage(group, 'You said: Alice: bye');
    assert.equal(model.requests.length, 2);
    assert.equal(said(telegram, group).length, 2);
  },
);

test('V126: bots: mention lets another bot in that mentions this one', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, {
    config: { binding: room([id], { trigger: 'all', bots: 'mention' }) },
    telegram: { privacy: false },
  });
  const group = telegram.group({ id, members: [alice] });
  const other = { id: 777, is_bot: true, first_name: 'Ci', username: 'ci_bot' };
  const push = (message_id: number, text: string, entities: object[]) =>
    telegram.pushRaw({
      message: { message_id, from: other, chat: group, date: Math.floor(Date.now() / 1000), text, entities },
    });
  push(5_001, 'build failed', []);
  push(5_002, '@gate_bot why?', [{ type: 'mention', offset: 0, length: 9 }]);
  await telegram.waitForMessage(group, 'You said: Ci:');
  assert.deepEqual(words(model.requests[0]), [['user', 'Ci: @gate_bot why?']]);
});

test('R47, R6: an anonymous admin and a channel that posts are nobody: no run and no admission', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, {
    config: { binding: room([id], { trigger: 'all' }) },
    telegram: { privacy: false },
  });
  const group = telegram.group({ id, members: [alice] });
  const channel = telegram.channel({ title: 'News' });
  telegram.say(group, alice, '@gate_bot hi', { as: 'anonymous_admin' });
  telegram.say(group, alice, '/status@gate_bot', { as: 'anonymous_admin' });
  telegram.say(group, alice, '@gate_bot news', { as: channel });
  telegram.say(group, alice, '@gate_bot post', { automaticForward: channel });
  telegram.say(group, alice, '@gate_bot really me');
  await telegram.waitForMessage(group, 'really me');
  await telegram.idle();
  assert.equal(model.requests.length, 1);
  assert.equal(said(telegram, group).length, 1);
});

test('W128: two people in one tick in one topic: two answers, each to its question', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, {
    config: { binding: room([id], { trigger: 'follow' }) },
    telegram: { privacy: false },
  });
  const bob = telegram.user({ name: 'Bob' });
  const group = telegram.group({ id, forum: true, members: [alice, bob] });
  const topic = telegram.topic(group, alice, 'Plans');
  const first = telegram.say(group, alice, '@gate_bot a', { thread: topic });
  const second = telegram.say(group, bob, '@gate_bot b', { thread: topic });
  const answers = [await telegram.waitForMessage(group, 'Alice:'), await telegram.waitForMessage(group, 'Bob:')];
  assert.deepEqual(
    answers.map(({ replyTo }) => replyTo),
    [first.message_id, second.message_id],
  );
  assert.equal(model.requests.length, 2);
});
