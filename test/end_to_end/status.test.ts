import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, capabilityOf, room, said, startTimedWorld, startWorld } from './world.ts';

const id = -1001000000001;

test('Y138, Y140, R85: typing within 2 s and again every few seconds, until the run ends', bounded, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t);
  model.respond(async () => {
    await clock.sleep(30_000);
    return { text: 'Done.' };
  });
  const began = clock.now();
  telegram.say(chat, alice, 'go');
  await pass(telegram.waitForMessage(chat, 'Done.'));
  const ended = clock.now();
  await pass(clock.sleep(20_000));
  const times = callsOf(telegram, 'sendChatAction').map(({ at }) => at - began);
  assert.ok((times[0] as number) <= 2_000, `first after ${times[0]} ms`);
  for (const [index, at] of times.entries())
    assert.ok(at - (times[index - 1] ?? 0) <= 5_000, 'a typing sign lasts 5 s');
  assert.ok(times.length >= 6);
  assert.ok((times.at(-1) as number) <= ended - began, 'none after the answer');
  assert.ok(telegram.actions(chat).every(({ action }) => action === 'typing'));
});

test('Y139, Y140: it goes on through a tool after words were shown, and stands in the topic', bounded, async (t) => {
  let topic = 0;
  const working = createGate();
  const { telegram, model, alice, clock, pass } = await startTimedWorld(t, {
    config: { binding: room([id]), agent: { capabilities: ['slow'] } },
    capabilities: [
      capabilityOf('slow', {
        call: async () => {
          working.open();
          await clock.sleep(15_000);
          return { content: 'done' };
        },
      }),
    ],
  });
  const group = telegram.group({ id, forum: true, members: [alice] });
  topic = telegram.topic(group, alice, 'Plans');
  model.script(
    {
      text: 'I will look it up.',
      pieces: ['I will ', 'look it up.'],
      gate: () => clock.sleep(2_000),
      calls: [{ name: 'slow', input: {} }],
    },
    { text: 'Found it.' },
  );
  telegram.say(group, alice, '@gate_bot look', { thread: topic });
  await pass(telegram.waitForMessage(group, 'I will'));
  await pass(working.opened);
  const shown = clock.now();
  await pass(telegram.waitForMessage(group, 'Found it.'));
  const ended = clock.now();
  await pass(clock.sleep(10_000));
  const actions = telegram.actions(group);
  assert.ok(actions.filter(({ at }) => at > shown && at < ended).length >= 3, 'asserted again while the tool works');
  assert.ok(actions.every(({ at }) => at <= ended));
  assert.deepEqual([...new Set(actions.map(({ thread }) => thread))], [topic]);
});

test('Y138: stop ends it at once, and so does a failing model', bounded, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t, { config: { model: { retries: 0 } } });
  model.script({ hang: true }, { status: 500 });
  telegram.say(chat, alice, 'go');
  await pass(telegram.received('sendChatAction'));
  telegram.say(chat, alice, '/stop');
  await pass(telegram.waitForMessage(chat, 'Stopping.'));
  await pass(clock.sleep(1_000));
  const before = callsOf(telegram, 'sendChatAction').length;
  await pass(clock.sleep(20_000));
  assert.equal(callsOf(telegram, 'sendChatAction').length, before);
  telegram.say(chat, alice, 'again');
  await pass(telegram.waitForMessage(chat, 'The model cannot be reached right now.'));
  const after = callsOf(telegram, 'sendChatAction').length;
  await pass(clock.sleep(20_000));
  assert.equal(callsOf(telegram, 'sendChatAction').length, after);
});

test('Y141: no typing and nothing else for a message that addresses nobody', bounded, async (t) => {
  const { telegram, alice, clock, pass } = await startTimedWorld(t, {
    config: { binding: room([id]) },
    telegram: { privacy: false },
  });
  const group = telegram.group({ id, members: [alice] });
  await pass(telegram.call('setMyCommands'));
  const before = callsOf(telegram).length;
  telegram.say(group, alice, 'just talking');
  await pass(telegram.idle());
  await pass(clock.sleep(10_000));
  assert.equal(callsOf(telegram).length, before);
});

test('R85: in a private chat the answer grows as a draft and one message takes its place', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  const gate = createGate();
  model.script({
    text: 'Hello **Alice**, how are you?',
    pieces: ['Hello **Alice**', ', how ', 'are you?'],
    gate: (n) => (n === 2 ? gate.opened : undefined),
  });
  telegram.say(chat, alice, 'hi');
  await telegram.until('a draft', () => telegram.drafts(chat).find(({ text }) => text === 'Hello Alice, how'));
  assert.deepEqual(said(telegram, chat), [], 'nothing is posted yet');
  gate.open();
  await telegram.waitForMessage(chat, 'Hello Alice, how are you?');
  await telegram.idle();
  assert.deepEqual(telegram.drafts(chat), []);
  assert.equal(callsOf(telegram, 'sendMessage').length, 1);
  assert.deepEqual(callsOf(telegram, 'editMessageText'), []);
  const drafts = callsOf(telegram, 'sendMessageDraft').map(({ args }) => args.draft_id);
  assert.equal(new Set(drafts).size, 1, 'one draft, told again');
});

test(
  'R85: in a group the first piece is a message that the final words edit, also when an edit failed',
  bounded,
  async (t) => {
    const { telegram, model, alice, clock, pass } = await startTimedWorld(t, { config: { binding: room([id]) } });
    const group = telegram.group({ id, members: [alice] });
    telegram.fault({ method: 'editMessageText', do: 'status_before', status: 502 });
    const pieces = ['One ', 'two ', 'three ', 'four.'];
    model.script({ text: pieces.join(''), pieces, gate: () => clock.sleep(2_000) });
    const question = telegram.say(group, alice, '@gate_bot count');
    const message = await pass(telegram.waitForMessage(group, 'One two three four.'));
    await pass(telegram.idle());
    assert.equal(message.replyTo, question.message_id);
    assert.equal(message.versions[0], 'One');
    assert.deepEqual(said(telegram, group), ['One two three four.']);
    assert.equal(callsOf(telegram, 'sendMessage').length, 1);
  },
);

test('R85: the final words come last and stay, with their footer', bounded, async (t) => {
  const { telegram, model, alice, clock, pass } = await startTimedWorld(t, {
    config: { binding: room([id], { footer: 'always' }) },
  });
  const group = telegram.group({ id, members: [alice] });
  const pieces = ['One ', 'two ', 'three.'];
  // The last piece comes while an edit waits for its turn.
  model.script({ text: pieces.join(''), pieces, gate: (n) => clock.sleep(n === 2 ? 300 : 2_000) });
  telegram.say(group, alice, '@gate_bot count');
  await pass(telegram.waitForMessage(group, 'This answer cost'));
  await pass(clock.sleep(10_000));
  assert.match(
    said(telegram, group).join(),
    /^One two three\.\n\nThis answer cost at least \$|^One two three\.\n\nThis answer cost \$/,
  );
});

test('R85: stream: false shows nothing but the whole answer', bounded, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t, {
    config: { binding: { ...room([id]), stream: false } },
  });
  const group = telegram.group({ id, members: [alice] });
  const pieces = ['One ', 'two ', 'three.'];
  model.respond(() => ({ text: pieces.join(''), pieces, gate: () => clock.sleep(2_000) }));
  telegram.say(chat, alice, 'count');
  telegram.say(group, alice, '@gate_bot count');
  await pass(telegram.waitForMessage(chat, 'One two three.'));
  await pass(telegram.waitForMessage(group, 'One two three.'));
  await pass(telegram.idle());
  assert.equal(callsOf(telegram, 'sendMessage').length, 2);
  assert.deepEqual([callsOf(telegram, 'sendMessageDraft'), callsOf(telegram, 'editMessageText')], [[], []]);
});

test('R86: the footer says what a turn cost: always, every second turn, never', bounded, async (t) => {
  const usage = { input: 1_000_000, output: 100_000 };
  const bindings = ['always', 'never', { every: 2 }].map((footer, n) => ({
    ...room([id - n], { where: { chats: [id - n] } }),
    id: `b${n}`,
    agent: 'helper',
    channel: 'tg',
    scope: 'channel',
    footer,
  }));
  const { telegram, model, alice } = await startWorld(t, { config: { bindings } });
  model.respond((request) => ({ text: `Answer ${request.number}.`, usage }));
  // 1 M at 1 $ and 0.1 M at 10 $
  const footer = 'This answer cost $2.00.';
  const shown: boolean[][] = [];
  for (let n = 0; n < 3; n++) {
    const group = telegram.group({ id: id - n, members: [alice] });
    for (const turn of [1, 2]) {
      telegram.say(group, alice, `@gate_bot turn ${turn}`);
      const number = n * 2 + turn;
      await telegram.waitForMessage(group, `Answer ${number}.`);
    }
    await telegram.until('two whole answers', () => said(telegram, group).length === 2);
    shown.push(said(telegram, group).map((text) => text.includes(footer)));
  }
  assert.deepEqual(shown, [
    [true, true],
    [false, false],
    [false, true],
  ]);
});

test('R86: near_limit says so from 80 % of the daily limit', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, {
    config: { agent: { limits: { budget_usd: { day: 10 } } }, model: { max_output_tokens: 1_000 } },
  });
  model.script(
    { text: 'Cheap.', usage: { input: 5_000_000, output: 1 } },
    { text: 'Dear.', usage: { input: 3_500_000, output: 1 } },
  );
  telegram.say(chat, alice, 'one');
  const first = await telegram.waitForMessage(chat, 'Cheap.');
  telegram.say(chat, alice, 'two');
  const second = await telegram.waitForMessage(chat, 'Dear.');
  assert.equal(first.text, 'Cheap.');
  assert.equal(second.text, 'Dear.\n\n85 % of the daily limit is used.');
});
