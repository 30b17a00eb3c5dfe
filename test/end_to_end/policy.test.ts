/** What policy means for a run: what the model is offered, what runs, and when a change counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { SeenRequest } from '../emulators/model_server.ts';
import { createGate } from '../support/gate.ts';
import { capabilityOf, idleTool } from '../support/tools.ts';
import { bounded, startWorld } from './world.ts';

const resultsOf = (request: SeenRequest | undefined) =>
  request?.messages.flatMap((message) => message.results.map((result) => result.text)) ?? [];
const schemaOf = (request: SeenRequest | undefined, name: string) =>
  JSON.stringify(request?.tools.find((tool) => tool.name === name));

/** `charge` asks, `look` and `wait` are safe and not read-only, and every input is kept. */
function billing(hold: () => Promise<void> = async () => {}) {
  const inputs: [string, JsonObject][] = [];
  const keeping = (id: string, work = async () => {}) => ({
    call: async (input: JsonObject) => {
      inputs.push([id, input]);
      await work();
      return { content: `${id} is done` };
    },
  });
  const capability: CapabilityPlugin = capabilityOf(
    'billing',
    [
      idleTool('charge', keeping('charge')),
      idleTool('look', { effect: 'safe', ...keeping('look') }),
      idleTool('wait', { effect: 'safe', ...keeping('wait', hold) }),
    ],
    { always: false },
  );
  return { capability, inputs };
}

test(
  'A3, R38: a blocked tool is not offered, and only one that asks takes the agent’s sentence',
  bounded,
  async (t) => {
    const { capability } = billing();
    const { telegram, model, alice, chat } = await startWorld(t, {
      capabilities: [capability],
      config: { agent: { capabilities: ['billing'] }, policies: { billing: { wait: 'block' } } },
    });
    model.script({ calls: [{ name: 'wait', input: {} }] }, { text: 'done' });
    telegram.say(chat, alice, 'go');
    await telegram.waitForMessage(chat, 'done');
    const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(
      names.filter((name) => !name.startsWith('store_')),
      ['ask_user', 'charge', 'look'],
    );
    assert.match(schemaOf(model.requests[0], 'charge'), /_approval_message/);
    assert.doesNotMatch(schemaOf(model.requests[0], 'look'), /_approval_message/);
    assert.deepEqual(resultsOf(model.requests[1]), [
      'wait was not run: it is blocked here (admin: block). This is final; do not call it again.',
    ]);
  },
);

test('A3: the agent’s sentence is taken out before arguments are checked and used', bounded, async (t) => {
  const { capability, inputs } = billing();
  capability.tools[0]!.inputSchema = { type: 'object', properties: { what: {} }, additionalProperties: false };
  const { telegram, model, alice, chat, gateway } = await startWorld(t, {
    capabilities: [capability],
    config: { agent: { capabilities: ['billing'] } },
  });
  telegram.say(chat, alice, '/policy charge allow');
  await telegram.waitForMessage(chat, 'charge runs at once: you say so');
  model.script(
    { calls: [{ name: 'charge', input: { what: 'tea', _approval_message: 'Buys tea.' } }] },
    { text: 'bought' },
  );
  telegram.say(chat, alice, 'tea please');
  await telegram.waitForMessage(chat, 'bought');
  assert.deepEqual(inputs, [['charge', { what: 'tea' }]]);
  assert.match(schemaOf(model.requests[0], 'charge'), /_approval_message/, 'the same for everybody (M1)');
  assert.deepEqual(await gateway.db.all('select tool, verdict, rule from tool_calls'), [
    { tool: 'charge', verdict: 'allow', rule: 'own: allow' },
  ]);
});

test('R38: what is blocked while a run is under way does not run any more', bounded, async (t) => {
  const gate = createGate();
  const { capability, inputs } = billing(() => gate.opened);
  const { telegram, model, alice, chat } = await startWorld(t, {
    capabilities: [capability],
    config: { agent: { capabilities: ['billing'] } },
  });
  model.script(
    {
      calls: [
        { name: 'wait', input: {} },
        { name: 'look', input: {} },
      ],
    },
    { text: 'stopped there' },
  );
  telegram.say(chat, alice, 'go');
  await telegram.until('the first call runs', () => inputs.length === 1);
  telegram.say(chat, alice, '/policy look block');
  await telegram.waitForMessage(chat, 'look is blocked: you say so');
  gate.open();
  await telegram.waitForMessage(chat, 'stopped there');
  assert.deepEqual(
    inputs.map(([id]) => id),
    ['wait'],
  );
  assert.deepEqual(resultsOf(model.requests[1]), [
    'wait is done',
    'look was not run: it is blocked here (own: block). This is final; do not call it again.',
  ]);
});
