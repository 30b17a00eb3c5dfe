import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { type PolicyParts, policyHandlers } from '../../src/gateway/control_policy.ts';
import { skillsAtRest } from '../../src/gateway/skills_at_rest.ts';
import { plugins } from '../../src/plugins.ts';
import { ensureAccount } from '../../src/store/accounts.ts';
import type { Db } from '../../src/store/db.ts';
import { allowAlways } from '../../src/tools/change_policy.ts';
import { definitionOf } from '../../src/tools/definition.ts';
import { contextWith, createFolders, valid as skill } from '../skills/support.ts';
import { eachDatabase } from '../support/databases.ts';
import { capabilityOf, idleTool } from '../support/tools.ts';
import { cli, valid } from './support.ts';

const charge = idleTool('charge');
const capabilities = [
  capabilityOf('billing', [charge, idleTool('look', { effect: 'safe' }), idleTool('wipe', { effect: 'dangerous' })]),
];

/** The command line over the database, as when no gateway runs. */
function operator(t: TestContext, db: Db, policies: ReturnType<PolicyParts['policySettings']>['policies'] = {}) {
  const { run } = cli(t, valid, {
    offline: async (loaded, command, args) => {
      const { config } = loaded;
      const handlers = policyHandlers({
        db,
        now: () => 1_767_225_600_000,
        capabilities: () => capabilities,
        policySettings: () => ({
          policies,
          admins: new Set(),
          timezone: 'UTC',
          bindings: config.bindings,
          agents: new Map(Object.values(config.agents).map((spec) => [spec.id, { spec }])),
        }),
      });
      return handlers[command]!(args);
    },
  });
  return run;
}

test('R38: policy and tools say what is right when they are used wrongly', async (t) => {
  const { run } = cli(t, valid);
  const of = async (...argv: string[]) => {
    const { code, out, err } = await run(...argv);
    assert.deepEqual([code, out], [2, '']);
    return err;
  };
  for (const argv of [
    ['set', 'billing', 'charge'],
    ['set', 'billing', 'charge', 'deny'],
    ['unset', 'x'],
    ['forget'],
    ['drop'],
  ])
    assert.match(await of('policy', ...argv), /^gatehouse: policy takes list, set CAPABILITY TOOL allow\|ask\|block, /);
  assert.equal(await of('policy', '--person', 'ann'), 'gatehouse: --person takes an account <channel>:<user id>\n');
  assert.equal(await of('tools'), 'gatehouse: tools needs --agent NAME\n');
  assert.equal(
    await of('tools', '--agent', 'helper', '--audience', 'all'),
    'gatehouse: --audience takes direct or group\n',
  );
});

eachDatabase('R38, R91: policy sets and unsets rules for everybody, over the file’s', async (t, open) => {
  const db = await open();
  const run = operator(t, db, { billing: { look: 'ask' } });
  assert.equal(
    (await run('policy', 'set', 'billing', 'charge', 'block')).out,
    'billing charge for everybody: block (before: no rule).\n',
  );
  assert.equal(
    (await run('policy', 'set', 'billing', 'charge', 'block')).out,
    'billing charge for everybody: block (as before).\n',
  );
  assert.match(
    (await run('policy')).out,
    /^For everybody:\nCAPABILITY {2}TOOL {4}VERDICT {2}FROM {6}BY {3}WHEN\nbilling {5}charge {2}block {4}run time {2}cli {2}2026-01-01 .{5}\nbilling {5}look {4}ask {6}config\n$/,
  );
  assert.equal(
    (await run('policy', 'unset', 'billing', 'charge')).out,
    'billing charge for everybody: no rule (before: block).\n',
  );
  assert.equal((await run('policy', 'unset', 'gone', 'tool')).code, 0, 'what is not there any more can be unset');
  assert.deepEqual(await db.all('select actor, action, subject, before, after from audit order by id'), [
    { actor: 'cli', action: 'policy.admin', subject: 'billing/charge', before: 'null', after: '"block"' },
    { actor: 'cli', action: 'policy.admin', subject: 'billing/charge', before: '"block"', after: 'null' },
  ]);
});

eachDatabase('R38: a name that is not there is an error with the nearest one', async (t, open) => {
  const run = operator(t, await open());
  const failed = async (...argv: string[]) => {
    const { code, out, err } = await run(...argv);
    assert.deepEqual([code, out], [1, '']);
    return err;
  };
  assert.equal(
    await failed('policy', 'set', 'biling', 'charge', 'ask'),
    'gatehouse: there is no capability "biling", did you mean "billing"?\n',
  );
  assert.equal(
    await failed('policy', 'set', 'billing', 'chrage', 'ask'),
    'gatehouse: "chrage" is not a tool of billing, did you mean "charge"?\n',
  );
  assert.equal(
    await failed('tools', '--agent', 'helpr'),
    'gatehouse: there is no agent "helpr", did you mean "helper"?\n',
  );
  assert.equal(
    await failed('tools', '--agent', 'helper', '--binding', 'pge'),
    'gatehouse: "pge" is not a binding of helper, did you mean "page"?\n',
  );
  assert.match(await failed('policy', '--person', 'tg:5'), /^gatehouse: there is no account tg:5; accounts are </);
  assert.match(await failed('policy', 'forget', 'x'), /^gatehouse: there is no grant with the id x; /);
});

eachDatabase('R38, R43: rules and always allows of a person are listed and taken away', async (t, open) => {
  const db = await open();
  const run = operator(t, db);
  await db.tx((q) => ensureAccount(q, 'tg', { id: '5', name: 'Ann' }, 'p', 1));
  const grant = {
    personId: 'p',
    agent: 'helper',
    capability: 'billing',
    tool: 'charge',
    arguments: null,
    setBy: 'tg:5',
  };
  await db.tx((q) => allowAlways(q, { ...grant, definition: definitionOf(charge) }, 5));
  const ann = ['--person', 'tg:5'];
  assert.equal(
    (await run('policy', 'set', 'billing', 'look', 'block', ...ann)).out,
    'billing look for tg:5: block (before: no rule).\n',
  );
  const { admin, person } = JSON.parse((await run('policy', 'list', ...ann, '--json')).out);
  assert.deepEqual(admin, []);
  assert.deepEqual(
    person.own.map((rule: { tool: string; verdict: string }) => [rule.tool, rule.verdict]),
    [['look', 'block']],
  );
  const [{ id, isValid, exact }] = person.grants;
  assert.deepEqual([isValid, exact], [true, false]);
  assert.match(
    (await run('policy', 'list', ...ann)).out,
    /Always allowed:\nGRANT .*\n.* helper {2}billing {5}charge {2}any {8}yes /,
  );
  assert.equal(
    (await run('policy', 'forget', id)).out,
    'Forgotten: billing charge of the agent helper, always allowed by tg:5.\n',
  );
  assert.deepEqual(await db.all('select id from grants'), []);
  const audited = await db.all<{ action: string }>('select action from audit order by id');
  assert.deepEqual(
    audited.map(({ action }) => action),
    ['grant.add', 'policy.own', 'grant.remove'],
  );
});

eachDatabase('R38: tools prints every tool with effect, verdict and the rule that decided', async (t, open) => {
  const db = await open();
  const run = operator(t, db, { billing: { look: 'ask' } });
  await db.tx((q) => ensureAccount(q, 'page', { id: 'ann', name: 'Ann' }, 'p', 1));
  const lines = async (...argv: string[]) => (await run('tools', '--agent', 'helper', ...argv)).out;
  assert.equal(
    await lines(),
    `helper, for anybody, in a direct chat of the binding page:
CAPABILITY  TOOL    EFFECT     VERDICT  RULE
billing     charge  mutating   ask      effect: mutating
billing     look    safe       ask      admin: ask
billing     wipe    dangerous  block    permission_mode: mutating-with-confirm
`,
  );
  await run('policy', 'set', 'billing', 'charge', 'allow', '--person', 'page:ann');
  await run('policy', 'set', 'billing', 'wipe', 'ask');
  const ann = await lines('--person', 'page:ann', '--binding', 'page');
  assert.match(ann, /^helper, for page:ann, in a direct chat of the binding page:\n/);
  assert.match(ann, /charge {2}mutating {3}allow {11}own: allow\n/);
  assert.match(ann, /wipe {4}dangerous {2}ask two people {2}admin: ask \(set at run time\)\n/);
  assert.match(
    await lines('--person', 'page:ann', '--audience', 'group'),
    /charge {2}mutating {3}ask {13}effect: mutating\n/,
  );
  const scripted = JSON.parse(await lines('--json'));
  assert.deepEqual(
    [scripted.agent, scripted.binding, scripted.audience, scripted.account],
    ['helper', 'page', 'direct', null],
  );
  assert.deepEqual(scripted.tools[2], {
    capability: 'billing',
    tool: 'wipe',
    name: 'wipe',
    effect: 'dangerous',
    verdict: 'ask',
    twoPeople: true,
    rule: 'admin: ask (set at run time)',
  });
});

test('R94: skills are decided about without a running gateway', async (t) => {
  const { folder, write, root } = createFolders(t);
  write({ 'a/skill.json': skill, 'a/run.sh': '#!/bin/sh\n' });
  const loaded = loadConfig(folderFile(folder, root), {}, plugins);
  const [offered] = await skillsAtRest(loaded.config, plugins);
  assert.equal(offered?.id, 'skill:disk_cleaner');
  assert.deepEqual(
    offered.tools.map(({ id, effect }) => [id, effect]),
    [['disk_cleaner', 'safe']],
  );
  await assert.rejects(offered.tools[0]!.call({}, contextWith([])), /in a running gateway only/);
});

function folderFile(folder: string, root: string): string {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `${valid}gateway: { data_dir: ${join(folder, 'data')} }\nskill_dirs: [${root}]\n`);
  return file;
}
