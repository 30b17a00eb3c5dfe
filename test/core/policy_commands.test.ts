import assert from 'node:assert/strict';
import { addGrant } from '../../src/store/grants.ts';
import { argumentsDigest, definitionOf } from '../../src/tools/definition.ts';
import { eachDatabase, type Open } from '../support/databases.ts';
import { bindingSpec, createInboxWorld, group, sender } from '../support/inbox_world.ts';
import { capabilityOf, idleTool } from '../support/tools.ts';

const charge = idleTool('charge');
const look = idleTool('look', { effect: 'safe' });
const wipe = idleTool('wipe', { effect: 'dangerous' });
const capabilities = [
  capabilityOf('billing', [charge, look, wipe]),
  capabilityOf('archive', [idleTool('look_up', { effect: 'safe' }), idleTool('wipe', { effect: 'safe' })]),
];

async function talk(open: Open, over: Parameters<typeof createInboxWorld>[1] = {}) {
  const db = await open();
  const world = createInboxWorld(db, { admins: ['tg:boss'], capabilities, ...over });
  const say = async (text: string, user = 'ana', more = {}) => {
    await world.say(user, text, more);
    return (await world.outbox()).at(-1)?.markdown ?? '';
  };
  const audit = () =>
    db.all<{ actor: string; action: string; subject: string; before: string; after: string }>(
      'select actor, action, subject, before, after from audit order by id',
    );
  const personOf = async (user: string) =>
    (await db.get<{ person_id: string }>('select person_id from accounts where user_id = ?', user))!.person_id;
  return { db, world, say, audit, personOf };
}

eachDatabase('R18, R38: tools says what runs here, what asks first, and which rule says so', async (_t, open) => {
  const { say, world } = await talk(open);
  world.settings.policies = { billing: { look: 'ask' } };
  const here = (lines: string[]) => `What **Helper** may do here for you:\n\n${lines.join('\n')}`;
  assert.equal(
    await say('/tools'),
    here([
      '- `charge` asks first: it changes something',
      '- `look` asks first: an admin says so',
      '- `billing/wipe` is blocked: this agent may not do such things (permission_mode)',
      '- `look_up` runs at once: it counts as safe',
      '- `archive/wipe` runs at once: it counts as safe',
    ]),
  );
  const inGerman = await say('/tools', 'jan', { sender: sender('jan', { language: 'de' }) });
  assert.match(inGerman, /- `charge` fragt vorher: es ändert etwas\n/);
});

eachDatabase('R18: an agent without tools says so', async (_t, open) => {
  const { say } = await talk(open, { capabilities: [] });
  assert.equal(await say('/tools'), 'I have no tools here.');
});

eachDatabase('R38: a person sets and takes back a rule of their own; each change is audited once', async (_t, open) => {
  const { say, audit, personOf } = await talk(open);
  assert.equal(
    await say('/policy charge allow'),
    'Noted for you. `billing/charge`: allowed.\n\nSo here:\n- `charge` runs at once: you say so',
  );
  await say('/policy charge allow');
  assert.match(await say('/policy'), /^\*\*What you say\*\*\n- `billing\/charge`: allowed\n\nChange it with/);
  assert.match(await say('/policy', 'ben'), /^Nobody has set a rule;/);
  assert.equal(
    await say('!policy billing/charge BLOCK'),
    'Noted for you. `billing/charge`: blocked.\n\nSo here:\n- `charge` is blocked: you say so',
  );
  assert.equal(
    await say('/policy charge default'),
    'Noted for you. `billing/charge`: no rule.\n\nSo here:\n- `charge` asks first: it changes something',
  );
  const subject = `${await personOf('ana')} billing/charge`;
  assert.deepEqual(await audit(), [
    { actor: 'tg:ana', action: 'policy.own', subject, before: 'null', after: '"allow"' },
    { actor: 'tg:ana', action: 'policy.own', subject, before: '"allow"', after: '"block"' },
    { actor: 'tg:ana', action: 'policy.own', subject, before: '"block"', after: 'null' },
  ]);
});

eachDatabase('R43: an own allow set in a room is said to count in direct chats only', async (_t, open) => {
  const { say } = await talk(open, { bindings: [bindingSpec()] });
  assert.equal(
    await say('/policy charge allow', 'ana', { chat: group }),
    'Noted for you. `billing/charge`: allowed.\n\nYour own permission counts in direct chats only.\n\nSo here:\n- `charge` asks first: it changes something',
  );
});

eachDatabase('R38: only an admin sets a rule for everybody, and everybody sees it', async (_t, open) => {
  const { say, audit, world } = await talk(open);
  world.settings.policies = { billing: { charge: 'block' } };
  assert.equal(await say('/policy admin charge ask'), 'Only an admin can set that for everybody.');
  assert.deepEqual(await audit(), []);
  assert.equal(
    await say('/policy admin charge ask', 'boss'),
    'Noted for everybody. `billing/charge`: asks first.\n\nSo here:\n- `charge` asks first: an admin says so',
  );
  assert.match(await say('/policy'), /^\*\*What admins say\*\*\n- `billing\/charge`: asks first\n/);
  assert.match(await say('/policy admin charge default', 'boss'), /- `charge` is blocked: an admin says so$/);
  assert.deepEqual(
    (await audit()).map(({ actor, action, subject, after }) => [actor, action, subject, after]),
    [
      ['tg:boss', 'policy.admin', 'billing/charge', '"ask"'],
      ['tg:boss', 'policy.admin', 'billing/charge', 'null'],
    ],
  );
  assert.match(await say('/policy nonsense', 'boss'), /For everybody, as an admin:/);
  assert.doesNotMatch(await say('/policy nonsense'), /For everybody/);
});

eachDatabase('R38: a tool that is not there, or is there twice, is asked back', async (_t, open) => {
  const { say, db } = await talk(open);
  assert.equal(await say('/policy chrage block'), 'There is no tool `chrage`. Did you mean `charge`?');
  assert.equal(await say('/policy constructor block'), 'There is no tool `constructor`. `/tools` names the tools.');
  assert.equal(
    await say('/policy wipe block'),
    'There are several of that name; write one of `billing/wipe`, `archive/wipe`.',
  );
  assert.match(await say('/policy archive/wipe block'), /^Noted for you\. `archive\/wipe`: blocked\./);
  assert.deepEqual(await db.all('select capability, tool, verdict from tool_rules'), [
    { capability: 'archive', tool: 'wipe', verdict: 'block' },
  ]);
});

eachDatabase(
  'R43: always allows are listed and withdrawn by their number, and only by their owner',
  async (_t, open) => {
    const { say, db, personOf, audit } = await talk(open);
    await say('/tools');
    const personId = await personOf('ana');
    const grant = { personId, agent: 'helper', capability: 'billing', tool: 'charge', setBy: 'tg:ana', setAt: 1 };
    const definition = definitionOf(charge);
    await db.tx(async (q) => {
      await addGrant(q, { ...grant, id: 'a', definition, arguments: null });
      await addGrant(q, { ...grant, id: 'b', definition, arguments: argumentsDigest({ what: 'tea' }) });
      await addGrant(q, { ...grant, id: 'c', tool: 'look', definition: 'of before', arguments: null });
    });
    assert.match(await say('/tools'), /- `charge` runs at once: you always allow it/);
    assert.match(
      await say('/policy'),
      /^\*\*What you always allow\*\*\n1\. `billing\/charge` \(helper\)\n2\. `billing\/charge` \(helper, with exactly the same arguments\)\n3\. `billing\/look` \(helper, no longer valid: the tool has changed\)\n/,
    );
    assert.equal(await say('/policy forget 1', 'ben'), 'There is no such number; `/policy` shows the list.');
    assert.equal(await say('/policy forget 4'), 'There is no such number; `/policy` shows the list.');
    assert.equal(await say('/policy forget 1'), 'Forgotten: `billing/charge` is not always allowed any more.');
    assert.deepEqual(await db.all('select id from grants order by id'), [{ id: 'b' }, { id: 'c' }]);
    assert.deepEqual(
      (await audit()).map(({ actor, action, subject }) => [actor, action, subject]),
      [['tg:ana', 'grant.remove', `${personId} billing/charge`]],
    );
  },
);

eachDatabase('R91: a change whose audit row cannot be written is not made', async (_t, open, database) => {
  const { say, db, world } = await talk(open);
  await say('/tools');
  await db.tx((q) =>
    q.run(
      database.dialect === 'sqlite'
        ? `create trigger no_audit before insert on audit begin select raise(abort, 'no'); end`
        : `alter table audit add constraint no_audit check (action not in ('policy.own', 'mode'))`,
    ),
  );
  for (const text of ['/policy charge allow', '/mode ask']) await assert.rejects(world.say('ana', text));
  assert.deepEqual(await db.all('select tool from tool_rules'), []);
  assert.deepEqual(await db.all('select mode from conversations where mode is not null'), []);
});

eachDatabase('R95: anybody in the conversation sets mode ask, at once, and it is audited', async (_t, open) => {
  const { say, audit } = await talk(open);
  assert.equal(await say('/mode'), 'This conversation asks as the rules of the tools say; `/tools` shows them.');
  assert.equal(await say('/mode ask', 'ben', { chat: group }), 'This conversation asks before every tool.');
  assert.equal(await say('/mode', 'ana', { chat: group }), 'This conversation asks before every tool.');
  assert.match(
    await say('/tools', 'ana', { chat: group }),
    /- `look` asks first: this conversation asks about everything/,
  );
  assert.match(await say('/tools'), /- `look` runs at once/);
  assert.match(await say('/mode DEFAULT', 'ana', { chat: group }), /asks as the rules/);
  assert.deepEqual(
    (await audit()).map(({ actor, action, before, after }) => [actor, action, before, after]),
    [
      ['tg:ben', 'mode', 'null', '"ask"'],
      ['tg:ana', 'mode', '"ask"', 'null'],
    ],
  );
});

eachDatabase('R95: mode waive is for direct chats where an admin has allowed it', async (_t, open) => {
  const { say, db, world } = await talk(open);
  assert.equal(
    await say('/mode waive'),
    'Questions cannot be waived here: an admin has to allow it for this place first (`approvals.waive`).',
  );
  const allowing = bindingSpec({ approvals: { approvers: 'requester', expiresMs: 1, waive: true } });
  world.settings.bindings = [allowing];
  assert.equal(await say('/mode waive', 'ana', { chat: group }), 'Only a direct chat can do without questions.');
  assert.match(await say('/mode waive'), /^This conversation does without questions/);
  assert.match(await say('/tools'), /- `charge` runs at once: this conversation does without questions/);
  world.settings.bindings = [bindingSpec()];
  assert.match(await say('/mode'), /asks as the rules/);
  assert.match(await say('/tools'), /- `charge` asks first/);
  assert.deepEqual(await db.all('select mode from conversations where mode is not null'), [{ mode: 'waive' }]);
});

eachDatabase('R22, R95: a new conversation keeps mode ask and forgets mode waive', async (_t, open) => {
  const { say, world } = await talk(open);
  world.settings.bindings = [bindingSpec({ approvals: { approvers: 'requester', expiresMs: 1, waive: true } })];
  await say('/mode ask');
  await say('/new');
  assert.equal(await say('/mode'), 'This conversation asks before every tool.');
  await say('/mode waive');
  await say('/new');
  assert.match(await say('/mode'), /asks as the rules/);
});

eachDatabase('R18: only a whole command is one; words about policy reach the model', async (_t, open) => {
  const { world, say } = await talk(open);
  for (const text of ['policy questions please', 'mode ask', 'tools']) await world.say('ana', text);
  assert.deepEqual(await world.states(), ['waiting', 'waiting', 'waiting']);
  assert.equal(await say('/mode loud'), 'Write `/mode ask`, `/mode default` or `/mode waive`.');
  assert.match(await say('/policy make it safe please'), /^Change it with/);
  const mention = { chat: group, mentionsBot: true, addressedText: 'policy of the firm' };
  await world.say('ana', '@bot policy of the firm', mention);
  assert.equal((await world.states()).at(-1), 'waiting');
});
