import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishAgents } from '../../src/gateway/publish.ts';
import { reserveWithin } from '../../src/run/budget.ts';
import { windowStart } from '../../src/run/history.ts';
import { appendTurns } from '../../src/store/conversations.ts';
import { spent } from '../../src/store/ledger.ts';
import { claimRuns } from '../../src/store/runs.ts';
import { eachDatabase } from '../support/databases.ts';
import { startTestGateway } from '../support/gateway.ts';
import { agentSpec, createInboxWorld } from '../support/inbox_world.ts';

test('R23: the window moves in steps, from 200 turns down to 100', () => {
  assert.deepEqual([0, 200, 201, 300, 301, 400, 401].map(windowStart), [0, 0, 100, 100, 200, 200, 300]);
});

test('R23: what falls out of the window is summarised once and stands in front', async (t) => {
  const { telegram, model, gateway } = await startTestGateway(t);
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  model.script({ text: 'first' }, { text: 'Alice likes green.' }, { text: 'second' }, { text: 'third' });
  telegram.say(chat, alice, 'hello');
  await telegram.waitForMessage(chat, 'first');
  const { id } = (await gateway.db.get<{ id: string }>('select id from conversations')) as { id: string };
  const turns = Array.from({ length: 200 }, (_, n) => ({
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: `turn ${n}`,
  }));
  await gateway.db.tx((q) => appendTurns(q, { id, turns: 2 }, 'run', turns, 1));
  telegram.say(chat, alice, 'and now?');
  await telegram.waitForMessage(chat, 'second');
  assert.match(model.requests[1]?.instructions ?? '', /Summarise what was said/);
  assert.equal(model.requests[1]?.messages.length, 101, 'the hundred that fell out and the request to summarise them');
  const request = model.requests[2];
  assert.equal(request?.messages[0]?.text, '[Summary of the earlier conversation]\nAlice likes green.');
  assert.equal(request?.messages.length, 1 + 102 + 1);
  assert.equal(request?.messages[1]?.text, 'turn 98');
  telegram.say(chat, alice, 'more');
  await telegram.waitForMessage(chat, 'third');
  assert.equal(model.requests.length, 4, 'not summarised again');
  assert.equal(model.requests[3]?.messages[0]?.text, request?.messages[0]?.text, 'M1: the same bytes in front');
  const ledger = await gateway.db.all('select id from ledger');
  assert.equal(ledger.length, 4, 'the summary is booked');
});

eachDatabase('R73: many runs together cannot pass a cap', async (_t, open) => {
  const db = await open();
  await publishAgents(db, { helper: agentSpec }, 1);
  const caps = { run: null, agentDay: 1, bindingDay: null };
  const reserved = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      db.tx((q) =>
        reserveWithin(
          q,
          caps,
          { id: `r${n}`, runId: `run${n}`, agent: 'helper', binding: 'b', profile: 'main' },
          0.15,
          0,
          10,
        ),
      ),
    ),
  );
  assert.equal(reserved.filter(Boolean).length, 6, '6 × 0.15 stays below 1, the seventh would pass it');
  assert.ok(Math.abs((await spent(db, { column: 'agent', value: 'helper', since: 0 })).usd - 0.9) < 1e-9);
});

eachDatabase('agents are published as immutable versions; an equal spec keeps its number', async (_t, open) => {
  const db = await open();
  const version = async (spec: typeof agentSpec) =>
    (await publishAgents(db, { helper: spec }, 1)).get('helper')?.version;
  assert.equal(await version(agentSpec), 1);
  assert.equal(await version({ ...agentSpec }), 1);
  assert.equal(await version({ ...agentSpec, instructions: 'Other.' }), 2);
  assert.equal(await version(agentSpec), 3, 'the old words again are a new version');
  const [left, right] = await Promise.all([version({ ...agentSpec, name: 'X' }), version({ ...agentSpec, name: 'X' })]);
  assert.deepEqual([left, right], [4, 4]);
});

eachDatabase('of two workers one claims a run; an ended lease lets the other take it', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  await world.say('ana', 'hello');
  await world.dispatch();
  const now = world.clock.now();
  const claim = (owner: string, at: number) => db.tx((q) => claimRuns(q, owner, at, 15_000, 10));
  const [left, right] = await Promise.all([claim('left', now), claim('right', now)]);
  assert.equal(left.length + right.length, 1);
  assert.equal((await claim('right', now + 15_000)).length, 0);
  assert.equal((await claim('right', now + 15_001)).length, 1);
});
