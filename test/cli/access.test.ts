import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessHandlers } from '../../src/gateway/control_access.ts';
import { ensureAccount } from '../../src/store/accounts.ts';
import { addAudit } from '../../src/store/audit.ts';
import { eachDatabase } from '../support/databases.ts';
import { cli, valid } from './support.ts';

test('R97: token and audit say what is right when they are used wrongly', async (t) => {
  const { run } = cli(t, valid);
  const of = async (...argv: string[]) => {
    const { code, out, err } = await run(...argv);
    assert.deepEqual([code, out], [2, '']);
    return err;
  };
  const usage = 'gatehouse: token takes create --person ACCOUNT, list, or revoke ID\n';
  for (const argv of [[], ['revoke'], ['list', 'x'], ['drop', 'x']]) assert.equal(await of('token', ...argv), usage);
  const person = 'gatehouse: token create needs --person ACCOUNT, an account <channel>:<user id>\n';
  assert.equal(await of('token', 'create'), person);
  assert.equal(await of('token', 'create', '--person', 'ann'), person);
  assert.equal(await of('token', 'list', '--label', 'x'), 'gatehouse: --label is for token create only\n');
  for (const expires of ['90', 'soon', '-1d', '1w'])
    assert.equal(
      await of('token', 'create', '--person', 'tg:5', `--expires=${expires}`),
      'gatehouse: --expires takes a duration such as 12h or 90d\n',
    );
  assert.equal(
    await of('token', 'create', '--person', 'tg:5', '--expires', '0d'),
    'gatehouse: --expires takes a duration longer than none, such as 12h or 90d\n',
  );
  for (const limit of ['0', '1001', 'x'])
    assert.equal(await of('audit', '--limit', limit), 'gatehouse: --limit takes a number from 1 to 1000\n');
});

eachDatabase('R97, R91: token and audit work on the database when no gateway runs', async (t, open) => {
  const db = await open();
  await db.tx((q) => ensureAccount(q, 'tg', { id: '5', name: 'Ann' }, 'p', 1));
  const now = 1_767_225_600_000;
  const handlers = accessHandlers({ db, now: () => now });
  const { run } = cli(t, valid, { offline: async (_loaded, command, args) => handlers[command]!(args) });

  assert.equal((await run('token', 'list')).out, 'There are no tokens.\n');
  assert.equal((await run('audit')).out, 'Nothing has been changed yet.\n');
  const made = await run('token', 'create', '--person', 'tg:5', '--label', 'nightly', '--expires', '90d');
  assert.match(
    made.out,
    /^ght_[A-Za-z0-9_-]{43}\nSpeaks for tg:5, until 2026-04-01 .{5}\. It is shown this once; its id is [0-9a-z]{25}\.\n$/,
  );
  const forever = await run('token', 'create', '--person', 'tg:5');
  assert.match(forever.out, /\nSpeaks for tg:5, until it is revoked\. /);
  const scripted = JSON.parse((await run('token', 'create', '--person', 'tg:5', '--json')).out);
  assert.deepEqual(Object.keys(scripted).sort(), [
    'account',
    'createdAt',
    'expiresAt',
    'id',
    'label',
    'lastUsedAt',
    'token',
  ]);
  const list = await run('token', 'list');
  assert.match(list.out, /^ID +ACCOUNT +LABEL +MADE +EXPIRES +USED\n/);
  assert.match(list.out, /tg:5 +nightly +2026-01-01 .{5} +2026-04-01 .{5} +never\n/);
  assert.doesNotMatch(list.out + (await run('token', 'list', '--json')).out, /ght_/);
  assert.equal((await run('token', 'revoke', scripted.id)).out, 'Revoked a token of tg:5.\n');
  const again = await run('token', 'revoke', scripted.id);
  assert.deepEqual(
    [again.code, again.err],
    [1, `gatehouse: there is no token with the id ${scripted.id}; "gatehouse token list" shows them\n`],
  );
  const unknown = await run('token', 'create', '--person', 'tg:6');
  assert.deepEqual([unknown.code, unknown.out], [1, '']);
  assert.match(unknown.err, /^gatehouse: there is no account tg:6 yet; it is known once it has written to the bot/);

  await addAudit(db, { id: 'zz', at: now, actor: 'tg:5', action: 'x', subject: 'tg:\u001b[2J', after: { a: 1 } });
  const audit = (await run('audit', '--limit', '2')).out;
  assert.match(
    audit,
    /^WHEN +WHO +WHAT +WHOM +BEFORE +AFTER\n.* tg:5 +x +tg:\\u001b\[2J +\{"a":1\}\n.* cli +token\.revoke +tg:5 /,
  );
  assert.equal(audit.split('\n').length, 4, 'a head, two rows, and the end of the last line');
  const entries = JSON.parse((await run('audit', '--json')).out).entries as { action: string }[];
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['x', 'token.revoke', 'token.create', 'token.create', 'token.create'],
  );
});
