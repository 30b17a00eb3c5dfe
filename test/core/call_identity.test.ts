import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachCapabilities } from '../../src/capability/attach.ts';
import { takeApprovalMessage, withApprovalMessage } from '../../src/tools/approval_message.ts';
import { argumentsDigest, callDigest, definitionOf } from '../../src/tools/definition.ts';
import type { RunFacts } from '../../src/types/capability.ts';
import { agentSpec } from '../support/inbox_world.ts';
import { capabilityOf, idleTool, useOf } from '../support/tools.ts';

const charge = idleTool('charge');
const take = (input: Parameters<typeof takeApprovalMessage>[1]) => takeApprovalMessage(charge, input);

test('R50: the definition is the tool’s schema, words, returns and digest, whatever order its schema is in', () => {
  const same = idleTool('charge', { inputSchema: { properties: { what: { type: 'string' } }, type: 'object' } });
  assert.equal(definitionOf(same), definitionOf(charge));
  assert.match(definitionOf(charge), /^[0-9a-f]{64}$/);
  const others = [
    idleTool('charge', { inputSchema: { type: 'object', properties: { what: { type: 'number' } } } }),
    idleTool('charge', { description: 'Charges.' }),
    idleTool('charge', { returns: 'A receipt.' }),
    idleTool('charge', { definition: 'sha256:1' }),
    idleTool('charge', { definition: 'sha256:2' }),
  ].map(definitionOf);
  assert.equal(new Set([definitionOf(charge), ...others]).size, 6);
});

test('R41, R50: another name and other words for the model do not change what was approved', () => {
  const plugin = capabilityOf('billing', [charge], { always: false });
  const override = { charge: { name: 'bill', description: 'Something else.' } };
  const spec = { ...agentSpec, capabilities: [useOf('billing', { toolOverrides: override })] };
  const [offered] = attachCapabilities([plugin], spec, {} as RunFacts).tools;
  assert.deepEqual([offered?.tool.name, offered?.own.name, offered?.own.id], ['bill', 'charge', 'charge']);
  assert.equal(definitionOf(offered!.own), definitionOf(charge));
});

test('R41: a tool may be called like a property every object has', () => {
  const plugin = capabilityOf('billing', [idleTool('constructor')], { always: false });
  const spec = { ...agentSpec, capabilities: [useOf('billing')] };
  assert.equal(attachCapabilities([plugin], spec, {} as RunFacts).tools[0]?.tool.name, 'constructor');
});

test('A1: the digest of a call covers capability, tool, definition, agent version and canonical arguments', () => {
  const call = { capability: 'billing', tool: 'charge', definition: 'd', agentVersion: 1, input: { a: 1, b: [2] } };
  assert.equal(callDigest(call), callDigest({ ...call, input: { b: [2], a: 1 } }));
  const others = [
    { ...call, capability: 'other' },
    { ...call, tool: 'refund' },
    { ...call, definition: 'e' },
    { ...call, agentVersion: 2 },
    { ...call, input: { a: 1, b: [3] } },
    { ...call, input: { a: '1', b: [2] } },
  ].map(callDigest);
  assert.equal(new Set([callDigest(call), ...others]).size, 7);
  assert.equal(argumentsDigest({ a: 1, b: 2 }), argumentsDigest({ b: 2, a: 1 }));
  assert.notEqual(argumentsDigest({ a: 1 }), argumentsDigest({ a: 2 }));
});

test('A3: the agent’s sentence is added to a copy of the schema, the same copy each time', () => {
  const schema = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] };
  const copy = withApprovalMessage(schema);
  assert.deepEqual(Object.keys(copy.properties as object), ['what', '_approval_message']);
  assert.deepEqual(copy.required, ['what']);
  const property = (copy.properties as Record<string, { type: string; maxLength: number }>)._approval_message;
  assert.deepEqual([property?.type, property?.maxLength], ['string', 140]);
  assert.equal(withApprovalMessage(schema), copy);
  assert.deepEqual(Object.keys(schema.properties), ['what']);
  assert.deepEqual(Object.keys(withApprovalMessage({ type: 'object' }).properties as object), ['_approval_message']);
});

test('A3: it is taken out of the arguments, and a tool that has that name of its own keeps it', () => {
  assert.deepEqual(take({ what: 'x', _approval_message: 'Charges Ana.' }), {
    input: { what: 'x' },
    message: 'Charges Ana.',
  });
  assert.deepEqual(take({ what: 'x' }), { input: { what: 'x' }, message: null });
  assert.deepEqual(take({ _approval_message: 7 }), { input: {}, message: null });
  assert.deepEqual(take({ _approval_message: ' \u200b ' }), { input: {}, message: null });
  for (const input of [null, 'text', ['_approval_message']]) assert.deepEqual(take(input), { input, message: null });
  const own = idleTool('own', { inputSchema: { type: 'object', properties: { _approval_message: {} } } });
  const input = { _approval_message: 'mine' };
  assert.deepEqual(takeApprovalMessage(own, input), { input, message: null });
  assert.equal(withApprovalMessage(own.inputSchema), own.inputSchema);
});

test('A3: of at most 140 characters, on one line, nothing hidden, and it mentions nobody', () => {
  assert.equal(take({ _approval_message: 'a'.repeat(200) }).message, `${'a'.repeat(139)}…`);
  assert.equal(take({ _approval_message: 'one\n\ntwo\u202e three' }).message, 'one two three');
  assert.equal(take({ _approval_message: '@channel <@U1> ask @ana' }).message, '＠channel <＠U1> ask ＠ana');
});
