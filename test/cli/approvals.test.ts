/** `gatehouse approvals` over a real database, as without a running gateway, and once over the control socket. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { startControl } from '../../src/control/server.ts';
import { offlineHandlers } from '../../src/gateway/control.ts';
import { plugins } from '../../src/plugins.ts';
import type { Db } from '../../src/store/db.ts';
import { openStore } from '../../src/store/open.ts';
import { addPerson, addQuestion, decideAs, kept } from '../http/questions.ts';
import { cli, valid } from './support.ts';

const timeout = 20_000;

async function open(t: TestContext) {
  const handlers = () =>
    offlineHandlers({
      db,
      now: () => Date.now(),
      timezone: 'UTC',
      language: 'en',
      factsOf: () => undefined,
      capabilities: () => [],
      policySettings: () => ({ policies: {}, admins: new Set(), timezone: 'UTC', bindings: [], agents: new Map() }),
    });
  const { run, folder } = cli(t, valid, { offline: async (_loaded, command, args) => handlers()[command]?.(args) });
  const db: Db = await openStore(`sqlite:${join(folder, 'questions.db')}`);
  t.after(() => db.close());
  await addPerson(db, 'bob', 'Bob');
  await addPerson(db, 'ada', 'Ada');
  return { db, run, folder, handlers };
}

test('list shows what waits, and with --all what is decided', { timeout }, async (t) => {
  const { db, run } = await open(t);
  assert.deepEqual(await run('approvals', 'list'), { code: 0, out: 'Nothing waits for a decision.\n', err: '' });
  await addQuestion(db, 'a1', { code: 'K7' });
  await addQuestion(db, 'a2', { code: 'M2', tool: 'snap\u202eshot' });
  await decideAs(db, 'ada', 'a1', 'deny');
  const { out } = await run('approvals', 'list');
  assert.match(out, /^ID +CODE +STATE +TOOL +AGENT +ASKED BY +AGE\n/);
  assert.match(out, /^a2 +M2 +pending +snap\\u202eshot +helper +Bob +3 min +open for 2 d$/m);
  assert.doesNotMatch(out, /^a1 /m);
  const all = await run('approvals', 'list', '--all');
  assert.match(all.out, /^a1 +K7 +denied +cache_cleaner +helper +Bob +3 min +Ada \(web:ada\)$/m);
  const { approvals } = JSON.parse((await run('approvals', 'list', '--all', '--json')).out);
  assert.deepEqual(
    approvals.map(({ id, state }: { id: string; state: string }) => [id, state]),
    [
      ['a2', 'pending'],
      ['a1', 'denied'],
    ],
  );
});

test('R49: show prints the arguments, the agent’s words as such, who asked and who decides', { timeout }, async (t) => {
  const { db, run } = await open(t);
  await addQuestion(db, 'a1', { name: 'tidy_up', message: 'quite\nharm\u200bless' });
  const { out } = await run('approvals', 'show', '4k7');
  const lines = out.split('\n');
  assert.deepEqual(lines.slice(0, 4), [
    'cache_cleaner of skill:cache_cleaner',
    'The agent calls it tidy_up.',
    'Id a1, code 4K7',
    'Agent helper, asked by Bob (web:bob) in web / bob',
  ]);
  assert.match(lines[4] ?? '', /^Asked \d{4}-\d\d-\d\d \d\d:\d\d, open until \d{4}-\d\d-\d\d \d\d:\d\d$/);
  assert.deepEqual(lines.slice(5), [
    'One of these decides: web:ada.',
    'Nobody has decided yet.',
    '',
    '{',
    '  "folder": "/var/cache",',
    '  "older_than_days": 30',
    '}',
    '',
    "In the agent's own words: quite harm\\u200bless",
    '',
  ]);
});

test('R48: approve and deny by id or code, once; the second time exits 1 and says who decided', {
  timeout,
}, async (t) => {
  const { db, run } = await open(t);
  await addQuestion(db, 'a1', { code: 'K7' });
  await addQuestion(db, 'a2', { code: 'M2' });
  const approved = await run('approvals', 'approve', 'k7');
  assert.deepEqual(approved, { code: 0, out: 'Noted: approved.\n', err: '' });
  assert.deepEqual(
    { ...(await kept(db, 'a1')) },
    {
      state: 'approved',
      by: 'operator (cli)',
      reason: null,
      answer: null,
    },
  );
  const denied = await run('approvals', 'deny', 'a2', '--reason', 'not now', '--json');
  assert.deepEqual(JSON.parse(denied.out), { id: 'a2', state: 'denied', notice: 'Noted: denied.' });
  assert.equal((await kept(db, 'a2'))?.reason, 'not now');
  for (const action of ['approve', 'deny'])
    assert.deepEqual(await run('approvals', action, 'a2'), {
      code: 1,
      out: '',
      err: 'gatehouse: Already denied by operator (cli).\n',
    });
  const audited = await db.all("select actor, action from audit where subject in ('a1', 'a2') order by id");
  assert.deepEqual(
    audited.map((row) => ({ ...row })),
    [
      { actor: 'cli', action: 'approval.approved' },
      { actor: 'cli', action: 'approval.denied' },
    ],
  );
});

test('R57: the command line is one of two who must approve', { timeout }, async (t) => {
  const { db, run } = await open(t);
  await addQuestion(db, 'a1', { dual: true });
  await db.run("update accounts set paired_at = 1 where user_id = 'ada'");
  const first = await run('approvals', 'approve', 'a1');
  assert.deepEqual(first, { code: 0, out: 'Your approval is noted; another person must approve too.\n', err: '' });
  await run('approvals', 'approve', 'a1');
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
  assert.match((await run('approvals', 'show', 'a1')).out, /^Approved by cli \(cli\) \d{4}/m);
  assert.deepEqual(await decideAs(db, 'ada', 'a1', 'approve'), {
    ok: true,
    state: 'approved',
    words: 'Noted: approved.',
  });
});

test('an id that is not there, a code of two, and wrong words say what to do', { timeout }, async (t) => {
  const { db, run } = await open(t);
  await addQuestion(db, 'a1');
  await addQuestion(db, 'a2', { place: { channel: 'web', chat: 'eve' } });
  assert.deepEqual(await run('approvals', 'approve', 'zz'), {
    code: 1,
    out: '',
    err: 'gatehouse: there is no approval zz; "gatehouse approvals list --all" shows all with their ids\n',
  });
  assert.deepEqual(await run('approvals', 'approve', '4K7'), {
    code: 1,
    out: '',
    err: 'gatehouse: several open questions have the code 4K7; name one by its id: "gatehouse approvals list" shows them\n',
  });
  for (const words of [
    ['approve'],
    ['list', 'a1'],
    ['show'],
    ['forget', 'a1'],
    ['show', 'a1', '--all'],
    ['list', '--reason', 'x'],
  ])
    assert.deepEqual(await run('approvals', ...words), {
      code: 2,
      out: '',
      err: 'gatehouse: approvals takes list [--all], show ID, approve ID, or deny ID [--reason TEXT]\n',
    });
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
});

test('R94: a running gateway decides, over its socket', { timeout }, async (t) => {
  const { db, run, folder, handlers } = await open(t);
  const { dataDir } = loadConfig(join(folder, 'config.yaml'), {}, plugins).config.gateway;
  mkdirSync(dataDir, { recursive: true });
  const control = await startControl(dataDir, handlers());
  t.after(() => control.close());
  await addQuestion(db, 'a1');
  assert.equal((await run('approvals', 'deny', '4K7')).out, 'Noted: denied.\n');
  assert.deepEqual(await run('approvals', 'approve', 'a1'), {
    code: 1,
    out: '',
    err: 'gatehouse: Already denied by operator (cli).\n',
  });
});
