/** M1: what two requests of a conversation have in common is the same bytes, so that provider caches hit. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { ModelMessage } from '../../src/types/model.ts';
import type { ModelServer, SeenRequest } from '../emulators/model_server.ts';
import { setUp, useServers } from './set_up.ts';
import { ask, profileOf, type WireCase, wireCase, wires } from './wires.ts';

describe('M1', { timeout: 20_000 }, () => {
  const { server: current } = useServers();
  let server: ModelServer;
  beforeEach(() => {
    server = current();
  });

  /** A run of two steps: the clock after the stable part changes, the answer of the first step joins it. */
  async function twoSteps(wire: WireCase): Promise<[SeenRequest, SeenRequest]> {
    server.script(
      {
        reasoning: 'I need a.',
        text: 'One moment.',
        calls: [{ name: 'store_get', input: { key: 'a', deep: { b: 1, a: 2 } } }],
      },
      { text: '42' },
    );
    const { ask: send } = setUp([profileOf(wire, server.url)]);
    const stable: ModelMessage[] = [
      ...ask('hello'),
      { role: 'assistant', text: 'Hello Ana.', calls: [] },
      ...ask('what is a?'),
    ];
    const never = new AbortController().signal;
    const first = await send([...stable, { role: 'user', content: '<now>10:00</now>' }], never, { stableMessages: 3 });
    const stored = JSON.parse(JSON.stringify(first.message)) as ModelMessage;
    stable.push(stored, {
      role: 'tool',
      results: [{ id: first.calls[0]!.id, name: 'store_get', content: '42', isError: false }],
    });
    await send([...stable, { role: 'user', content: '<now>10:01</now>' }], never, { stableMessages: 5 });
    const [one, two] = server.requests as [SeenRequest, SeenRequest];
    assert.deepEqual([one.refusal, two.refusal], [null, null]);
    return [one, two];
  }

  /** Everything before the first byte that changes from request to request; markers are not part of the prompt. */
  const stableBytes = (request: SeenRequest, until: string): string => {
    const body = request.body.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const end = body.indexOf(until);
    assert.ok(end > 0, until);
    return body.slice(body.indexOf('hello'), end);
  };

  for (const wire of wires)
    test(`the stable messages of the second request on ${wire.wire} begin with those of the first, byte for byte`, async () => {
      const [one, two] = await twoSteps(wire);
      const first = stableBytes(one, 'now>10:00');
      const second = stableBytes(two, 'now>10:01');
      assert.ok(first.includes('what is a?'));
      const common = first.slice(0, first.indexOf('what is a?') + 'what is a?'.length);
      assert.ok(second.startsWith(common), `${common}\n---\n${second}`);
      assert.ok(second.length > common.length + 100, 'the second has the first step in it');
    });

  for (const wire of wires)
    test(`instructions and tools on ${wire.wire} are the same bytes in both requests`, async () => {
      const [one, two] = await twoSteps(wire);
      for (const field of ['tools', 'system', 'systemInstruction', 'instructions', 'model'])
        assert.equal(JSON.stringify(two.raw[field]), JSON.stringify(one.raw[field]), field);
      assert.ok(one.tools.length === 2 && one.instructions.length > 0);
    });

  test('the same request gives the same bytes, whatever the order of its sending', async () => {
    for (const wire of wires) {
      const { ask: send } = setUp([profileOf(wire, server.url)]);
      const from = server.requests.length;
      await send(ask('same'));
      await send(ask('other'));
      await send(ask('same'));
      assert.equal(server.requests[from + 2]!.body, server.requests[from]!.body);
    }
  });

  test('anthropic gets breakpoints behind tools, instructions, the last stable message and the one of the step before', async () => {
    const [one, two] = await twoSteps(wireCase('anthropic'));
    const where = (request: SeenRequest) => {
      const found: string[] = [];
      const visit = (value: unknown, path: string) => {
        if (value === null || typeof value !== 'object') return;
        if ('cache_control' in value) found.push(path);
        for (const [key, inner] of Object.entries(value)) visit(inner, path === '' ? key : `${path}.${key}`);
      };
      visit(request.raw, '');
      return found.sort();
    };
    assert.deepEqual(where(one), ['messages.0.content.0', 'messages.2.content.0', 'system.0', 'tools.1']);
    assert.deepEqual(where(two), ['messages.2.content.0', 'messages.4.content.0', 'system.0', 'tools.1']);
  });

  test('other providers get no marks of anthropic', async () => {
    for (const name of ['responses', 'chat', 'google'] as const) {
      const from = server.requests.length;
      const { ask: send } = setUp([profileOf(wireCase(name), server.url)]);
      await send(ask('hi'), new AbortController().signal, { stableMessages: 1 });
      assert.equal(server.requests[from]!.body.includes('cache'), name === 'responses', name);
      assert.equal(server.requests[from]!.body.includes('ephemeral'), false);
    }
  });
});
