/** The scripted model server refuses what the real ones refuse; a test over it would else prove nothing. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/types/json.ts';
import { type ModelServer, startModelServer, type WireName } from '../emulators/model_server.ts';
import { within } from '../support/within.ts';

const paths: Record<WireName, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  anthropic: '/v1/messages',
  google: '/v1beta/models/gemini-3-pro:generateContent',
};

async function post(url: string, wire: WireName, body: JsonObject): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${paths[wire]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  });
  return { status: response.status, text: await response.text() };
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'get', arguments: '{}' } });
const use = (id: string) => ({ type: 'tool_use', id, name: 'get', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
const user = { role: 'user', content: 'hi' };
const chat = (...messages: JsonObject[]) => ({ model: 'm', messages: [user, ...messages] });
const claude = (...messages: JsonObject[]) => ({ model: 'm', max_tokens: 9, messages: [user, ...messages] });
const responses = (...input: JsonObject[]) => ({ model: 'm', store: false, input: [user, ...input] });
const gemini = (...contents: JsonObject[]) => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }, ...contents] });

const refused: [WireName, string, JsonObject, RegExp][] = [
  [
    'chat',
    'a call without a result',
    chat({ role: 'assistant', tool_calls: [call('c1')] }, user),
    /did not have response messages: c1/,
  ],
  [
    'chat',
    'a call without a result at the end',
    chat({ role: 'assistant', tool_calls: [call('c1')] }),
    /did not have response messages: c1/,
  ],
  [
    'chat',
    'a result without a call',
    chat({ role: 'tool', tool_call_id: 'c1', content: 'x' }),
    /must be a response to a preceeding message/,
  ],
  [
    'chat',
    'two results for one call',
    chat(
      { role: 'assistant', tool_calls: [call('c1')] },
      ...[1, 2].map(() => ({ role: 'tool', tool_call_id: 'c1', content: 'x' })),
    ),
    /must be a response to a preceeding message/,
  ],
  ['chat', 'an id twice', chat({ role: 'assistant', tool_calls: [call('c1'), call('c1')] }), /Duplicate/],
  ['chat', 'empty content', chat({ role: 'user', content: '' }), /must be non-empty/],
  ['chat', 'an assistant that says nothing', chat({ role: 'assistant', content: null }), /expected a string, got null/],
  ['chat', 'no messages', { model: 'm', messages: [] }, /is too short/],
  ['chat', 'an empty list of tools', { ...chat(), tools: [] }, /is too short/],
  [
    'responses',
    'a call without output',
    responses({ type: 'function_call', call_id: 'c1', name: 'get', arguments: '{}' }),
    /No tool output found for function call c1/,
  ],
  [
    'responses',
    'an output without call',
    responses({ type: 'function_call_output', call_id: 'c1', output: 'x' }),
    /No tool call found .* call_id c1/,
  ],
  [
    'responses',
    'foreign reasoning',
    responses(
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA.bm8', summary: [] },
      { role: 'assistant', content: 'x' },
    ),
    /could not be verified/,
  ],
  ['anthropic', 'two of one role', claude(user), /roles must alternate/],
  [
    'anthropic',
    'a use without result',
    claude({ role: 'assistant', content: [use('t1')] }, user),
    /ids were found without `tool_result` blocks immediately after: t1/,
  ],
  [
    'anthropic',
    'a result without use',
    claude({ role: 'assistant', content: 'ok' }, { role: 'user', content: [result('t1')] }),
    /unexpected `tool_use_id`/,
  ],
  [
    'anthropic',
    'a result behind text',
    claude(
      { role: 'assistant', content: [use('t1')] },
      { role: 'user', content: [{ type: 'text', text: 'well' }, result('t1')] },
    ),
    /immediately after: t1/,
  ],
  [
    'anthropic',
    'a use id twice',
    claude({ role: 'assistant', content: [use('t1'), use('t1')] }, user),
    /ids must be unique/,
  ],
  ['anthropic', 'text of blanks', claude({ role: 'assistant', content: ' ' }, user), /must be non-empty/],
  [
    'anthropic',
    'an assistant at the end',
    claude({ role: 'assistant', content: 'So' }),
    /must end with a user message/,
  ],
  ['anthropic', 'no max_tokens', { model: 'm', messages: [user] }, /max_tokens: Field required/],
  [
    'anthropic',
    'changed thinking',
    claude({ role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'y' }] }, user),
    /Invalid `signature` in `thinking` block/,
  ],
  [
    'anthropic',
    'five breakpoints',
    claude(
      { role: 'assistant', content: 'a' },
      { role: 'user', content: Array(5).fill({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }) },
    ),
    /Found 5/,
  ],
  [
    'google',
    'a call without response',
    gemini(
      { role: 'model', parts: [{ functionCall: { name: 'get', args: {} } }] },
      { role: 'user', parts: [{ text: 'x' }] },
    ),
    /number of function response parts/,
  ],
];

describe('model server', { timeout: 20_000 }, () => {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());

  for (const [wire, what, body, words] of refused)
    test(`${wire} refuses ${what}`, async () => {
      const { status, text } = await post(server.url, wire, body);
      assert.equal(status, 400);
      assert.match(JSON.parse(text).error.message, words);
      assert.match(server.requests.at(-1)?.refusal ?? '', words);
    });

  test('answers whole bodies to those who do not stream', async () => {
    const answer = { text: 'Hello', calls: [{ name: 'get', input: { a: 1 } }] };
    server.script(answer, answer, answer, answer);
    const chatBody = JSON.parse((await post(server.url, 'chat', chat())).text);
    assert.equal(chatBody.choices[0].message.content, 'Hello');
    assert.equal(chatBody.choices[0].message.tool_calls[0].function.arguments, '{"a":1}');
    const items = JSON.parse((await post(server.url, 'responses', responses())).text).output;
    assert.deepEqual(
      items.map((item: JsonObject) => item.type),
      ['message', 'function_call'],
    );
    const claudeBody = JSON.parse((await post(server.url, 'anthropic', claude())).text);
    assert.deepEqual(claudeBody.content[1].input, { a: 1 });
    assert.equal(claudeBody.stop_reason, 'tool_use');
    const geminiBody = JSON.parse((await post(server.url, 'google', gemini())).text);
    assert.deepEqual(geminiBody.candidates[0].content.parts[1].functionCall.args, { a: 1 });
  });

  test('lets a test stand between receiving and answering', async (t) => {
    const order: string[] = [];
    const hooked = await startModelServer({
      onRequest: (request) => void order.push(`received ${request.number}`),
      beforeAnswer: () => void order.push('answering'),
      afterAnswer: () => void order.push('answered'),
    });
    t.after(() => hooked.close());
    await post(hooked.url, 'chat', chat());
    assert.deepEqual(order, ['received 1', 'answering', 'answered']);
    assert.equal((await hooked.request(1)).at > 1_700_000_000_000, true);
    await assert.rejects(hooked.request(2, 10), /request 2 did not come within 10 ms \(1 came\)/);
  });

  test('instant mode answers every wire and records nothing', async (t) => {
    const instant = await startModelServer({ instant: 'pong' });
    t.after(() => instant.close());
    for (const wire of ['chat', 'responses', 'anthropic', 'google'] as const) {
      const { status, text } = await post(instant.url, wire, { stream: true, ...chat() });
      assert.equal(status, 200);
      assert.ok(text.includes('pong'), text);
      assert.equal(text.includes('data: '), wire !== 'google', wire);
    }
    assert.equal(instant.requests.length, 0);
  });

  test('runs as a program', async () => {
    const program = spawn(process.execPath, ['test/emulators/model_server.ts', '--answer', 'from a program']);
    try {
      const [line] = (await within(10_000, 'its address', once(program.stdout, 'data'))) as [Buffer];
      const { text } = await post(line.toString().trim(), 'chat', chat());
      assert.equal(JSON.parse(text).choices[0].message.content, 'from a program');
    } finally {
      program.kill();
      await once(program, 'exit');
    }
  });
});
