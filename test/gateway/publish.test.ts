/** A version of an agent is what a run stays on, so only what an agent is made of makes a new one. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { publishAgents } from '../../src/gateway/publish.ts';
import type { Db } from '../../src/store/db.ts';
import { load } from '../config/support.ts';
import { eachDatabase } from '../support/databases.ts';

const file = (agent: string) => `
models: { m: { provider: demo } }
channels: { page: { type: web } }
agents: { helper: { model: m, ${agent} }, other: { model: m, instructions: Other. } }
bindings: [{ id: page, agent: helper, channel: page, where: { direct: true } }]
`;

async function published(t: TestContext, db: Db, agent: string): Promise<number | undefined> {
  const { config } = load(t, file(agent));
  return (await publishAgents(db, config.agents, 0)).get('helper')?.version;
}

eachDatabase(
  'an agent gets a new version when it changes, and not when a key changes that nothing reads yet',
  async (t, open) => {
    const db = await open();
    assert.equal(await published(t, db, 'instructions: Help.'), 1);
    assert.equal(await published(t, db, 'instructions: Help.'), 1);
    assert.equal(await published(t, db, 'instructions: Help., subagents: [other], skills: [writing]'), 1);
    assert.equal(await published(t, db, 'instructions: Help., capabilities: [{ id: memory_files }]'), 1);
    assert.equal(await published(t, db, 'instructions: Help kindly.'), 2);
  },
);
