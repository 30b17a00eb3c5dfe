import assert from 'node:assert/strict';
import { limits } from '../../src/base/limits.ts';
import { admit, kindOfId, mintClaim } from '../../src/people/admission.ts';
import { eachDatabase } from '../support/databases.ts';
import { bindingSpec, createInboxWorld, group, sender } from '../support/inbox_world.ts';

const pairing = bindingSpec({ access: { direct: 'pairing', group: 'open', allow: [], rateLimit: null } });
const claimWords = (code: string) => ({ text: `claim ${code}` });

eachDatabase('R14: a stranger gets one code and nothing else; an admin admits with it', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [pairing], admins: ['tg:boss'] });
  await world.say('eve', 'hello');
  await world.say('eve', 'hello again');
  const [first, ...more] = await world.outbox();
  assert.deepEqual(more, []);
  const code = /`([A-Z2-9]{8})`/.exec(first?.markdown ?? '')?.[1] as string;
  assert.ok(code);
  assert.deepEqual(await world.states(), ['refused', 'refused']);
  await world.say('boss', `/pair ${code}`, { command: { name: 'pair', args: code } });
  await world.say('eve', 'now?');
  assert.deepEqual(await world.states(), ['refused', 'refused', 'handled', 'waiting']);
  const audit = await db.all<{ actor: string; action: string; subject: string }>(
    'select actor, action, subject from audit',
  );
  assert.deepEqual(audit, [{ actor: 'tg:boss', action: 'pair', subject: 'tg:eve' }]);
});

eachDatabase('R14: a code is good for an hour; of more than three the oldest gives way', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [pairing], admins: ['tg:boss'] });
  for (const stranger of ['a', 'b', 'c', 'd']) {
    await world.say(stranger, 'hi');
    await world.clock.advance(1_000);
  }
  const waiting = await db.all<{ user_id: string }>('select user_id from pairings order by created_at');
  assert.deepEqual(
    waiting.map((row) => row.user_id),
    ['b', 'c', 'd'],
  );
  const code = /`([A-Z2-9]{8})`/.exec((await world.outbox())[3]?.markdown ?? '')?.[1] as string;
  await world.clock.advance(limits.pairingMs);
  await world.say('boss', `pair ${code}`);
  assert.equal((await world.outbox()).at(-1)?.markdown, 'No open request has that code. Codes are good for one hour.');
});

eachDatabase('R14: only an admin pairs; an id needs no code', async (_t, open) => {
  const world = createInboxWorld(await open(), { admins: ['tg:boss'] });
  await world.say('ana', '/pair tg:ben', { command: { name: 'pair', args: 'tg:ben' } });
  assert.equal((await world.outbox()).at(-1)?.markdown, 'Only an admin can admit people.');
  await world.say('boss', '/pair tg:ben', { command: { name: 'pair', args: 'tg:ben' } });
  assert.equal((await world.outbox()).at(-1)?.markdown, 'Admitted: **ben**, `tg:ben`.');
});

eachDatabase('R14: an account that asked is named as it asked, told, and waits no longer', async (_t, open) => {
  const world = createInboxWorld(await open(), { bindings: [pairing], admins: ['tg:boss'] });
  await world.say('eve', 'hello', { sender: sender('eve', { name: 'Eve B.' }) });
  await world.say('boss', '/pair list');
  assert.equal((await world.outbox()).at(-1)?.markdown, '- **Eve B\\.**, `tg:eve`');
  await world.say('boss', '/pair tg:eve');
  assert.deepEqual(
    (await world.outbox()).slice(-2).map(({ chat, markdown }) => [chat, markdown]),
    [
      ['eve', 'An admin has admitted you. Write to me.'],
      ['boss', 'Admitted: **Eve B\\.**, `tg:eve`.'],
    ],
  );
  await world.say('boss', '/pair list');
  assert.equal((await world.outbox()).at(-1)?.markdown, 'Nobody waits to be admitted.');
});

eachDatabase('R16: an admin makes another admin, by code or by account; it is audited', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [pairing], admins: ['tg:boss'] });
  await world.say('eve', 'hello');
  const code = /`([A-Z2-9]{8})`/.exec((await world.outbox())[0]?.markdown ?? '')?.[1] as string;
  await world.say('eve', `/pair ${code} admin`);
  assert.equal((await world.outbox()).length, 1, 'a stranger gets no second line');
  await world.say('boss', `pair ${code} admin`);
  assert.deepEqual(
    (await world.outbox()).slice(-2).map(({ chat, markdown }) => [chat, markdown]),
    [
      ['eve', 'An admin has made you an admin of this gateway. Write to me.'],
      ['boss', 'Admitted as an admin: **eve**, `tg:eve`.'],
    ],
  );
  await world.say('eve', '/pair tg:ana admin');
  await world.say('eve', '/pair tg:-77 admin');
  assert.match((await world.outbox()).at(-1)?.markdown ?? '', /^Write `\/pair` and a code/);
  assert.deepEqual(await db.all('select user_id from accounts where admin = 1 order by user_id'), [
    { user_id: 'ana' },
    { user_id: 'eve' },
  ]);
  assert.deepEqual(await db.all('select chat from chats where admitted_by is not null'), []);
  assert.deepEqual(await db.all("select actor, subject from audit where action = 'admin.pair' order by subject"), [
    { actor: 'tg:eve', subject: 'tg:ana' },
    { actor: 'tg:boss', subject: 'tg:eve' },
  ]);
});

eachDatabase('R16: a claim that is mistyped after a slash reaches no model and costs no try', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  await db.tx((q) => mintClaim(q, 0, world.clock.now()));
  for (const text of ['/claim ABC_1', '!claim abc'])
    await world.say('ana', text, text.startsWith('/') ? { command: { name: 'claim', args: 'ABC_1' } } : {});
  await world.say('ana', 'claim abc');
  assert.deepEqual(await world.states(), ['handled', 'handled', 'waiting']);
  assert.deepEqual(
    (await world.outbox()).map(({ markdown }) => markdown),
    ['That code is not right.', 'That code is not right.'],
  );
  assert.deepEqual(await db.all('select tries from claims'), [{ tries: 0 }]);
});

eachDatabase(
  'R16: before there is an admin a stranger is told how the owner claims; nobody waits after it',
  async (_t, open) => {
    const db = await open();
    const world = createInboxWorld(db, { bindings: [pairing] });
    const code = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
    await world.say('ana', 'hello');
    assert.match(
      (await world.outbox())[0]?.markdown ?? '',
      /good for one hour: `[A-Z2-9]{8}`\n\nIf this gateway is yours, send me the `claim …` line it printed at start\.$/,
    );
    await world.say('ana', `claim ${code}`);
    assert.deepEqual(await db.all('select user_id from pairings'), []);
    await world.say('eve', 'hello');
    assert.match((await world.outbox()).at(-1)?.markdown ?? '', /good for one hour: `[A-Z2-9]{8}`$/);
  },
);

eachDatabase('R18: help names claim while there is no admin, and pair to admins only', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  const helpFor = async (user: string) => {
    await world.say(user, '/help');
    return (await world.outbox()).at(-1)?.markdown ?? '';
  };
  const before = await helpFor('ana');
  assert.match(before, /`\/claim`/);
  assert.doesNotMatch(before, /`\/pair`/);
  const code = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.say('ana', `claim ${code}`);
  const after = await helpFor('ana');
  assert.doesNotMatch(after, /`\/claim`/);
  assert.match(after, /`\/pair`/);
  assert.doesNotMatch(await helpFor('ben'), /`\/(claim|pair)`/);
});

eachDatabase('R13, R14: what is not the id of an account is a group; an account keeps its name', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { admins: ['tg:boss'] });
  const pair = async (args: string) => {
    await world.say('boss', `/pair ${args}`, { command: { name: 'pair', args } });
    return (await world.outbox()).at(-1)?.markdown;
  };
  await world.say('ana', 'hello', { sender: sender('ana', { name: 'Ana B.' }) });
  assert.equal(await pair('tg:ana'), 'Admitted: **Ana B\\.**, `tg:ana`.');
  assert.equal(await pair('tg:-77'), 'Admitted: the group `tg:-77`.');
  assert.deepEqual(await db.all('select user_id, name from accounts where paired_at is not null'), [
    { user_id: 'ana', name: 'Ana B.' },
  ]);
  assert.deepEqual(await db.all('select chat, admitted_by from chats'), [{ chat: '-77', admitted_by: 'tg:boss' }]);
});

eachDatabase('R16: the first admin claims with the printed code, once', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [pairing] });
  const code = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.say('ana', `claim ${code}`, claimWords(code));
  assert.equal((await world.outbox())[0]?.markdown, 'You are the admin of this gateway now.');
  await world.say('eve', `claim ${code}`, claimWords(code));
  assert.match((await world.outbox())[1]?.markdown ?? '', /^There is no claim code to redeem/);
  assert.deepEqual(await db.all('select user_id, admin from accounts'), [{ user_id: 'ana', admin: 1 }]);
  assert.equal(await db.tx((q) => mintClaim(q, 0, world.clock.now())), null, 'none is minted while an admin exists');
});

eachDatabase('R16: five wrong tries end the claim, and so does an hour', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [pairing] });
  const code = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  for (let tries = 0; tries < 5; tries++) await world.say('eve', 'claim AAAABBBBCCCCDDDDEEEEFFFFGG');
  await world.say('ana', `claim ${code}`);
  const lines = (await world.outbox()).map((line) => line.markdown);
  assert.deepEqual(lines.slice(0, 5), Array(5).fill('That code is not right.'));
  assert.match(lines[5] ?? '', /^There is no claim code to redeem/);
  const late = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.clock.advance(limits.claimMs);
  await world.say('ana', `claim ${late}`);
  assert.match((await world.outbox())[6]?.markdown ?? '', /^There is no claim code to redeem/);
});

eachDatabase('R16: a claim in a group is not redeemed', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  const code = (await db.tx((q) => mintClaim(q, 0, world.clock.now()))) as string;
  await world.say('ana', `/claim ${code}`, { chat: group, command: { name: 'claim', args: code } });
  assert.match((await world.outbox())[0]?.markdown ?? '', /direct message only/);
  assert.deepEqual(await db.all('select user_id from accounts where admin = 1'), []);
});

eachDatabase('R13: a group that nobody admitted gets one line; an admin admits it from inside', async (_t, open) => {
  const world = createInboxWorld(await open(), { admins: ['tg:boss'] });
  const elsewhere = { chat: { id: '-9', kind: 'group' as const, title: 'Strangers' }, mentionsBot: true };
  await world.say('eve', '@bot hi', elsewhere);
  await world.say('eve', '@bot hi', elsewhere);
  const lines = await world.outbox();
  assert.equal(lines.length, 1);
  assert.match(lines[0]?.markdown ?? '', /\/pair here/);
  await world.say('boss', '/pair here', { ...elsewhere, command: { name: 'pair', args: 'here' } });
  await world.say('eve', '@bot now?', elsewhere);
  assert.deepEqual(await world.states(), ['refused', 'refused', 'handled', 'waiting']);
});

eachDatabase('R13: a group is open when a paired account or an admin added the bot', async (_t, open) => {
  const world = createInboxWorld(await open(), { admins: ['tg:boss'] });
  const chat = { id: '-9', kind: 'group' as const };
  const added = (by: string) =>
    world
      .inbox()
      .accept({ kind: 'membership', key: `a:${by}`, chat, change: 'added', by: sender(by), sentAt: world.clock.now() });
  await added('eve');
  await world.say('ana', '@bot hi', { chat, mentionsBot: true });
  await added('boss');
  await world.say('ana', '@bot hi', { chat, mentionsBot: true });
  assert.deepEqual(await world.states(), ['handled', 'refused', 'handled', 'waiting']);
});

eachDatabase('R13: allowlist, exceptions and guests', async (_t, open) => {
  const db = await open();
  const list = createInboxWorld(db, {
    bindings: [
      bindingSpec({ access: { direct: 'allowlist', group: 'allowlist', allow: ['tg:ana'], rateLimit: null } }),
    ],
  });
  await list.say('ana', 'in');
  await list.say('eve', 'out');
  await list.say('eve', '@bot out', { chat: group, mentionsBot: true });
  assert.deepEqual(await list.states(), ['waiting', 'refused', 'refused']);
  assert.deepEqual(
    (await list.outbox()).map((line) => line.chat),
    ['eve'],
    'a room gets no word about it',
  );
  const open_ = createInboxWorld(db);
  await open_.say('guest', 'hi', { key: 'guest', sender: sender('guest', { membership: 'guest' }) });
  assert.equal((await open_.states()).at(-1), 'refused');
});

eachDatabase('R13, rows 155 to 158: a name never stands for an id', async (_t, open) => {
  const world = createInboxWorld(await open(), {
    bindings: [bindingSpec({ access: { direct: 'allowlist', group: 'open', allow: ['tg:100'], rateLimit: null } })],
  });
  await world.say('666', 'hi', { sender: sender('666', { name: '100' }) });
  assert.deepEqual(await world.states(), ['refused']);
});

eachDatabase('a text of 10 MB is refused with its length, and nothing else is lost', async (_t, open) => {
  const world = createInboxWorld(await open());
  await world.say('ana', 'x'.repeat(10_000_000));
  await world.say('ana', 'small');
  assert.deepEqual(await world.states(), ['refused', 'waiting']);
  assert.equal(
    (await world.outbox())[0]?.markdown,
    'That message has 10000000 characters; I can take 64000. Please send it in parts.',
  );
});

eachDatabase(
  'R13: what nobody there can have as an id is not admitted, neither as a person nor as a group',
  async (_t, open) => {
    const db = await open();
    const accountIds = { pattern: '^[0-9]+$', hint: 'a number' };
    const facts = {
      threads: 'given' as const,
      groupsNeedAdmission: true,
      accountIds,
      groupIds: { pattern: '^-[0-9]+$' },
    };
    const page = { threads: false as const, groupsNeedAdmission: false };
    const world = createInboxWorld(db, { admins: ['tg:1'], channels: { tg: facts, page } });
    const impossible = ['tg:@ann', 'tg:', 'tg:ann', 'tg:#ops', 'tg:@ann admin', 'page:@ann', 'page:'];
    for (const args of impossible) await world.say('1', `/pair ${args}`, { command: { name: 'pair', args } });
    const lines = (await world.outbox()).map((line) => line.markdown);
    assert.equal(lines.length, 7);
    for (const line of lines)
      assert.match(line, /^`(tg|page):[@#an]*(nn|ops)?` is not the id of an account or a group\./);
    assert.deepEqual(
      await db.all(`select chat from chats union all select user_id from accounts where user_id <> '1'`),
      [],
    );
    assert.equal(kindOfId('7', facts), 'account');
    assert.equal(kindOfId('-7', facts), 'group');
    await assert.rejects(
      db.tx((q) => admit(q, { channel: 'tg', id: '@ann' }, facts, { actor: 'cli', asAdmin: false }, 0)),
      { code: 'invalid', message: '"@ann" is not a user id (a number)' },
    );
  },
);

eachDatabase('R37: a display name brings no Markdown into our own lines', async (_t, open) => {
  const world = createInboxWorld(await open(), { bindings: [pairing], admins: ['tg:boss'] });
  const name = '[Ana](https://evil.example)**\n# x';
  const shown = '\\[Ana\\]\\(https\\:\\/\\/evil\\.example\\)\\*\\* \\# x';
  await world.say('eve', 'hello', { sender: sender('eve', { name }) });
  const code = /`([A-Z2-9]{8})`/.exec((await world.outbox())[0]?.markdown ?? '')?.[1] as string;
  await world.say('boss', '/pair list');
  await world.say('boss', `/pair ${code}`);
  await world.say('eve', '/whoami', { sender: sender('eve', { name }) });
  const lines = (await world.outbox()).map((line) => line.markdown);
  assert.equal(lines[1], `- **${shown}**, \`tg:eve\``);
  assert.equal(lines[3], `Admitted: **${shown}**, \`tg:eve\`.`);
  assert.equal(lines[4], `You are **${shown}**, \`tg:eve\`, admitted by an admin.`);
});
