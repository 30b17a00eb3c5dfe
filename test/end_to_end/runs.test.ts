/** One run over the whole gateway: what the model is asked, what its tools do, and how it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendTurns } from '../../src/store/conversations.ts';
import { createGate } from '../support/gate.ts';
import { within } from '../support/within.ts';
import { bounded, capabilityOf, startTimedWorld, startWorld, words } from './world.ts';

test('a message gets an answer, once', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script({ text: 'Hello **Alice**.' });
  telegram.say(chat, alice, 'hi there');
  const answer = await telegram.waitForMessage(chat, 'Hello Alice.');
  assert.deepEqual(answer.entities, [{ type: 'bold', offset: 6, length: 5 }]);
  const request = await model.request(1);
  assert.equal(request.instructions, 'You help.');
  assert.equal(request.messages.at(-1)?.text, 'hi there');
  telegram.say(chat, alice, 'and again');
  await model.request(2);
  await telegram.waitForMessage(chat, 'You said: and again');
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'hi there'],
    ['assistant', 'Hello **Alice**.'],
    ['user', 'and again'],
  ]);
  await telegram.idle();
  assert.equal(telegram.visible(chat, { fromBot: true }).length, 2);
});

test('tools run and their results reach the model; store values persist', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script(
    { text: 'One moment.', calls: [{ name: 'store_set', input: { key: 'colour', value: 'green' } }] },
    {
      calls: [
        { name: 'store_get', input: { key: 'colour' } },
        { name: 'store_list', input: {} },
      ],
    },
    { text: 'It is green.' },
  );
  telegram.say(chat, alice, 'remember green');
  await telegram.waitForMessage(chat, 'It is green.');
  const last = model.requests[2]?.messages.filter((message) => message.role === 'tool');
  assert.deepEqual(last?.flatMap((message) => message.results.map((result) => result.text)).slice(-2), [
    'green',
    '{"colour":"green"}',
  ]);
});

test('R22: messages during a run wait and are taken together as the next one', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  const gate = createGate();
  model.script({ text: 'first', gate: () => gate.opened }, { text: 'second' });
  telegram.say(chat, alice, 'm1');
  await model.request(1);
  telegram.say(chat, alice, 'm2');
  telegram.say(chat, alice, 'm3');
  await telegram.idle();
  assert.equal(model.requests.length, 1, 'never two requests of one lane at a time');
  gate.open();
  await telegram.waitForMessage(chat, 'second');
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'm1'],
    ['assistant', 'first'],
    ['user', 'm2\n\nm3'],
  ]);
});

test('R75, X133, X135: stop ends a hanging model request within a second and keeps what waits', bounded, async (t) => {
  const { telegram, model, alice, chat, pass } = await startTimedWorld(t);
  model.script({ hang: true }, { text: 'answer to m2' });
  telegram.say(chat, alice, 'm1');
  const first = await pass(model.request(1));
  telegram.say(chat, alice, 'm2');
  await pass(telegram.idle());
  await pass(telegram.polling());
  // Time stands still from here to the end of the request: nothing on the way waits for a heartbeat or a poll.
  telegram.say(chat, alice, '/stop');
  assert.equal(await within(15_000, 'the end of the request', first.ended), 'client');
  await pass(telegram.waitForMessage(chat, 'answer to m2'));
  assert.deepEqual(words(model.requests[1]), [
    ['user', 'm1'],
    ['assistant', '[Stopped before an answer was complete.]'],
    ['user', 'm2'],
  ]);
});

test('R75, M2: stop in the middle of a tool that does not listen leaves a valid history', bounded, async (t) => {
  const started = createGate();
  const { telegram, model, alice, chat, gateway } = await startWorld(t, {
    config: { agent: { capabilities: ['slow'] } },
    capabilities: [
      capabilityOf('slow', {
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
        call: () => {
          started.open();
          return new Promise(() => {});
        },
      }),
    ],
  });
  model.script(
    {
      calls: [
        { name: 'slow', input: {}, id: 'c1' },
        { name: 'slow', input: {}, id: 'c2' },
      ],
    },
    { text: 'fine' },
  );
  telegram.say(chat, alice, 'go');
  await started.opened;
  telegram.say(chat, alice, '/stop');
  await telegram.waitForMessage(chat, 'Stopping.');
  telegram.say(chat, alice, 'next');
  await telegram.waitForMessage(chat, 'fine');
  const calls = await gateway.db.all<{ call_id: string; content: string }>(
    'select call_id, content from tool_calls order by position',
  );
  assert.match(calls[0]?.content ?? '', /^Outcome unknown/);
  assert.match(calls[1]?.content ?? '', /^Not run/);
  assert.deepEqual(
    model.requests.map((request) => request.status),
    [200, 200],
  );
});

test(
  'R3: an edit before the run replaces the words, during it is a follow-up, after it is nothing',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat } = await startWorld(t);
    const gate = createGate();
    model.script({ text: 'one', gate: () => gate.opened }, { text: 'two' });
    const first = telegram.say(chat, alice, 'first');
    await model.request(1);
    const second = telegram.say(chat, alice, 'secnod');
    telegram.editMessage(second, 'second');
    telegram.unfurl(first);
    await telegram.idle();
    gate.open();
    await telegram.waitForMessage(chat, 'two');
    assert.deepEqual(words(model.requests[1])?.at(-1), ['user', 'second']);
    telegram.editMessage(first, 'edited long after');
    await telegram.idle();
    assert.equal(model.requests.length, 2);
    assert.equal(telegram.visible(chat, { fromBot: true }).length, 2);
  },
);

test('R73: a run that would pass its cap ends budget_exceeded and says so', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway } = await startWorld(t, {
    config: { agent: { limits: { budget_usd: { run: 0.0001 } } } },
  });
  telegram.say(chat, alice, 'expensive');
  await telegram.waitForMessage(chat, 'The spending limit is reached');
  assert.equal(model.requests.length, 0, 'M3: checked before the request');
  assert.deepEqual(await gateway.db.all('select state from runs'), [{ state: 'budget_exceeded' }]);
});

test('R73: what a request used is booked with the price of its profile, cached tokens apart', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway } = await startWorld(t);
  model.script({ text: 'x', usage: { input: 1_000_000, cachedInput: 500_000, output: 100_000 } });
  telegram.say(chat, alice, 'count');
  await telegram.waitForMessage(chat, 'x');
  const rows = await gateway.db.all('select input_tokens, cached_input_tokens, output_tokens, cost_usd from ledger');
  // 0.5 M at 1 $ + 0.5 M at 0.1 $ + 0.1 M at 10 $
  assert.deepEqual(rows, [
    { input_tokens: 1_000_000, cached_input_tokens: 500_000, output_tokens: 100_000, cost_usd: 1.55 },
  ]);
});

test(
  'R74, K62: a model that cannot be reached is told in chat with an id, and the next turn works',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat, gateway } = await startWorld(t, { config: { model: { retries: 0 } } });
    model.script({ status: 500 }, { text: 'back again' });
    telegram.say(chat, alice, 'hello');
    const notice = await telegram.waitForMessage(chat, 'The model cannot be reached right now.');
    const run = await gateway.db.get<{ id: string; state: string }>('select id, state from runs');
    assert.equal(run?.state, 'failed');
    assert.ok(notice.text.includes(run?.id ?? '-'));
    telegram.say(chat, alice, 'again?');
    await telegram.waitForMessage(chat, 'back again');
  },
);

test('max_steps ends a run that never stops calling tools', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, { config: { agent: { limits: { max_steps: 3 } } } });
  model.respond(() => ({ calls: [{ name: 'store_list', input: {} }] }));
  telegram.say(chat, alice, 'loop');
  await telegram.waitForMessage(chat, 'I stopped after 3 steps without a final answer.');
  assert.equal(model.requests.length, 3);
});

test('M2: unknown tools and wrong arguments get a result that shows a right call', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script(
    {
      calls: [
        { name: 'no_such_tool', input: {} },
        { name: 'store_set', input: { key: 1 } },
        { name: 'store_get', rawArguments: '{"key": ' },
      ],
    },
    { text: 'ok' },
  );
  telegram.say(chat, alice, 'try');
  await telegram.waitForMessage(chat, 'ok');
  const results = model.requests[1]?.messages.flatMap((message) => message.results.map((result) => result.text)) ?? [];
  assert.equal(results.length, 3);
  assert.match(results[0] ?? '', /There is no tool "no_such_tool" here/);
  assert.match(results[1] ?? '', /store_set was not run: .*follow this schema/);
  assert.match(results[2] ?? '', /store_get was not run: the arguments are not a JSON object/);
});

test('read-only calls run side by side, ten at most; the others one after another in order', bounded, async (t) => {
  const log: string[] = [];
  let open = 0;
  let most = 0;
  const all = createGate();
  const { telegram, model, alice, chat } = await startWorld(t, {
    config: { agent: { capabilities: ['look', 'write'] } },
    capabilities: [
      capabilityOf('look', {
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        async call() {
          open += 1;
          most = Math.max(most, open);
          if (open === 10) all.open();
          await all.opened;
          open -= 1;
          return { content: 'seen' };
        },
      }),
      capabilityOf('write', {
        async call(input) {
          log.push(`begin ${input.n}`);
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`end ${input.n}`);
          return { content: 'written' };
        },
      }),
    ],
  });
  const looks = Array.from({ length: 12 }, () => ({ name: 'look', input: {} }));
  model.script(
    { calls: [...looks, { name: 'write', input: { n: 1 } }, { name: 'write', input: { n: 2 } }] },
    { text: 'done' },
  );
  telegram.say(chat, alice, 'go');
  await telegram.waitForMessage(chat, 'done');
  assert.equal(most, 10);
  assert.deepEqual(log, ['begin 1', 'end 1', 'begin 2', 'end 2']);
});

test('M1: the prefix is the same bytes within a run and up to the last finished exchange', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, { config: { agent: { capabilities: ['clock'] } } });
  model.script({ calls: [{ name: 'store_list', input: {} }] }, { text: 'one' }, { text: 'two' });
  telegram.say(chat, alice, 'm1');
  await telegram.waitForMessage(chat, 'one');
  telegram.say(chat, alice, 'm2');
  await telegram.waitForMessage(chat, 'two');
  const raw = model.requests.map((request) => request.raw as { messages: unknown[]; tools: unknown });
  assert.equal(JSON.stringify(raw[0]?.tools), JSON.stringify(raw[2]?.tools));
  // Within the run: the first request's messages stand unchanged at the head of the second's.
  assert.equal(JSON.stringify(raw[1]?.messages.slice(0, raw[0]?.messages.length)), JSON.stringify(raw[0]?.messages));
  assert.match(JSON.stringify(raw[0]?.messages.at(-2)), /\[Context\]/);
  assert.deepEqual(words(model.requests[2])?.slice(0, 2), [
    ['user', 'm1'],
    ['assistant', 'one'],
  ]);
});

test('R23: what falls out of the window is summarised once and stands in front', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway } = await startWorld(t);
  model.script({ text: 'first' }, { text: 'Alice likes green.' }, { text: 'second' }, { text: 'third' });
  telegram.say(chat, alice, 'hello');
  await telegram.waitForMessage(chat, 'first');
  const { id } = (await gateway.db.get<{ id: string }>('select id from conversations')) as { id: string };
  const turns = Array.from({ length: 200 }, (_, n) => ({
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: `turn ${n}`,
  }));
  await gateway.db.tx((q) => appendTurns(q, { id, turns: 2 }, 'run', turns, 1));
  telegram.say(chat, alice, 'and now?');
  await telegram.waitForMessage(chat, 'second');
  assert.match(model.requests[1]?.instructions ?? '', /Summarise what was said/);
  assert.equal(model.requests[1]?.messages.length, 101, 'the hundred that fell out and the request to summarise them');
  const request = model.requests[2];
  assert.equal(request?.messages[0]?.text, '[Summary of the earlier conversation]\nAlice likes green.');
  assert.equal(request?.messages.length, 1 + 102 + 1);
  assert.equal(request?.messages[1]?.text, 'turn 98');
  telegram.say(chat, alice, 'more');
  await telegram.waitForMessage(chat, 'third');
  assert.equal(model.requests.length, 4, 'not summarised again');
  assert.equal(model.requests[3]?.messages[0]?.text, request?.messages[0]?.text, 'M1: the same bytes in front');
  const ledger = await gateway.db.all('select id from ledger');
  assert.equal(ledger.length, 4, 'the summary is booked');
});
