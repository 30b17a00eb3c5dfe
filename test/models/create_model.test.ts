/** Rules 74, 75 and M3: attempts, waits, fallbacks, and stopping. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { ModelMessage } from '../../src/types/model.ts';
import type { ModelServer } from '../emulators/model_server.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { within } from '../support/within.ts';
import { failureOf, setUp, useServers } from './set_up.ts';
import { ask, demoProfile, profileOf, wireCase } from './wires.ts';

describe('createModel', { timeout: 30_000 }, () => {
  const { server: current, start } = useServers();
  let server: ModelServer;
  beforeEach(() => {
    server = current();
  });
  const chat = wireCase('chat');

  test('R74: 529, 503 and a dropped connection are retried with doubling waits', async () => {
    const clock = createFakeClock();
    server.script({ status: 529 }, { status: 503 }, { destroy: true }, { text: 'at last' });
    const { ask: send, logged } = setUp([profileOf(chat, server.url, { retries: 3 })], clock);
    const answer = send();
    const waits: unknown[] = [];
    for (let failed = 1; failed <= 3; failed++) {
      const line = logged.lines.filter(({ message }) => message.endsWith('trying again'))[failed - 1];
      const { fields } =
        line ?? (await within(5_000, `failure ${failed}`, logged.line('model request failed, trying again')));
      waits.push(fields.waitMs);
      await clock.advance(Number(fields.waitMs) - 1);
      assert.equal(server.requests.length, failed, 'no request before the wait is over');
      await clock.advance(1);
      await server.request(failed + 1);
    }
    assert.equal((await answer).text, 'at last');
    assert.deepEqual(waits, [375, 750, 1500]);
  });

  for (const [name, headers, waitMs] of [
    ['Retry-After in seconds', { 'retry-after': '7' }, 7_000],
    ['retry-after-ms', { 'retry-after-ms': '1234', 'retry-after': '9' }, 1_234],
    ['Retry-After as a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' }, 20_000],
  ] as const)
    test(`R74: ${name} is obeyed`, async () => {
      const clock = createFakeClock(Date.UTC(2026, 0, 1));
      server.script({ status: 429, headers }, { text: 'ok' });
      const { ask: send, logged } = setUp([profileOf(chat, server.url)], clock);
      const failed = logged.line('model request failed, trying again');
      const answer = send();
      assert.equal((await within(5_000, 'the 429', failed)).fields.waitMs, waitMs);
      await clock.advance(waitMs - 1);
      assert.equal(server.requests.length, 1);
      await clock.advance(1);
      assert.equal((await answer).text, 'ok');
    });

  test('R74: a Retry-After beyond a minute goes to the fallback at once', async () => {
    server.script({ status: 429, headers: { 'retry-after': '61' } });
    const { ask: send } = setUp([profileOf(chat, server.url, { fallbacks: ['demo'] }), demoProfile]);
    const answer = await send();
    assert.equal(answer.profile, 'demo');
    assert.equal(server.requests.length, 1);
  });

  test('R74: retries end, then the error says what happened; a 400 is not retried', async () => {
    const clock = createFakeClock();
    server.respond(() => ({ status: 500, message: 'The server had an error' }));
    const { ask: send, logged } = setUp([profileOf(chat, server.url, { retries: 1 })], clock);
    const failed = logged.line('model request failed, trying again');
    const failure = failureOf(send());
    await within(5_000, 'the first failure', failed);
    await clock.advance(10_000);
    const error = await failure;
    assert.equal(error.kind, 'unavailable');
    assert.match(error.message, /model profile "main" \(openai_compatible qwen3\).*500.*The server had an error/);
    assert.equal(server.requests.length, 2);
    server.respond(() => ({ status: 400, message: 'bad parameter' }));
    assert.equal((await failureOf(send())).kind, 'refused');
    assert.equal(server.requests.length, 3);
  });

  test('R74: fallbacks are tried in order, theirs too; native parts of another profile are not sent', async () => {
    const other = await start();
    server.script({ status: 500 });
    other.script({ status: 500 }, { text: 'from the third' });
    const anthropic = wireCase('anthropic');
    const messages: ModelMessage[] = [
      ...ask('what is a?'),
      {
        role: 'assistant',
        text: '',
        calls: [{ id: 'functions.get:0', name: 'store_get', input: { key: 'a' } }],
        native: {
          provider: 'chat:main:qwen3',
          messages: [
            { type: 'reasoning', text: 'secret thought' },
            { type: 'tool-call', toolCallId: 'functions.get:0', toolName: 'store_get', input: { key: 'a' } },
          ],
        },
      },
      { role: 'tool', results: [{ id: 'functions.get:0', name: 'store_get', content: '42', isError: false }] },
    ];
    const { ask: send } = setUp([
      profileOf(chat, server.url, { retries: 0, fallbacks: ['second'] }),
      profileOf(chat, other.url, { name: 'second', retries: 0, fallbacks: ['third'] }),
      profileOf(anthropic, other.url, { name: 'third', retries: 0 }),
    ]);
    const answer = await send(messages);
    assert.equal(answer.text, 'from the third');
    assert.equal(answer.profile, 'third');
    assert.ok(server.requests[0]!.body.includes('secret thought'));
    assert.deepEqual(
      other.requests.map((request) => [request.wire, request.refusal]),
      [
        ['chat', null],
        ['anthropic', null],
      ],
    );
    for (const request of other.requests) {
      assert.equal(request.body.includes('secret thought'), false);
      assert.deepEqual(
        request.messages[1]!.calls.map((call) => call.input),
        [{ key: 'a' }],
      );
    }
  });

  test('R74: all fail: the first failure leads, the others are named', async () => {
    server.respond((request) => (request.model === 'qwen3' ? { status: 503 } : { status: 401 }));
    const { ask: send } = setUp([
      profileOf(chat, server.url, { retries: 0, fallbacks: ['spare'] }),
      profileOf(wireCase('anthropic'), server.url, { name: 'spare', retries: 0 }),
    ]);
    const error = await failureOf(send());
    assert.equal(error.kind, 'unavailable');
    assert.match(error.message, /"main".*503.*; fallback model profile "spare".*refused its API key/);
  });

  test('R74: a stream that breaks after text was shown is reset, then answered anew', async () => {
    const clock = createFakeClock();
    server.script({ pieces: ['Half ', 'an ', 'answer'], breakAfter: 2 }, { pieces: ['Whole.'] });
    const { ask: send, recorder, logged } = setUp([profileOf(chat, server.url)], clock);
    const failed = logged.line('model request failed, trying again');
    const answer = send();
    await within(5_000, 'the break', failed);
    assert.equal(recorder.resets, 0);
    await clock.advance(60_000);
    assert.equal((await answer).text, 'Whole.');
    assert.equal(recorder.resets, 1);
    assert.equal(recorder.deltas.at(-1), 'Whole.');
    assert.equal(recorder.spent.length, 1, 'M3: what the broken attempt used is booked');
    assert.ok(recorder.spent[0]!.usage.input > 50 && recorder.spent[0]!.usage.output > 0);
  });

  for (const wire of ['responses', 'chat', 'anthropic', 'google'] as const)
    for (const [name, broken] of [
      ['ends without its last event', { pieces: ['Half'], endAfter: 1 }],
      [
        'carries an error event',
        { pieces: ['Half'], errorAfter: { pieces: 1, type: 'overloaded_error', message: 'Overloaded' } },
      ],
    ] as const)
      test(`R74: an answer on ${wire} that ${name} is not taken for whole`, async () => {
        server.script({ ...broken, pieces: [...broken.pieces, ' more'] });
        const { ask: send, recorder } = setUp([
          profileOf(wireCase(wire), server.url, { retries: 0, fallbacks: ['demo'] }),
          demoProfile,
        ]);
        const answer = await send();
        assert.equal(answer.profile, 'demo');
        assert.equal(recorder.deltas[0], 'Half');
        assert.equal(recorder.resets, 1);
      });

  test('R75: abort rejects at once with its reason and closes the request; nothing is observed after it', async () => {
    server.script({ pieces: ['One ', 'two ', 'three'], hangAfter: 1 });
    const { ask: send, recorder } = setUp([profileOf(chat, server.url, { fallbacks: ['demo'] }), demoProfile]);
    const controller = new AbortController();
    const answer = send(ask('count'), controller.signal);
    await within(5_000, 'the first text', recorder.first);
    const reason = new Error('stopped by Ana');
    controller.abort(reason);
    await assert.rejects(answer, (error) => error === reason);
    const ended = await within(200, 'the end of the request', server.requests[0]!.ended);
    assert.equal(ended, 'client');
    assert.deepEqual(recorder.deltas, ['One ']);
    assert.equal(recorder.spent.length, 1);
    assert.equal(recorder.spent[0]!.profile, 'main');
    assert.equal(server.requests.length, 1);
  });

  test('R75: abort before the answer begins and during a wait', async () => {
    const clock = createFakeClock();
    server.script({ hang: true }, { status: 500 });
    const { ask: send, recorder, logged } = setUp([profileOf(chat, server.url)], clock);
    const first = new AbortController();
    const hanging = send(ask('hi'), first.signal);
    await server.request(1);
    first.abort(new Error('stop 1'));
    await assert.rejects(hanging, /stop 1/);
    assert.equal(await within(200, 'the end', server.requests[0]!.ended), 'client');
    const second = new AbortController();
    const failed = logged.line('model request failed, trying again');
    const waiting = send(ask('hi'), second.signal);
    await within(5_000, 'the failure', failed);
    second.abort(new Error('stop 2'));
    await assert.rejects(waiting, /stop 2/);
    assert.deepEqual(clock.pending(), [], 'no timer is left');
    assert.deepEqual(recorder.spent, []);
    await assert.rejects(send(ask('hi'), AbortSignal.abort(new Error('stop 3'))), /stop 3/);
    assert.equal(server.requests.length, 2);
  });

  test('a server that never answers, falls silent, or never ends is cut by time', async () => {
    const clock = createFakeClock();
    const gate = Promise.withResolvers<void>();
    const { ask: send, recorder } = setUp([profileOf(chat, server.url, { retries: 0, timeoutMs: 300_000 })], clock);
    server.script({ hang: true }, { pieces: ['a', 'b'], hangAfter: 1 });
    const silent = failureOf(send());
    await server.request(1);
    await clock.advance(119_999);
    assert.equal(server.requests[0]!.clientClosed, false);
    await clock.advance(1);
    assert.match((await silent).message, /no answer within 120000 ms/);
    const stopped = failureOf(send());
    await within(5_000, 'text', recorder.first);
    await clock.advance(90_000);
    assert.match((await stopped).message, /the answer stopped for 90000 ms/);
    assert.equal(await within(200, 'the end', server.requests[1]!.ended), 'client');
    server.script({ pieces: ['a', 'b'], gate: (piece) => (piece === 0 ? undefined : gate.promise) });
    const short = setUp([profileOf(chat, server.url, { retries: 0, timeoutMs: 5_000 })], clock);
    const slow = failureOf(short.ask());
    await within(5_000, 'text', short.recorder.first);
    await clock.advance(5_000);
    const error = await slow;
    assert.match(error.message, /no complete answer within 5000 ms/);
    assert.match(error.hint ?? '', /models\.main\.timeout/);
    gate.resolve();
  });
});
