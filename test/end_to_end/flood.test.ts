import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded, callsOf, room, said, startTimedWorld } from './world.ts';

const long = { timeout: 60_000 } as const;
const slow = { timeoutMs: 30_000 } as const;

/** An answer that is written in `count` pieces over `seconds`. */
function slowAnswer(name: string, seconds: number, count: number) {
  const pieces = Array.from({ length: count }, (_, n) => `${name}${n} `);
  const gapMs = (seconds * 1000) / count;
  return { text: pieces.join(''), pieces, gapMs, whole: pieces.join('').trim() };
}

test('O87, O91: two answers of 60 s in one group meet no 429 and end whole', long, async (t) => {
  const { telegram, model, alice, clock, pass } = await startTimedWorld(t, {
    config: { binding: room([-5001], { scope: 'user' }) },
    telegram: { limits: 'enforce' },
  });
  const bob = telegram.user({ name: 'Bob' });
  const group = telegram.group({ id: -5001, members: [alice, bob] });
  const answers = ['a', 'b'].map((name) => slowAnswer(name, 60, 120));
  model.script(...answers.map(({ text, pieces, gapMs }) => ({ text, pieces, gate: () => clock.sleep(gapMs) })));
  telegram.say(group, alice, '@gate_bot tell');
  await pass(model.request(1));
  telegram.say(group, bob, '@gate_bot tell');
  await pass(model.request(2));
  const began = clock.now();
  for (const { whole } of answers)
    await pass(telegram.waitForMessage(group, (message) => message.text === whole, slow));
  assert.ok(clock.now() - began >= 59_000);
  await pass(telegram.idle());
  assert.deepEqual(telegram.flooded, { refused: 0, ignored: 0 });
  assert.deepEqual(said(telegram, group).length, 2);
  const edits = callsOf(telegram, 'editMessageText').length;
  assert.ok(edits >= 4 && edits <= 40, `${edits} edits`);
});

test('O91: where drafts do not work an answer of 60 s in a private chat meets no 429 either', long, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t, { telegram: { limits: 'enforce' } });
  telegram.fault({ method: 'sendMessageDraft', do: 'error', code: 404, description: 'Not Found: method not found' });
  const answer = slowAnswer('w', 60, 240);
  model.script({ text: answer.text, pieces: answer.pieces, gate: () => clock.sleep(answer.gapMs) });
  telegram.say(chat, alice, 'tell');
  await pass(telegram.waitForMessage(chat, (message) => message.text === answer.whole, slow));
  await pass(telegram.idle());
  assert.deepEqual(telegram.flooded, { refused: 0, ignored: 0 });
  assert.deepEqual(said(telegram, chat), [answer.whole]);
  const edits = callsOf(telegram, 'editMessageText').length;
  assert.ok(edits >= 20 && edits <= 61, `${edits} edits`);
});

for (const [what, config] of [
  ['private chat', {}],
  ['group', room([-5001])],
] as const)
  test(`O89: a 429 of 150 s on the final words and a restart: one complete answer in a ${what}`, bounded, async (t) => {
    const { telegram, model, alice, chat, clock, pass, world } = await startTimedWorld(t, {
      config: { binding: config },
      telegram: { privacy: false },
    });
    const isGroup = what === 'group';
    const place = isGroup ? telegram.group({ id: -5001, members: [alice] }) : chat;
    const answer = slowAnswer('word', 5, 20);
    model.script({ text: answer.text, pieces: answer.pieces, gate: () => clock.sleep(answer.gapMs) });
    const finalCall = isGroup ? 'editMessageText' : 'sendMessage';
    const isFinal = (text: unknown) => text === answer.whole;
    let refusedAt = 0;
    telegram.before(
      (call) => call.method === finalCall && isFinal(call.args.text) && refusedAt === 0,
      () => {
        refusedAt = clock.now();
        telegram.flood(place, 150);
      },
    );
    telegram.say(place, alice, '@gate_bot tell');
    const refused = await pass(telegram.call(({ status }) => status === 429));
    assert.equal(refused.method, finalCall);
    await pass(telegram.idle());
    await pass(world.restart());
    await pass(telegram.waitForMessage(place, (message) => message.text === answer.whole));
    assert.ok(clock.now() - refusedAt >= 150_000, 'not before the penalty ended');
    await pass(telegram.idle());
    assert.deepEqual(said(telegram, place), [answer.whole]);
    const during = callsOf(telegram).filter(
      ({ at, args }) => at > refusedAt + 100 && at < refusedAt + 150_000 && Number(args.chat_id) === place.id,
    );
    assert.deepEqual(during, [], 'nobody knocks while the penalty lasts');
    assert.equal(model.requests.length, 1, 'the answer is not made again');
  });

test('O90: a 429 on the finishing edit is waited out and the formatting stays', bounded, async (t) => {
  const { telegram, model, alice, clock, pass } = await startTimedWorld(t, { config: { binding: room([-5001]) } });
  const group = telegram.group({ id: -5001, members: [alice] });
  const pieces = ['It is ', '**very** ', 'important.'];
  model.script({ text: pieces.join(''), pieces, gate: () => clock.sleep(1_500) });
  telegram.fault({
    method: 'editMessageText',
    do: 'flood',
    retryAfter: 7,
    when: ({ args }) => String(args.text).endsWith('important.'),
  });
  telegram.say(group, alice, '@gate_bot tell');
  const message = await pass(telegram.waitForMessage(group, 'It is very important.'));
  assert.deepEqual(message.entities, [{ type: 'bold', offset: 6, length: 4 }]);
  assert.equal(said(telegram, group).length, 1);
});

test('O90, D4: a 429 on an edit in between keeps the final words back as well', bounded, async (t) => {
  const { telegram, model, alice, clock, pass } = await startTimedWorld(t, { config: { binding: room([-5001]) } });
  const group = telegram.group({ id: -5001, members: [alice] });
  const answer = slowAnswer('word', 6, 6);
  model.script({ text: answer.text, pieces: answer.pieces, gate: () => clock.sleep(answer.gapMs) });
  let refused = false;
  telegram.before('editMessageText', () => {
    if (!refused) telegram.flood(group, 30);
    refused = true;
  });
  telegram.say(group, alice, '@gate_bot tell');
  await pass(telegram.waitForMessage(group, (message) => message.text === answer.whole));
  const refusals = callsOf(telegram).filter(({ status, method }) => status === 429 && method !== 'sendChatAction');
  assert.equal(refusals.length, 1);
});

test('D4: a chat in a penalty delays no other chat', bounded, async (t) => {
  const { telegram, alice, chat, clock, pass } = await startTimedWorld(t);
  const people = ['Bob', 'Cem', 'Dora'].map((name) => telegram.user({ name }));
  telegram.flood(chat, 120);
  const began = clock.now();
  telegram.say(chat, alice, 'hello');
  await pass(telegram.call(({ method, status }) => method === 'sendMessage' && status === 429));
  for (const person of people) telegram.say(telegram.privateChat(person), person, 'hello');
  for (const person of people) await pass(telegram.waitForMessage(person.id, 'You said: hello'));
  assert.ok(clock.now() - began < 20_000, `${clock.now() - began} ms`);
  telegram.say(chat, alice, 'more');
  await pass(telegram.waitForMessage(chat, 'You said: more'));
  assert.ok(clock.now() - began >= 120_000);
  assert.deepEqual(said(telegram, chat), ['You said: hello', 'You said: more'], 'in order');
});
