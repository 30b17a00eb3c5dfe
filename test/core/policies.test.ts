import assert from 'node:assert/strict';
import { attachCapabilities } from '../../src/capability/attach.ts';
import type { Db, Query } from '../../src/store/db.ts';
import { addGrant } from '../../src/store/grants.ts';
import { joinGroup } from '../../src/store/links.ts';
import { adminScope, readRules, removeRule, setRule } from '../../src/store/tool_rules.ts';
import { changeRule } from '../../src/tools/change_policy.ts';
import { argumentsDigest, definitionOf } from '../../src/tools/definition.ts';
import { createPolicies, type PolicyRun } from '../../src/tools/facts.ts';
import type { RunFacts } from '../../src/types/capability.ts';
import type { Verdict } from '../../src/types/tool.ts';
import { eachDatabase } from '../support/databases.ts';
import { agentSpec, bindingSpec, createInboxWorld } from '../support/inbox_world.ts';
import { silentLog } from '../support/silent_log.ts';
import { capabilityOf, idleTool } from '../support/tools.ts';

const charge = idleTool('charge');
const look = idleTool('look', { effect: 'safe' });
const billing = capabilityOf('billing', [charge, look]);

function policiesOver(db: Db, policies: Record<string, Record<string, Verdict>> = {}, admins: string[] = []) {
  const offer = attachCapabilities([billing], agentSpec, {} as RunFacts);
  const made = createPolicies({ db, log: silentLog, settings: () => ({ policies, admins: new Set(admins) }) });
  const run: PolicyRun = {
    spec: agentSpec,
    binding: bindingSpec(),
    audience: 'direct',
    conversation: null,
    requester: { channel: 'tg', userId: 'ana', personId: 'p1' },
  };
  return {
    offer,
    run,
    async decide(name: string, over: Partial<PolicyRun> = {}, input = {}) {
      const [decided] = await made.decide({ ...run, ...over }, offer, [{ id: 'c', name, input }]);
      return [decided?.decision.verdict, decided?.decision.rule];
    },
    async stable(over: Partial<PolicyRun> & { mode?: 'ask' | 'waive' | null } = {}) {
      const decisions = await made.stable({ ...run, mode: null, ...over }, offer.tools);
      return decisions.map(({ rule }) => rule);
    },
  };
}

const rule = (scope: string, tool: string, verdict: Verdict) => ({
  scope,
  capability: 'billing',
  tool,
  verdict,
  setBy: 'cli',
  setAt: 1,
});

eachDatabase('R38: an entry set at run time stands over the configuration’s, and goes again', async (_t, open) => {
  const db = await open();
  const { decide } = policiesOver(db, { billing: { look: 'block' } });
  assert.deepEqual(await decide('look'), ['block', 'admin: block']);
  await db.tx((q) => setRule(q, rule(adminScope, 'look', 'allow')));
  assert.deepEqual(await decide('look'), ['allow', 'admin: allow (set at run time)']);
  await db.tx((q) => setRule(q, rule(adminScope, 'look', 'ask')));
  assert.deepEqual(await readRules(db, adminScope), [rule(adminScope, 'look', 'ask')]);
  assert.equal(await db.tx((q) => removeRule(q, rule(adminScope, 'look', 'ask'))), 'ask');
  assert.deepEqual(await decide('look'), ['block', 'admin: block']);
});

eachDatabase('R38: a person’s own rule is that person’s alone', async (_t, open) => {
  const db = await open();
  const { decide } = policiesOver(db);
  await db.tx((q) => setRule(q, rule('p1', 'charge', 'allow')));
  assert.deepEqual(await decide('charge'), ['allow', 'own: allow']);
  assert.deepEqual(await decide('charge', { audience: 'group' }), ['ask', 'effect: mutating']);
  assert.deepEqual(await decide('charge', { requester: { channel: 'tg', userId: 'ben', personId: 'p2' } }), [
    'ask',
    'effect: mutating',
  ]);
  assert.deepEqual(await decide('charge', { requester: null }), ['ask', 'effect: mutating']);
  assert.deepEqual(await decide('charge', { binding: null }), ['ask', 'effect: mutating']);
});

eachDatabase('R43: an always allow counts for its agent, tool and definition, and lapses with it', async (_t, open) => {
  const db = await open();
  const { decide } = policiesOver(db);
  const grant = {
    id: 'g1',
    personId: 'p1',
    agent: 'helper',
    capability: 'billing',
    tool: 'charge',
    definition: definitionOf(charge),
    arguments: null as string | null,
    setBy: 'tg:ana',
    setAt: 1,
  };
  const put = (over: Partial<typeof grant>) => db.tx((q) => addGrant(q, { ...grant, ...over }));
  await put({ definition: 'another' });
  assert.deepEqual(await decide('charge'), ['ask', 'effect: mutating']);
  await put({ id: 'g2' });
  assert.deepEqual(await db.all('select id from grants'), [{ id: 'g2' }], 'the lapsed one is replaced');
  assert.deepEqual(await decide('charge'), ['allow', 'own: always allow']);
  assert.deepEqual(await decide('charge', { spec: { ...agentSpec, id: 'other' } }), ['ask', 'effect: mutating']);
  assert.deepEqual(await decide('charge', { audience: 'group' }), ['ask', 'effect: mutating']);
  await put({ id: 'g3', arguments: argumentsDigest({ what: 'tea' }) });
  const room = { audience: 'group' as const };
  assert.deepEqual(await decide('charge', room, { what: 'tea' }), ['allow', 'own: always allow these arguments']);
  assert.deepEqual(await decide('charge', room, { what: 'tea', _approval_message: 'Tea.' }), [
    'allow',
    'own: always allow these arguments',
  ]);
  assert.deepEqual(await decide('charge', room, { what: 'gin' }), ['ask', 'effect: mutating']);
});

eachDatabase('R38: where policies cannot be read every call is blocked and no tool is offered', async (_t, open) => {
  const db = await open();
  const { decide, stable } = policiesOver(db, { billing: { charge: 'allow' } });
  assert.deepEqual(await decide('charge'), ['allow', 'admin: allow']);
  await db.tx((q) => q.run('alter table tool_rules rename to gone'));
  assert.deepEqual(await decide('charge'), ['block', 'policies could not be read']);
  assert.deepEqual(await decide('look'), ['block', 'policies could not be read']);
  assert.deepEqual(await decide('nothing'), ['block', 'not offered']);
  assert.deepEqual(await stable(), ['policies could not be read', 'policies could not be read']);
  await db.tx((q) => q.run('alter table gone rename to tool_rules'));
  assert.deepEqual(await stable(), ['admin: allow', 'effect: safe'], 'a failure is not kept');
});

eachDatabase('M1, R38: what is offered follows admins at once and the person not at all', async (_t, open) => {
  const db = await open();
  const { stable } = policiesOver(db);
  const here = ['effect: mutating', 'effect: safe'];
  assert.deepEqual(await stable(), here);
  await db.tx((q) => changeRule(q, { ...rule('p1', 'look', 'block'), actor: 'tg:ana' }, 1));
  assert.deepEqual(await stable(), here);
  assert.deepEqual(await stable({ mode: 'waive' }), here);
  assert.deepEqual(await stable({ mode: 'ask' }), ['conversation: ask all', 'conversation: ask all']);
  const heard = new Promise<void>((resolve) => db.onRing('policy', resolve));
  await db.tx((q) => changeRule(q, { ...rule(adminScope, 'look', 'block'), actor: 'cli' }, 2));
  await heard;
  assert.deepEqual(await stable(), ['effect: mutating', 'admin: block (set at run time)']);
});

eachDatabase(
  'R95: a conversation’s mode counts at once, and waive only while the binding allows it',
  async (_t, open) => {
    const db = await open();
    const world = createInboxWorld(db);
    await world.say('ana', 'hello');
    const { id } = (await db.get<{ id: string }>('select id from conversations'))!;
    const { decide } = policiesOver(db);
    const here = { conversation: id };
    await db.run("update conversations set mode = 'waive'");
    const waiving = bindingSpec({ approvals: { approvers: 'requester', expiresMs: 1, waive: true } });
    assert.deepEqual(await decide('charge', { ...here, binding: waiving }), ['allow', 'waived']);
    assert.deepEqual(await decide('charge', here), ['ask', 'effect: mutating']);
    await db.run("update conversations set mode = 'ask'");
    assert.deepEqual(await decide('look', here), ['ask', 'conversation: ask all']);
  },
);

eachDatabase('R43: a person’s own allow needs a question that person could answer', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  await world.say('ana', 'hello');
  await db.tx((q) => setRule(q, rule('p1', 'charge', 'allow')));
  const byAdmins = { binding: bindingSpec({ approvals: { approvers: 'admins', expiresMs: 1, waive: false } }) };
  assert.deepEqual(await policiesOver(db).decide('charge', byAdmins), ['ask', 'effect: mutating']);
  assert.deepEqual(await policiesOver(db, {}, ['tg:ana']).decide('charge', byAdmins), ['allow', 'own: allow']);
  await db.run("update accounts set admin = 1 where user_id = 'ana'");
  assert.deepEqual(await policiesOver(db).decide('charge', byAdmins), ['allow', 'own: allow']);
});

eachDatabase(
  'R15, R43: linked accounts say as one what runs; of two words of theirs the strictest counts',
  async (_t, open) => {
    const db = await open();
    const { decide } = policiesOver(db);
    const link = (q: Query, person: string, name: string) =>
      q.run('insert into people (id, name, created_at) values (?, ?, 1)', person, name);
    await db.tx(async (q) => {
      await link(q, 'p1', 'Ana');
      await link(q, 'p2', 'Ana at work');
      for (const person of ['p1', 'p2']) await joinGroup(q, person, 'g', 1);
      await setRule(q, rule('p2', 'charge', 'allow'));
    });
    assert.deepEqual(await decide('charge'), ['allow', 'own: allow']);
    await db.tx((q) => setRule(q, rule('p1', 'charge', 'block')));
    assert.deepEqual(await decide('charge'), ['block', 'own: block']);
  },
);
