/** What happens to questions on a platform that tells of deletions and may be slow to say what it did. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Decision, IncomingMessage, Sender } from '../../src/types/message.ts';
import { becomes } from '../support/becomes.ts';
import { startTestGateway } from '../support/gateway.ts';
import { actsCapability, actTools, capabilityId } from './acts.ts';
import { answerOf } from './asking.ts';
import { createPlainPlatform } from './plain_platform.ts';
import type { Ran } from './stage.ts';

const bounded = { timeout: 60_000 };
const chat = { id: 'chat-1', kind: 'direct' } as const;
const rita: Sender = { id: 'rita', name: 'Rita', kind: 'human', membership: 'full' };

async function start(t: TestContext) {
  const platform = createPlainPlatform();
  const ran: Ran[] = [];
  const tools = actTools(ran);
  const world = await startTestGateway(t, {
    adapters: [platform.plugin],
    capabilities: [actsCapability(() => tools)],
    config: {
      channels: { plain: { type: 'plain' } },
      agent: { capabilities: [{ id: capabilityId }] },
      bindings: [{ id: 'plain', agent: 'helper', channel: 'plain', where: { direct: true }, stream: false }],
    },
  });
  world.model.respond(answerOf);
  world.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
  const message: IncomingMessage = {
    kind: 'message',
    key: 'm1',
    chat,
    messageId: 'm1',
    sender: rita,
    text: 'send one',
    mentionsBot: false,
    files: [],
    sentAt: Date.now(),
  };
  const press = (ref: string, data: string): Decision => ({
    kind: 'decision',
    key: `press ${ref} ${data}`,
    chat,
    ref,
    sender: rita,
    data,
    sentAt: Date.now(),
  });
  return { ...world, platform, ran, message, press };
}

test('R4: deleting the message withdraws its question, cancels its run and posts no answer', bounded, async (t) => {
  const { platform, message, ran, model, gateway } = await start(t);
  await platform.accept(message);
  await platform.sends('Approval needed');
  await platform.accept({ kind: 'deletion', key: 'd1', chat, messageId: 'm1', sentAt: Date.now() });
  const { message: shown } = await platform.edits('withdrawn');
  assert.match(shown.markdown, /The message behind it was deleted/);
  assert.deepEqual(shown.question?.buttons, []);
  await becomes(() => gateway.db.all('select state from runs'), [{ state: 'cancelled' }]);
  assert.equal(platform.sent.length, 1);
  assert.deepEqual([ran, model.requests.length], [[], 1]);
});

test('R46: a press that is faster than the send result binds the card to its message', bounded, async (t) => {
  const { platform, message, press, ran } = await start(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  platform.hold = promise;
  await platform.accept(message);
  const card = await platform.sends('Approval needed');
  const approve = card.question?.buttons[0]?.[0]?.data ?? '';
  const details = approve.replace(/a$/, 'i');
  assert.equal(await platform.accept(press('1', details)), undefined);
  // From now on it is this message and no other.
  assert.match((await platform.accept(press('99', approve)))?.notice ?? '', /belongs to another message/);
  assert.deepEqual(ran, []);
  assert.equal(await platform.accept(press('1', approve)), undefined);
  platform.hold = null;
  resolve();
  await platform.sends('Done with one.');
  assert.equal((await platform.edits('approved')).ref, '1');
  assert.deepEqual(ran, [{ tool: 'send', input: { what: 'one' } }]);
});
