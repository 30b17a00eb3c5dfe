import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishAgents } from '../../src/gateway/publish.ts';
import { reserveWithin } from '../../src/run/budget.ts';
import { windowStart } from '../../src/run/history.ts';
import { spent } from '../../src/store/ledger.ts';
import { claimRuns } from '../../src/store/runs.ts';
import { eachDatabase } from '../support/databases.ts';
import { agentSpec, createInboxWorld } from '../support/inbox_world.ts';

test('R23: the window moves in steps, from 200 turns down to 100', () => {
  assert.deepEqual([0, 200, 201, 300, 301, 400, 401].map(windowStart), [0, 0, 100, 100, 200, 200, 300]);
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
