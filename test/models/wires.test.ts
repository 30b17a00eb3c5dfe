/** One suite over every provider: what comes back is the same, whatever wire it came through. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { createModel } from '../../src/models/create_model.ts';
import type { ModelAnswer, ModelMessage, ModelRequest } from '../../src/types/model.ts';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import {
  ask,
  createLogRecorder,
  createRecorder,
  profileOf,
  type Recorder,
  requestOf,
  type WireCase,
  wires,
} from './wires.ts';

for (const wire of wires) describe(`wire ${wire.wire}`, { timeout: 20_000 }, () => suite(wire));

function suite(wire: WireCase): void {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());

  function send(request: ModelRequest, recorder: Recorder = createRecorder()): Promise<ModelAnswer> {
    const profile = profileOf(wire, server.url, { retries: 0 });
    const model = createModel('main', { main: profile }, { clock: systemClock, log: createLogRecorder().log });
    return model.ask(request, recorder, AbortSignal.timeout(10_000));
  }

  test('text arrives in pieces and whole', async () => {
    server.script({ pieces: ['Good ', 'morning, ', 'Ana.'], usage: { input: 120, cachedInput: 100, output: 7 } });
    const recorder = createRecorder();
    const answer = await send(requestOf(ask('Say good morning')), recorder);
    assert.deepEqual(recorder.deltas, ['Good ', 'morning, ', 'Ana.']);
    assert.equal(answer.text, 'Good morning, Ana.');
    assert.deepEqual(answer.calls, []);
    assert.equal(answer.finish, 'stop');
    assert.equal(answer.profile, 'main');
    assert.deepEqual(answer.usage, { input: 120, cachedInput: 100, output: 7 });
    assert.deepEqual(answer.message, { role: 'assistant', text: 'Good morning, Ana.', calls: [] });
    assert.deepEqual(recorder.spent, []);
  });

  test('the server gets instructions, tools in the given order, and a bound for the output', async () => {
    server.script({ text: 'ok' });
    await send(requestOf(ask('hello')));
    const seen = server.requests.at(-1)!;
    assert.equal(seen.wire, wire.wire);
    assert.equal(seen.model, wire.model);
    assert.equal(seen.stream, true);
    assert.equal(seen.instructions, 'You are a careful assistant.');
    assert.deepEqual(
      seen.tools.map((tool) => tool.name),
      ['store_get', 'store_set'],
    );
    assert.deepEqual(
      seen.messages.map((message) => [message.role, message.text]),
      [['user', 'hello']],
    );
    assert.equal(seen.maxOutputTokens, 1_000);
    if (wire.wire === 'responses') assert.equal(seen.raw.store, false);
    if (wire.wire === 'responses') assert.equal(seen.raw.prompt_cache_key, 'run-1');
  });

  test('several calls in one step come out in order, their results go back, also a refused one', async () => {
    server.script(
      {
        text: 'Let me look.',
        calls: [
          { name: 'store_get', input: { key: 'a' } },
          { name: 'store_set', input: { key: 'b', value: '{"x": "ü"}' } },
        ],
      },
      { text: 'Done.' },
    );
    const first = await send(requestOf(ask('look')));
    assert.equal(first.finish, 'tool_calls');
    assert.deepEqual(
      first.calls.map(({ name, input }) => ({ name, input })),
      [
        { name: 'store_get', input: { key: 'a' } },
        { name: 'store_set', input: { key: 'b', value: '{"x": "ü"}' } },
      ],
    );
    const results: ModelMessage = {
      role: 'tool',
      results: [
        { id: first.calls[0]!.id, name: 'store_get', content: 'forty-two', isError: false },
        { id: first.calls[1]!.id, name: 'store_set', content: 'denied by Ana: not today', isError: true },
      ],
    };
    const second = await send(requestOf([...ask('look'), first.message, results]));
    assert.equal(second.text, 'Done.');
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    assert.deepEqual(
      seen.messages.map((message) => message.role),
      ['user', 'assistant', 'tool'],
    );
    assert.deepEqual(
      seen.messages[1]!.calls.map((call) => call.input),
      [{ key: 'a' }, { key: 'b', value: '{"x": "ü"}' }],
    );
    assert.deepEqual(
      seen.messages[2]!.results.map((result) => result.text),
      ['forty-two', 'denied by Ana: not today'],
    );
    if (wire.wire === 'anthropic')
      assert.deepEqual(
        seen.messages[2]!.results.map((result) => result.isError),
        [false, true],
      );
  });

  test('reasoning survives the database and is replayed as the provider wants it', async () => {
    server.script(
      { reasoning: 'The key is a.', calls: [{ name: 'store_get', input: { key: 'a' } }] },
      { text: 'It is 42.' },
    );
    const first = await send(requestOf(ask('what is a?')));
    assert.equal(first.text, '');
    const stored = JSON.parse(JSON.stringify(first.message)) as ModelMessage;
    await send(
      requestOf([
        ...ask('what is a?'),
        stored,
        { role: 'tool', results: [{ id: first.calls[0]!.id, name: 'store_get', content: '42', isError: false }] },
      ]),
    );
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    assert.equal(seen.messages[1]!.calls.length, 1);
    const carried = JSON.stringify(seen.messages[1]!.reasoning);
    const expected = {
      responses: 'gAAAA.',
      chat: 'The key is a.',
      anthropic: 'signature',
      google: 'VGhlIGtleSBpcyBhLg==',
    };
    assert.ok(carried.includes(expected[wire.wire]), carried);
  });

  // Google's wire carries arguments as an object, so they cannot be malformed there.
  const malformed = wire.wire === 'google' ? () => {} : test;
  malformed(
    'arguments that are no object are given raw, and what the model sees of them later is accepted',
    async () => {
      server.script(
        {
          calls: [
            { name: 'store_get', rawArguments: '{"key": "a' },
            { name: 'store_get', rawArguments: '[1]' },
          ],
        },
        { text: 'Sorry.' },
      );
      const first = await send(requestOf(ask('go')));
      assert.deepEqual(
        first.calls.map((call) => call.input),
        ['{"key": "a', [1]],
      );
      const results = first.calls.map((call) => ({
        id: call.id,
        name: call.name,
        content: 'try again',
        isError: true,
      }));
      await send(requestOf([...ask('go'), first.message, { role: 'tool', results }]));
      const seen = server.requests.at(-1)!;
      assert.equal(seen.refusal, null);
      assert.deepEqual(
        seen.messages[1]!.calls.map((call) => call.input),
        [{ not_a_json_object: '{"key": "a' }, { not_a_json_object: '[1]' }],
      );
    },
  );

  test('a tool nobody gave comes out as a call; its name is made acceptable when it is replayed', async () => {
    server.script({ calls: [{ name: 'rm -rf /', input: {} }] }, { text: 'Sorry.' });
    const first = await send(requestOf(ask('go')));
    assert.deepEqual(
      first.calls.map((call) => call.name),
      ['rm -rf /'],
    );
    const results = [{ id: first.calls[0]!.id, name: 'rm -rf /', content: 'there is no such tool', isError: true }];
    await send(requestOf([...ask('go'), first.message, { role: 'tool', results }]));
    assert.equal(server.requests.at(-1)!.refusal, null);
    assert.equal(server.requests.at(-1)!.messages[1]!.calls[0]!.name, 'rm_-rf__');
  });

  test('M2: ids that come twice, in one answer or in a later one, are told apart', async () => {
    const twice = {
      calls: [
        { name: 'store_get', input: { key: 'a' }, id: 'call_0' },
        { name: 'store_get', input: { key: 'b' }, id: 'call_0' },
      ],
    };
    server.script(twice, twice, { text: 'ok' });
    const messages = ask('go');
    for (let step = 0; step < 2; step++) {
      const answer = await send(requestOf(messages));
      const results = answer.calls.map((call) => ({ id: call.id, name: call.name, content: 'x', isError: false }));
      messages.push(answer.message, { role: 'tool', results });
    }
    await send(requestOf(messages));
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    const ids = seen.messages.flatMap((message) => message.calls.map((call) => call.id));
    assert.equal(ids.length, 4);
    assert.equal(new Set(ids).size, 4);
  });

  test('messages without content are not sent empty', async () => {
    server.script({ text: 'ok' });
    await send(
      requestOf([
        { role: 'user', content: ' \n' },
        { role: 'assistant', text: '', calls: [{ id: 'call_1', name: 'store_get', input: { key: 'a' } }] },
        { role: 'tool', results: [{ id: 'call_1', name: 'store_get', content: '', isError: false }] },
        { role: 'assistant', text: '\n', calls: [] },
        { role: 'user', content: 'and now?' },
      ]),
    );
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    assert.equal(seen.messages[0]!.text, '(a message without text)');
    assert.equal(seen.messages[2]!.results[0]!.text, '(no output)');
  });

  test('pictures go along with the text', async () => {
    server.script({ text: 'a dot' });
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await send(requestOf([{ role: 'user', content: 'what is it?', images: [{ mime: 'image/png', base64: png }] }]));
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    assert.equal(seen.messages[0]!.images, 1);
    assert.ok(seen.body.includes(png));
  });

  test('an answer cut by its length or by a filter says so', async () => {
    server.script({ text: 'And then', finish: 'length' }, { text: 'I ca', finish: 'content_filter' });
    assert.equal((await send(requestOf(ask('tell')))).finish, 'length');
    assert.equal((await send(requestOf(ask('tell')))).finish, 'content_filter');
  });

  test('no tools, no instructions: nothing is sent for them', async () => {
    server.script({ text: 'ok' });
    await send(requestOf(ask('hi'), { tools: [], instructions: '' }));
    const seen = server.requests.at(-1)!;
    assert.equal(seen.refusal, null);
    assert.equal(seen.instructions, '');
    assert.deepEqual(seen.tools, []);
  });
}
