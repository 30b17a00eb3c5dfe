/** The demo model: what it says and does is fixed, so literal answers are the test. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createModel } from '../../src/models/create_model.ts';
import type { ModelAnswer, ModelMessage } from '../../src/types/model.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { ask, createLogRecorder, createRecorder, demoProfile, requestOf, tools } from './wires.ts';

const recorder = createRecorder();

function send(messages: ModelMessage[], given = tools): Promise<ModelAnswer> {
  const model = createModel(
    'demo',
    { demo: demoProfile },
    { clock: createFakeClock(), log: createLogRecorder().log, demoPieceMs: 0 },
  );
  return model.ask(requestOf(messages, { tools: given }), recorder, new AbortController().signal);
}

describe('demo model', { timeout: 10_000 }, () => {
  test('words after a call instead of JSON get an answer that says how to write it', async () => {
    const { text, calls } = await send(ask('call store_get colour'));
    assert.equal(
      text,
      'I did not call store_get: write what it needs as JSON, such as `call store_get {"key": "value"}`.',
    );
    assert.deepEqual(calls, []);
    assert.match((await send(ask('call my mother'))).text, /^You wrote: “call my mother”/);
  });

  test('says what it is, how to get a real one, and what the person wrote', async () => {
    const { text, calls, finish, profile } = await send(ask('What is the capital of Peru?'));
    assert.match(text, /^You wrote: “What is the capital of Peru\?”\. I am the demo model/);
    assert.match(
      text,
      /set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run Ollama, and start again: docs\/getting-started\.md, step 2\./,
    );
    assert.deepEqual([calls, finish, profile], [[], 'stop', 'demo']);
  });

  for (const question of [
    'what tools do you have?',
    'Which tools can you use',
    'tools?',
    'help',
    'Ana: list your tools',
  ])
    test(`"${question}" lists the tools it was given`, async () => {
      assert.equal(
        (await send(ask(question))).text,
        'I was given these tools:\n\n- `store_get`: Gives the value stored under a key.\n' +
          '- `store_set`: Stores a value under a key.\n\nWrite `call NAME {"key": "value"}` and I call one.',
      );
      assert.equal((await send(ask(question), [])).text, 'I was given no tools here.');
    });

  test('a sentence that merely mentions help or a tool is no question about tools', async () => {
    for (const text of ['please help me write a letter', 'the tool broke', 'what a day. tools are fun'])
      assert.match((await send(ask(text))).text, /^You wrote: /);
  });

  test('`call` lines are calls, several at once, with JSON over lines, a speaker before them', async () => {
    const text =
      'Ana: call store_set {"key": "a}",\n "value": "{\\"x\\": 1}"}\ncall store_get {"key":"a}"}\nCALL store_get';
    const answer = await send(ask(text));
    assert.deepEqual(answer.calls, [
      { id: 'demo_1', name: 'store_set', input: { key: 'a}', value: '{"x": 1}' } },
      { id: 'demo_2', name: 'store_get', input: { key: 'a}' } },
      { id: 'demo_3', name: 'store_get', input: {} },
    ]);
    assert.equal(answer.finish, 'tool_calls');
    assert.deepEqual(answer.message, { role: 'assistant', text: answer.text, calls: answer.calls });
  });

  test('in a room the mention of the bot may stand between the speaker and the call', async () => {
    const { calls } = await send(ask('Ana: @gate_bot call store_get {"key": "a"}'));
    assert.deepEqual(calls, [{ id: 'demo_1', name: 'store_get', input: { key: 'a' } }]);
  });

  test('malformed JSON comes out raw', async () => {
    assert.deepEqual((await send(ask('call store_get {"key": '))).calls[0]?.input, '{"key": ');
  });

  test('a tool it was not given is named, with the ones it has; the others are called all the same', async () => {
    const { text, calls } = await send(ask('call rm {}\ncall store_get {"key": "a"}'));
    assert.match(text, /^I was not given a tool named rm\. I was given these tools:/);
    assert.deepEqual(
      calls.map((call) => call.name),
      ['store_get'],
    );
  });

  test('results are told in plain words, and what was asked before is not called again', async () => {
    const question = 'call store_get {"key": "a"}\ncall store_set {"key": "b", "value": "c"}';
    const first = await send(ask(question));
    const transcript: ModelMessage[] = [
      ...ask(question),
      first.message,
      {
        role: 'tool',
        results: [
          { id: 'demo_1', name: 'store_get', content: 'forty-two', isError: false },
          { id: 'demo_2', name: 'store_set', content: 'denied', isError: true },
        ],
      },
      { role: 'user', content: '<now>10:00</now>' },
    ];
    const second = await send(transcript);
    assert.equal(second.text, 'store_get answered: forty-two\n\nstore_set failed: denied');
    assert.deepEqual(second.calls, []);
    const third = await send([...transcript, second.message, ...ask('call store_get {"key": "z"}')]);
    assert.deepEqual(
      third.calls.map((call) => call.id),
      ['demo_3'],
      'ids are new in the transcript',
    );
  });

  test('it is seen being written, in less than a second and a half, and stops when told', async () => {
    const clock = createFakeClock(0);
    const model = createModel('demo', { demo: demoProfile }, { clock, log: createLogRecorder().log });
    const seen = createRecorder();
    const answer = model.ask(requestOf(ask('word '.repeat(40))), seen, new AbortController().signal);
    await clock.advance(20);
    assert.ok(seen.deltas.length >= 1 && seen.deltas.length <= 3, `${seen.deltas.length}`);
    await clock.advance(1_480);
    assert.equal(seen.deltas.join(''), (await answer).text);
    assert.deepEqual(clock.pending(), []);
    const controller = new AbortController();
    const stopped = model.ask(requestOf(ask('hi')), seen, controller.signal);
    await clock.advance(20);
    controller.abort(new Error('stop'));
    await assert.rejects(stopped, /stop/);
    assert.deepEqual(clock.pending(), []);
  });

  test('it counts tokens roughly', async () => {
    const { usage } = await send(ask('hi'));
    assert.ok(usage.input > 10 && usage.input < 60 && usage.output > 50 && usage.output < 150, JSON.stringify(usage));
  });
});
