import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, room, said, startTimedWorld, startWorld, words } from './world.ts';

const forum = -1001000000001;

test('M80: a question in General is answered in General, without a thread id and never by DM', bounded, async (t) => {
  const { telegram, alice } = await startWorld(t, { config: { binding: room([forum]) } });
  const group = telegram.group({ id: forum, forum: true, members: [alice] });
  telegram.say(group, alice, '@gate_bot hi');
  const message = await telegram.waitForMessage(group, 'You said: Alice:');
  assert.equal(message.thread, null);
  await telegram.idle();
  for (const call of callsOf(telegram)) {
    if (call.args.chat_id === undefined) continue;
    assert.equal(Number(call.args.chat_id), forum);
    assert.equal(call.args.message_thread_id, undefined);
    assert.equal(call.status, 200);
  }
});

test('M81: a reply thread of a group without topics is no topic', bounded, async (t) => {
  const { telegram, alice } = await startWorld(t, { config: { binding: room([forum]) } });
  const group = telegram.group({ id: forum, type: 'supergroup', members: [alice] });
  const first = telegram.say(group, alice, '@gate_bot hi');
  await telegram.waitForMessage(group, 'You said: Alice:');
  telegram.say(group, alice, '@gate_bot and this?', {
    replyTo: first,
    extra: { message_thread_id: first.message_id },
  });
  const answer = await telegram.waitForMessage(group, 'and this?');
  assert.equal(answer.thread, null);
  assert.deepEqual(
    callsOf(telegram, 'sendMessage').map((call) => [call.status, call.args.message_thread_id]),
    [
      [200, undefined],
      [200, undefined],
    ],
  );
});

test('M83, R21: an answer whose topic is gone is posted nowhere else, and that is known', bounded, async (t) => {
  const { telegram, model, alice, gateway, log } = await startWorld(t, { config: { binding: room([forum]) } });
  const group = telegram.group({ id: forum, forum: true, members: [alice] });
  const topic = telegram.topic(group, alice, 'Plans');
  const gate = createGate();
  model.script({ text: 'Only for the topic.', gate: () => gate.opened }, { text: 'In the new topic.' });
  const question = telegram.say(group, alice, '@gate_bot hi', { thread: topic });
  await model.request(1);
  telegram.setTopic(group, topic, 'lost');
  telegram.deleteMessage(question);
  gate.open();
  await telegram.call('deleteMessage');
  await telegram.idle();
  // The lane is free and the group goes on in another topic, with a conversation of its own.
  const other = telegram.topic(group, alice, 'Other plans');
  telegram.say(group, alice, '@gate_bot hi there', { thread: other });
  await telegram.waitForMessage(group, 'In the new topic.');
  assert.deepEqual(said(telegram, group), ['In the new topic.']);
  assert.equal(telegram.visible(group, { fromBot: true })[0]?.thread, other);
  assert.equal(words(model.requests[1]).length, 1);
  assert.ok(log.lines.some((line) => line.level === 'error' && line.msg === 'a message could not be delivered'));
  assert.deepEqual(await gateway.db.get('select state, error from outbox order by id limit 1'), {
    state: 'failed',
    error: 'Telegram: the topic of this conversation is gone, so nothing was posted.',
  });
});

test('F39, R21: a run goes on after a restart and answers in the topic of its question', bounded, async (t) => {
  const world = await startTimedWorld(t, { config: { binding: room([forum]) } });
  const { telegram, model, alice } = world;
  const group = telegram.group({ id: forum, forum: true, members: [alice] });
  const topic = telegram.topic(group, alice, 'Plans');
  telegram.topic(group, alice, 'Elsewhere');
  model.script({ hang: true }, { text: 'The plan.' });
  telegram.say(group, alice, '@gate_bot the plan please', { thread: topic });
  const first = await world.pass(model.request(1));
  await world.pass(world.world.restart());
  const answer = await world.pass(telegram.waitForMessage(group, 'The plan.'));
  assert.equal(answer.thread, topic);
  assert.deepEqual(words(model.requests[1]), words(first));
  assert.equal(said(telegram, group).length, 1);
});

test('F42: every part of a long answer stands in the topic of the question', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, { config: { binding: room([forum]) } });
  const group = telegram.group({ id: forum, forum: true, members: [alice] });
  const topic = telegram.topic(group, alice, 'Plans');
  const sentences = Array.from({ length: 300 }, (_, n) => `Sentence ${n} of the plan is quite a long one.`);
  model.script({ text: sentences.join(' ') });
  telegram.say(group, alice, '@gate_bot the plan please', { thread: topic });
  await telegram.waitForMessage(group, 'Sentence 299 of the plan');
  const parts = telegram.visible(group, { fromBot: true });
  assert.ok(parts.length >= 3);
  assert.deepEqual([...new Set(parts.map((part) => part.thread))], [topic]);
});

test('F41: scope channel shares one conversation over topics, scope thread does not', bounded, async (t) => {
  const chats = [forum, -1001000000002];
  const { telegram, model, alice } = await startWorld(t, {
    config: {
      bindings: [
        { ...room([chats[0] as number]), id: 'shared', agent: 'helper', channel: 'tg', scope: 'channel' },
        {
          ...room([chats[1] as number], { where: { chats: [chats[1]] } }),
          id: 'apart',
          agent: 'helper',
          channel: 'tg',
        },
      ],
    },
  });
  const lengths: number[] = [];
  for (const id of chats) {
    const group = telegram.group({ id, forum: true, members: [alice] });
    for (const name of ['one', 'two']) {
      const topic = telegram.topic(group, alice, name);
      telegram.say(group, alice, `@gate_bot in ${name}`, { thread: topic });
      await telegram.waitForMessage(group, `in ${name}`);
      lengths.push(words(model.requests.at(-1)).length);
    }
  }
  assert.deepEqual(lengths, [1, 3, 1, 1]);
});

test('a private chat with topics: the answer goes to its topic', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t);
  const chat = telegram.privateChat(telegram.user({ name: 'Bob' }), { topics: true });
  const topic = telegram.topic(chat, alice, 'Work');
  telegram.say(chat, telegram.user({ id: chat.id, name: 'Bob' }), 'hi', { thread: topic });
  const answer = await telegram.waitForMessage(chat, 'You said: hi');
  assert.equal(answer.thread, topic);
  assert.equal(model.requests.length, 1);
});
