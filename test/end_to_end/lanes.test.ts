import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from '../support/gate.ts';
import { bounded, capabilityOf, lastWords, said, startTimedWorld, startWorld, words } from './world.ts';

test('W127: a model call of 90 s keeps its lane; a message at 40 s is the next run', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway, clock, pass } = await startTimedWorld(t);
  let open = 0;
  let most = 0;
  model.respond(async (request) => {
    open += 1;
    most = Math.max(most, open);
    await clock.sleep(90_000);
    open -= 1;
    return { text: `Answer ${request.number}.` };
  });
  telegram.say(chat, alice, 'm1');
  await pass(model.request(1));
  const lease = async () => {
    const row = await gateway.db.get<{ until: number }>(
      `select lease_until as until from runs where state = 'running'`,
    );
    return (row?.until ?? 0) - clock.now();
  };
  await pass(clock.sleep(40_000));
  telegram.say(chat, alice, 'm2');
  for (let seconds = 40; seconds < 85; seconds += 15) {
    assert.ok((await lease()) > 0, `the lease holds at ${seconds} s`);
    await pass(clock.sleep(15_000));
  }
  assert.equal(model.requests.length, 1);
  await pass(telegram.waitForMessage(chat, 'Answer 2.'));
  assert.equal(most, 1, 'never two requests of one conversation at a time');
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'm1'],
    ['assistant', 'Answer 1.'],
    ['user', 'm2'],
  ]);
});

test('W129: 20 quick messages all reach the model, in order and once', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  const names = Array.from({ length: 20 }, (_, n) => `message-${n};`);
  for (const name of names) telegram.say(chat, alice, name);
  await telegram.waitForMessage(chat, 'message-19;');
  const asked = words(model.requests.at(-1))
    .filter(([role]) => role === 'user')
    .flatMap(([, text]) => text.split(/\s+/));
  assert.deepEqual(asked, names);
});

test(
  'W129, R17: what is beyond 20 waiting messages is refused with one notice, nothing silently',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat } = await startWorld(t);
    const gate = createGate();
    model.script({ text: 'First.', gate: () => gate.opened }, { text: 'Second.' });
    telegram.say(chat, alice, 'm');
    await model.request(1);
    for (let n = 0; n < 23; n++) telegram.say(chat, alice, `w${n};`);
    await telegram.waitForMessage(chat, 'I have 20 messages waiting here.');
    gate.open();
    await telegram.waitForMessage(chat, 'Second.');
    assert.deepEqual(
      lastWords(model.requests[1]).split(/\s+/),
      Array.from({ length: 20 }, (_, n) => `w${n};`),
    );
    assert.equal(said(telegram, chat).filter((text) => text.startsWith('I have 20')).length, 1);
  },
);

test('X133: what came during a tool survives stop and a restart and is answered next', bounded, async (t) => {
  const started = createGate();
  const { telegram, model, alice, chat, world } = await startWorld(t, {
    config: { agent: { capabilities: ['slow'] } },
    capabilities: [
      capabilityOf('slow', {
        call: (_input, { signal }) => {
          started.open();
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      }),
    ],
  });
  model.script({ calls: [{ name: 'slow', input: {} }] }, { text: 'About m2.' });
  telegram.say(chat, alice, 'm1');
  await started.opened;
  telegram.say(chat, alice, 'm2');
  telegram.say(chat, alice, '/stop');
  await telegram.waitForMessage(chat, 'Stopping.');
  await world.restart();
  await telegram.waitForMessage(chat, 'About m2.');
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'm1'],
    ['assistant', '[Stopped before an answer was complete.]'],
    ['user', 'm2'],
  ]);
  assert.equal(model.requests[1]?.status, 200, 'a well-formed request');
});

test('X134: a second message does not disturb the run; it is answered with full context', bounded, async (t) => {
  const { telegram, model, alice, chat, clock, pass } = await startTimedWorld(t);
  model.script(
    { text: 'Long work.', pieces: ['Long ', 'work.'], gate: () => clock.sleep(5_000) },
    { text: 'And that.' },
  );
  telegram.say(chat, alice, 'm1');
  await pass(model.request(1));
  await pass(clock.sleep(2_000));
  telegram.say(chat, alice, 'm2');
  await pass(telegram.waitForMessage(chat, 'And that.'));
  assert.deepEqual(said(telegram, chat), ['Long work.', 'And that.']);
  assert.deepEqual(
    model.requests.map(({ clientClosed }) => clientClosed),
    [false, false],
  );
  assert.equal(words(model.requests[1]).length, 3);
});

test('X135: stop in the middle of a tool, then a new message: the session goes on', bounded, async (t) => {
  const started = createGate();
  const { telegram, model, alice, chat, gateway } = await startWorld(t, {
    config: { agent: { capabilities: ['slow'] } },
    capabilities: [
      capabilityOf('slow', {
        call: () => {
          started.open();
          return new Promise(() => {});
        },
      }),
    ],
  });
  model.script({ calls: [{ name: 'slow', input: {} }] }, { text: 'Something else.' }, { text: 'And on.' });
  telegram.say(chat, alice, 'go');
  await started.opened;
  telegram.say(chat, alice, '/stop');
  telegram.say(chat, alice, 'do something else');
  await telegram.waitForMessage(chat, 'Something else.');
  telegram.say(chat, alice, 'more');
  await telegram.waitForMessage(chat, 'And on.');
  assert.deepEqual(
    model.requests.map(({ status, refusal }) => [status, refusal]),
    [
      [200, null],
      [200, null],
      [200, null],
    ],
  );
  assert.deepEqual(await gateway.db.all('select state from runs order by id'), [
    { state: 'cancelled' },
    { state: 'completed' },
    { state: 'completed' },
  ]);
});

test(
  'X137: steering is taken in every moment of a run: while it writes, and while a tool works',
  bounded,
  async (t) => {
    const inTool = createGate();
    const toolEnds = createGate();
    const writes = createGate();
    const { telegram, model, alice, chat } = await startWorld(t, {
      config: { binding: { on_busy: 'steer' }, agent: { capabilities: ['slow'] } },
      capabilities: [
        capabilityOf('slow', {
          call: async () => {
            inTool.open();
            await toolEnds.opened;
            return { content: 'done' };
          },
        }),
      ],
    });
    model.script(
      { text: 'One moment.', gate: () => writes.opened, calls: [{ name: 'slow', input: {} }] },
      { text: 'Heard both.' },
    );
    telegram.say(chat, alice, 'm1');
    await model.request(1);
    telegram.say(chat, alice, 'while writing');
    await telegram.idle();
    writes.open();
    await inTool.opened;
    telegram.say(chat, alice, 'while a tool works');
    await telegram.idle();
    toolEnds.open();
    await telegram.waitForMessage(chat, 'Heard both.');
    assert.equal(lastWords(model.requests[1]), 'while writing\n\nwhile a tool works');
    assert.equal(model.requests.length, 2);
  },
);

test('U122, R3: an edit while the run works never starts it again; it is a follow-up', bounded, async (t) => {
  let effects = 0;
  const inTool = createGate();
  const toolEnds = createGate();
  const { telegram, model, alice, chat } = await startWorld(t, {
    config: { agent: { capabilities: ['effect'] } },
    capabilities: [
      capabilityOf('effect', {
        call: async () => {
          effects += 1;
          inTool.open();
          await toolEnds.opened;
          return { content: 'done' };
        },
      }),
    ],
  });
  model.script({ calls: [{ name: 'effect', input: {} }] }, { text: 'Deleted a.' }, { text: 'Too late for a.' });
  const message = telegram.say(chat, alice, 'delete a');
  await inTool.opened;
  telegram.editMessage(message, 'delete b');
  await telegram.idle();
  toolEnds.open();
  await telegram.waitForMessage(chat, 'Too late for a.');
  assert.equal(effects, 1);
  assert.deepEqual(words(model.requests[2]), [
    ['user', 'delete a'],
    ['assistant', 'Deleted a.'],
    ['user', 'delete b'],
  ]);
});

test('U117, R3: a preview that appears and an edit long after the answer start nothing', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  const message = telegram.say(chat, alice, 'see https://example.org/');
  await telegram.waitForMessage(chat, 'You said: see');
  telegram.unfurl(message);
  // Telegram's revisions are whole seconds: a later one, or it would be the same as the preview's.
  telegram.editMessage(message, 'see https://example.org/ please', { date: message.date + 10 });
  await telegram.idle();
  telegram.say(chat, alice, 'next');
  await telegram.waitForMessage(chat, 'You said: next');
  assert.equal(model.requests.length, 2);
  assert.equal(said(telegram, chat).length, 2);
});
