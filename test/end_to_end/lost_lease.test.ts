import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/base/ids.ts';
import { addOutboxRow } from '../../src/store/outbox.ts';
import { createGate } from '../support/gate.ts';
import { bounded, said, startTimedWorld } from './world.ts';

test('D5: a process that lost its run writes nothing over the answer of the one that has it', bounded, async (t) => {
  const { telegram, model, alice, world, clock, pass } = await startTimedWorld(t, {
    config: { binding: { where: { chats: [-1001], direct: true }, trigger: 'all' } },
  });
  const { db } = world.gateway;
  const room = telegram.group({ id: -1001, members: [alice], botIsAdmin: true });
  const more = createGate();
  model.script({
    pieces: ['half ', 'an answer', ' of old'],
    gate: (n) => (n === 2 ? more.opened : undefined),
    hangAfter: 3,
  });
  telegram.say(room, alice, 'hi');
  const request = await model.request(1);
  await pass(telegram.waitForMessage(room, 'half an answer'));
  const piece = await db.get<{ id: string; run_id: string }>('select id, run_id from outbox');
  assert.ok(piece);
  await db.tx(async (q) => {
    await q.run(`update runs set state = 'completed', owner = null, lease_until = null where id = ?`, piece.run_id);
    const row = { kind: 'edit', target: piece.id, runId: piece.run_id, replyTo: null, priority: 1 } as const;
    const place = { channel: 'tg', chat: '-1001' };
    const createdAt = clock.now();
    await addOutboxRow(q, {
      ...row,
      id: newId(createdAt),
      place,
      direct: false,
      markdown: 'the final answer',
      question: null,
      createdAt,
    });
    q.ring('outbox');
  });
  await pass(telegram.waitForMessage(room, 'the final answer'));
  const asked = clock.now();
  more.open();
  assert.equal(await pass(request.ended), 'client', 'the request is given up');
  assert.ok(clock.now() - asked <= 6_000, 'with the next heartbeat');
  await clock.advance(5_000);
  assert.deepEqual(said(telegram, room), ['the final answer']);
});
