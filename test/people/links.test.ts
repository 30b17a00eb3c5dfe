import assert from 'node:assert/strict';
import { limits } from '../../src/base/limits.ts';
import { countAsOne, peopleOf } from '../../src/people/links.ts';
import { eachDatabase } from '../support/databases.ts';
import { group, sender } from '../support/inbox_world.ts';
import { codeIn, createLinkWorld } from './link_world.ts';

/** What no statement of its own is for; the statements run on both databases in the others. */
const onSqlite = { only: 'sqlite' } as const;

const wrong = 'No open link has that code. Codes work once, for 15 minutes; `/link` gives a new one.';
const nothing = 'There is nothing to confirm. Write `/link` for a code.';

eachDatabase('R15: each side sees the other account and what is shared, and both confirm', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const asAnn = { sender: sender('ann', { name: 'Ann' }) };
  const code = codeIn(await world.from('tg:ana', '/link', { sender: sender('ana', { name: 'Ana *B*' }) }));
  const [asked] = await world.from('page:ann', `link ${code}`, asAnn);
  assert.match(
    asked ?? '',
    /^Is this you as well\?\n- \*\*Ana \\\*B\\\*\*\*, `tg:ana`\n\nOnce linked, all your accounts see /,
  );
  assert.match(asked ?? '', /Write `link confirm` here and there within 15 minutes\. .*`link cancel`\.$/);
  const shown = (await world.toldTo('tg:ana')).at(-1) ?? '';
  assert.match(shown, /^Is this you as well\?\n- \*\*Ann\*\*, `page:ann`\n\nOnce linked, /);

  assert.deepEqual(await world.from('page:ann', 'link confirm', asAnn), [
    'Confirmed here. Now write `link confirm` from `tg:ana` too.',
  ]);
  const [ana, ann] = [await world.personOf('tg:ana'), await world.personOf('page:ann')];
  assert.deepEqual(await peopleOf(db, ana), [ana], 'one side alone links nothing');
  assert.equal(await countAsOne(db, ana, ann, world.clock.now()), false);
  assert.deepEqual(await world.from('page:ann', 'link confirm', asAnn), [
    'Confirmed here. Now write `link confirm` from `tg:ana` too.',
  ]);
  assert.deepEqual(await peopleOf(db, ana), [ana], 'twice from one side is still one side');

  assert.deepEqual(await world.from('tg:ana', 'Link confirm', { sender: sender('ana', { name: 'Ana *B*' }) }), [
    'This account is linked with:\n- **Ann**, `page:ann`',
  ]);
  assert.equal((await world.toldTo('page:ann')).at(-1), 'This account is linked with:\n- **Ana \\*B\\***, `tg:ana`');
  assert.deepEqual(await peopleOf(db, ana), [ana, ann]);
  assert.deepEqual(await peopleOf(db, ann), [ann, ana]);
  assert.notEqual(ana, ann, 'each account keeps its person');
  assert.deepEqual(await db.all('select actor, action, subject, before from audit order by id'), [
    { actor: 'tg:ana', action: 'link', subject: 'page:ann', before: '{"linked":["tg:ana"]}' },
    { actor: 'page:ann', action: 'link', subject: 'tg:ana', before: '{"linked":["page:ann"]}' },
  ]);
  assert.deepEqual(await world.from('tg:ana', '/whoami', { sender: sender('ana', { name: 'Ana' }) }), [
    'You are **Ana**, `tg:ana`, a member.\n\nLinked with:\n- **Ann**, `page:ann`',
  ]);
  const inRoom = { chat: group, sender: sender('ana', { name: 'Ana' }) };
  assert.deepEqual(await world.from('tg:ana', '/whoami', inRoom), ['You are **Ana**, `tg:ana`, a member.']);
});

eachDatabase(
  'R15: a code works once, for 15 minutes, and not after another was asked for',
  async (_t, open) => {
    const world = createLinkWorld(await open());
    const first = codeIn(await world.from('tg:ana', '/link'));
    const second = codeIn(await world.from('tg:ana', '/link'));
    assert.deepEqual(await world.from('page:ann', `link ${first}`), [wrong]);
    await world.clock.advance(limits.linkMs);
    assert.deepEqual(await world.from('page:ann', `link ${second}`), [wrong]);
    const third = codeIn(await world.from('tg:ana', '/link'));
    assert.match((await world.from('page:ann', `/link ${third.toLowerCase()}`))[0] ?? '', /^Is this you as well\?/);
    assert.deepEqual(await world.from('page:eve', `link ${third}`), [wrong]);
    await world.clock.advance(limits.linkMs);
    assert.deepEqual(await world.from('page:ann', 'link confirm'), [nothing]);
    assert.deepEqual(await world.from('tg:ana', 'link confirm'), [nothing]);
  },
  onSqlite,
);

eachDatabase(
  'R15: only the hash of a code is stored, and a code in a room is neither given nor used',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db);
    const code = codeIn(await world.from('tg:ana', '/link'));
    assert.doesNotMatch(JSON.stringify(await db.all('select * from link_codes')), new RegExp(code));
    const only = ['Accounts are linked and unlinked in a direct message only.'];
    for (const text of ['/link', `/link ${code}`, '/link confirm', '/unlink'])
      assert.deepEqual(await world.from('tg:eve', text, { chat: group }), only, text);
    assert.match((await world.from('page:ann', `link ${code}`))[0] ?? '', /^Is this you as well\?/);
  },
  onSqlite,
);

eachDatabase('R15: five wrong codes an hour, then no code is looked at', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  const code = codeIn(await world.from('tg:ana', '/link'));
  for (let tries = 0; tries < 5; tries++) assert.deepEqual(await world.from('page:eve', '/link ABCD'), [wrong]);
  const tooMany = ['Too many wrong codes. Try again in an hour.'];
  assert.deepEqual(await world.from('page:eve', `link ${code}`), tooMany);
  assert.match((await world.from('page:ann', `link ${code}`))[0] ?? '', /^Is this/, 'others may still try');
  await world.clock.advance(limits.linkTriesMs - 1);
  assert.deepEqual(await world.from('page:eve', '/link ABCD'), tooMany);
  await world.clock.advance(1);
  assert.deepEqual(await world.from('page:eve', '/link ABCD'), [wrong]);
  assert.deepEqual(await db.all("select count(*) as n from audit where action = 'link.wrong_code'"), [{ n: 6 }]);
});

eachDatabase(
  'R15: the same account and one that is linked already are refused',
  async (_t, open) => {
    const world = createLinkWorld(await open());
    const same = ['That is this account, or one it is linked with already. Send the code from another account.'];
    assert.deepEqual(await world.from('tg:ana', `link ${codeIn(await world.from('tg:ana', '/link'))}`), same);
    await world.link('tg:ana', 'page:ann');
    assert.deepEqual(await world.from('tg:ana', `link ${codeIn(await world.from('page:ann', '/link'))}`), same);
  },
  onSqlite,
);

eachDatabase(
  'R15: either side can cancel, and the other is told',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db);
    const code = codeIn(await world.from('tg:ana', '/link'));
    await world.from('page:ann', `link ${code}`);
    await world.from('tg:ana', 'link confirm');
    assert.deepEqual(await world.from('page:ann', 'link cancel'), [
      'Cancelled: nothing was linked, and no code of yours works any more.',
    ]);
    assert.equal((await world.toldTo('tg:ana')).at(-1), 'The other account has cancelled: nothing was linked.');
    assert.deepEqual(await world.from('page:ann', 'link confirm'), [nothing]);
    assert.deepEqual(await world.from('tg:ana', 'link confirm'), [nothing]);
    assert.deepEqual(await db.all('select person_id from links'), []);
  },
  onSqlite,
);

eachDatabase(
  'R15: who sends another code answers that one, and the first asker is told',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db);
    await world.from('page:ann', `link ${codeIn(await world.from('tg:eve', '/link'))}`);
    await world.from('page:ann', `link ${codeIn(await world.from('tg:ana', '/link'))}`);
    assert.equal((await world.toldTo('tg:eve')).at(-1), 'The other account has cancelled: nothing was linked.');
    await world.from('tg:eve', 'link confirm');
    await world.from('page:ann', 'link confirm');
    await world.from('tg:ana', 'link confirm');
    const ann = await world.personOf('page:ann');
    assert.deepEqual(await peopleOf(db, ann), [ann, await world.personOf('tg:ana')]);
  },
  onSqlite,
);

eachDatabase('R15: groups become one; all of them are shown before and told after', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  await world.link('tg:a', 'page:b');
  await world.link('tg:c', 'page:d');
  const code = codeIn(await world.from('tg:a', '/link'));
  assert.match(
    (await world.from('page:d', `link ${code}`))[0] ?? '',
    /^Is this you as well\?\n- \*\*a\*\*, `tg:a`\n- \*\*b\*\*, `page:b`\n\n/,
  );
  assert.match((await world.toldTo('tg:a')).at(-1) ?? '', /\?\n- \*\*d\*\*, `page:d`\n- \*\*c\*\*, `tg:c`\n\n/);
  await world.from('tg:a', 'link confirm');
  await world.from('page:d', 'link confirm');
  const all = ['tg:a', 'page:b', 'tg:c', 'page:d'];
  const people = (await Promise.all(all.map((one) => world.personOf(one)))).sort();
  for (const one of all) assert.deepEqual((await peopleOf(db, await world.personOf(one))).sort(), people, one);
  assert.match((await world.toldTo('page:b')).at(-1) ?? '', /^This account is linked with:\n(.*\n)*.*`page:d`/);
});

eachDatabase(
  'R15: a question about accounts that have been linked with more meanwhile is withdrawn',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db);
    await world.link('tg:a', 'page:b');
    await world.from('page:z', `link ${codeIn(await world.from('tg:a', '/link'))}`);
    await world.from('page:z', 'link confirm');
    await world.link('page:b', 'tg:more');
    assert.deepEqual(await world.from('tg:a', 'link confirm'), [nothing]);
    assert.equal((await world.toldTo('page:z')).at(-1), 'The other account has cancelled: nothing was linked.');
  },
  onSqlite,
);

eachDatabase(
  'R15: no more than ten accounts are linked',
  async (_t, open) => {
    const world = createLinkWorld(await open());
    for (let count = 1; count < 10; count++) await world.link('page:hub', `tg:t${count}`);
    const code = codeIn(await world.from('page:hub', '/link'));
    assert.deepEqual(await world.from('tg:t10', `link ${code}`), ['No more than 10 accounts can be linked.']);
  },
  onSqlite,
);

eachDatabase('R15: unlink separates the own account, and tells the others', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  await world.link('tg:a', 'page:b');
  await world.link('tg:a', 'tg:c');
  assert.deepEqual(await world.from('page:b', '/unlink'), [
    'This account stands alone again. It was linked with:\n- **a**, `tg:a`\n- **c**, `tg:c`',
  ]);
  for (const account of ['tg:a', 'tg:c'])
    assert.equal(
      (await world.toldTo(account)).at(-1),
      'This account is no longer linked with you:\n- **b**, `page:b`',
      account,
    );
  const [a, b, c] = [await world.personOf('tg:a'), await world.personOf('page:b'), await world.personOf('tg:c')];
  assert.deepEqual(await peopleOf(db, b), [b]);
  assert.deepEqual(await peopleOf(db, a), [a, c]);
  assert.deepEqual(await world.from('page:b', '/unlink'), ['This account is linked with no other.']);
  assert.deepEqual(await db.all("select actor, subject from audit where action = 'unlink'"), [
    { actor: 'page:b', subject: 'page:b' },
  ]);
});

eachDatabase('R15: accounts unlinked within 72 hours count as one, also when they joined others', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  await world.link('tg:a', 'page:b');
  await world.from('tg:far', 'hello');
  const [a, b, far] = [await world.personOf('tg:a'), await world.personOf('page:b'), await world.personOf('tg:far')];
  const one = (left: string, right: string) => countAsOne(db, left, right, world.clock.now());
  assert.deepEqual([await one(a, a), await one(a, b), await one(b, a), await one(a, far)], [true, true, true, false]);
  await world.clock.advance(1_000);
  await world.from('page:b', '/unlink');
  await world.clock.advance(1_000);
  await world.link('page:b', 'tg:c');
  const c = await world.personOf('tg:c');
  assert.deepEqual([await one(b, c), await one(a, c)], [true, false]);
  await world.clock.advance(limits.linkAsOneMs - 1_000);
  assert.deepEqual([await one(a, b), await one(b, a)], [true, true]);
  await world.clock.advance(1);
  assert.deepEqual([await one(a, b), await one(b, a), await one(b, c)], [false, false, true]);
});

eachDatabase(
  'R15: who comes after somebody has left is not one with them',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db);
    await world.link('tg:a', 'page:b');
    await world.clock.advance(1_000);
    await world.from('page:b', '/unlink');
    await world.clock.advance(1_000);
    await world.link('tg:a', 'tg:c');
    const [a, b, c] = [await world.personOf('tg:a'), await world.personOf('page:b'), await world.personOf('tg:c')];
    assert.equal(await countAsOne(db, a, b, world.clock.now()), true);
    assert.equal(await countAsOne(db, b, c, world.clock.now()), false);
  },
  onSqlite,
);

eachDatabase('R15: both confirming at once link once', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db);
  await world.from('page:b', `link ${codeIn(await world.from('tg:a', '/link'))}`);
  await Promise.all([world.from('tg:a', 'link confirm'), world.from('page:b', 'link confirm')]);
  assert.deepEqual(await db.all("select count(*) as n from audit where action = 'link'"), [{ n: 2 }]);
  assert.equal((await peopleOf(db, await world.personOf('tg:a'))).length, 2);
});

eachDatabase(
  'R15: the admin role stays with the account that holds it',
  async (_t, open) => {
    const world = createLinkWorld(await open(), {}, ['tg:boss']);
    await world.link('tg:boss', 'page:boss');
    assert.match((await world.from('tg:boss', '/whoami'))[0] ?? '', /, an admin\./);
    assert.match((await world.from('page:boss', '/whoami'))[0] ?? '', /, a member\./);
    assert.deepEqual(await world.from('page:boss', '/pair tg:eve'), ['Only an admin can admit people.']);
  },
  onSqlite,
);

eachDatabase('R13, R15: `linked` lets in an account while it is linked; a stranger gets no code', async (_t, open) => {
  const db = await open();
  const world = createLinkWorld(db, { direct: 'linked' });
  const refused = [
    'I answer linked accounts only. Write `/link` to me from an account I know, and send me the code from here.',
  ];
  assert.deepEqual(await world.from('tg:ana', 'hello'), refused);
  assert.deepEqual(await world.from('tg:ana', '/link'), refused, 'two strangers cannot let each other in');
  assert.deepEqual(await world.from('tg:ana', '/whoami'), refused);
  assert.deepEqual(await db.all('select user_id from accounts'), []);
  await world.link('page:ann', 'tg:ana');
  assert.deepEqual(await world.from('tg:ana', 'hello'), []);
  assert.equal((await world.states()).at(-1), 'waiting');
  await world.from('page:ann', '/unlink');
  assert.deepEqual(await world.from('tg:ana', 'hello?'), refused);
});

eachDatabase('R13, R15: who was let in by a link lets in nobody for longer', async (_t, open) => {
  const world = createLinkWorld(await open(), { direct: 'linked' });
  await world.link('page:ann', 'tg:ana');
  await world.link('tg:ana', 'tg:eve');
  await world.from('tg:eve', 'hello');
  assert.equal((await world.states()).at(-1), 'waiting');
  await world.from('page:ann', '/unlink');
  for (const account of ['tg:ana', 'tg:eve']) {
    await world.from(account, 'hello?');
    assert.equal((await world.states()).at(-1), 'refused', account);
  }
});

eachDatabase(
  'R15: who may not talk to the bot cannot link',
  async (_t, open) => {
    const db = await open();
    const world = createLinkWorld(db, { direct: 'pairing' });
    const code = codeIn(await world.from('page:ann', '/link'));
    assert.match((await world.from('tg:eve', `link ${code}`))[0] ?? '', /^I do not know you yet\./);
    assert.deepEqual(await world.from('tg:eve', '/link confirm'), []);
    assert.deepEqual(await db.all('select other_user_id from link_codes'), [{ other_user_id: null }]);
  },
  onSqlite,
);

eachDatabase(
  'R18: a sentence that begins with link is for the agent',
  async (_t, open) => {
    const world = createLinkWorld(await open());
    for (const text of ['link', 'link the two tickets', 'link sneakers', 'unlink', 'link confirm please'])
      assert.deepEqual(await world.from('tg:ana', text), [], text);
    assert.deepEqual(await world.states(), Array(5).fill('waiting'));
  },
  onSqlite,
);
