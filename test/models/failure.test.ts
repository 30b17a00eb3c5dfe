/** What is told about failures, which ones a fallback or a repair helps with, and the bounds of an answer. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { ModelMessage } from '../../src/types/model.ts';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import { failureOf, setUp, useServers } from './set_up.ts';
import { apiKey, ask, demoProfile, profileOf, wireCase } from './wires.ts';

describe('failures of model requests', { timeout: 30_000 }, () => {
  const { server: current, start } = useServers();
  let server: ModelServer;
  beforeEach(() => {
    server = current();
  });
  const chat = wireCase('chat');

  for (const [wire, variable] of [
    ['responses', 'OPENAI_API_KEY'],
    ['chat', 'models.main.api_key'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ] as const)
    test(`a wrong key on ${wire} names the profile and the variable, never the key`, async () => {
      const strict = await start({ apiKey: 'another-key' });
      const { ask: send, logged } = setUp([profileOf(wireCase(wire), strict.url)]);
      const error = await failureOf(send());
      assert.equal(error.kind, 'misconfigured');
      assert.match(error.message, /model profile "main"/);
      assert.ok(error.hint?.includes(variable), error.hint);
      const told = `${error.stack} ${error.hint} ${JSON.stringify(error.cause ?? null)} ${JSON.stringify(logged.lines)}`;
      assert.equal(told.includes(apiKey), false);
      assert.equal(strict.requests.length, 1, 'a wrong key is not retried');
    });

  test('a provider that echoes the key in another error does not bring it into ours', async () => {
    const own = 'a key of one house';
    server.script({ status: 400, message: `no such option for ${own}, ${apiKey}` });
    const { ask: send, logged } = setUp([profileOf(chat, server.url, { apiKey: own })]);
    const error = await failureOf(send());
    assert.match(error.message, /no such option for \[key\], \[key\]/);
    assert.equal(JSON.stringify(logged.lines).includes(own), false);
  });

  test('an unknown model, no credit, a redirect and a too long conversation are told apart', async () => {
    const few = await start({ models: ['gpt-5.4'] });
    const missing = await failureOf(setUp([profileOf(chat, few.url)]).ask());
    assert.equal(missing.kind, 'misconfigured');
    assert.match(missing.hint ?? '', /models\.main\.model/);
    server.script(
      { status: 429, message: 'You exceeded your current quota', code: 'insufficient_quota' },
      { status: 307, headers: { location: `${few.url}/v1/chat/completions` } },
      { status: 400, message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' },
    );
    const kinds: string[] = [];
    for (let index = 0; index < 3; index++)
      kinds.push((await failureOf(setUp([profileOf(chat, server.url, { retries: 0 })]).ask())).kind);
    assert.deepEqual(kinds, ['misconfigured', 'misconfigured', 'too_long']);
    assert.equal(few.requests.length, 1, 'the key is not carried to where a redirect points');
  });

  test('what is too long goes only to a fallback that reads more', async () => {
    server.respond((request) =>
      request.model === 'large' ? { text: 'read it all' } : { status: 400, message: 'prompt is too long: 9 > 8' },
    );
    const small = profileOf(chat, server.url, { contextWindow: 8_000, fallbacks: ['same', 'demo', 'large'] });
    const { ask: send } = setUp([
      small,
      profileOf(chat, server.url, { name: 'same', model: 'same', contextWindow: 8_000 }),
      demoProfile,
      profileOf(chat, server.url, { name: 'large', model: 'large', contextWindow: 100_000 }),
    ]);
    assert.equal((await send()).text, 'read it all');
    assert.deepEqual(
      server.requests.map((request) => request.model),
      ['qwen3', 'large'],
    );
  });

  test('a server behind provider openai that knows no /responses is spoken to in chat completions', async () => {
    const old = await start({ missing: ['/responses'] });
    const { ask: send } = setUp([profileOf(wireCase('responses'), old.url)]);
    assert.equal((await send()).text, 'You said: hi');
    assert.equal((await send()).text, 'You said: hi');
    assert.deepEqual(
      old.requests.map((request) => request.wire),
      ['chat', 'chat'],
    );
  });

  test('native parts that the provider no longer opens are left out on a second try', async () => {
    const messages: ModelMessage[] = [
      ...ask('a?'),
      {
        role: 'assistant',
        text: 'Hm.',
        calls: [],
        native: {
          provider: 'anthropic:main:claude-sonnet-4-5',
          messages: [
            { type: 'reasoning', text: 'old', providerOptions: { anthropic: { signature: 'of a key long gone' } } },
            { type: 'text', text: 'Hm.' },
          ],
        },
      },
      ...ask('and?'),
    ];
    const { ask: send } = setUp([profileOf(wireCase('anthropic'), server.url)]);
    assert.equal((await send(messages)).text, 'You said: and?');
    assert.deepEqual(
      server.requests.map((request) => request.refusal === null),
      [false, true],
    );
  });

  test('a key is sent only where there is one', async () => {
    await setUp([profileOf(chat, server.url, { apiKey: null })]).ask();
    await setUp([profileOf(chat, server.url)]).ask();
    assert.equal(server.requests[0]!.headers.authorization, undefined);
    assert.equal(server.requests[1]!.headers.authorization, `Bearer ${apiKey}`);
  });

  test('an answer without bounds is cut: text at its limit, arguments too', async () => {
    server.script({ pieces: ['x'.repeat(300_000), 'y'.repeat(300_000)] });
    const { ask: send, recorder } = setUp([profileOf(chat, server.url)]);
    const answer = await send();
    assert.equal(answer.text.length, 400_000);
    assert.equal(answer.finish, 'length');
    assert.equal(recorder.deltas.join('').length, 400_000);
    assert.equal(server.requests.length, 1);
  });

  test('bytes without end are cut', async () => {
    const filler = 'z'.repeat(1024 * 1024);
    server.script({ reasoning: filler.repeat(17), text: 'late' });
    const error = await failureOf(setUp([profileOf(chat, server.url)]).ask());
    assert.equal(error.kind, 'refused');
    assert.match(error.message, /larger than 16777216 bytes/);
  });

  test('nothing listens: the error names the address setting', async () => {
    const gone = await startModelServer();
    await gone.close();
    const error = await failureOf(setUp([profileOf(chat, gone.url, { retries: 0 })]).ask());
    assert.equal(error.kind, 'unavailable');
    assert.match(error.message, /ECONNREFUSED/);
    assert.match(error.hint ?? '', /models\.main\.base_url/);
  });
});
