import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createToken } from '../../src/people/tokens.ts';
import { ensureAccount, setPaired } from '../../src/store/accounts.ts';
import { ask } from '../support/ask.ts';
import { addPerson, addQuestion, decideAs, kept } from './questions.ts';
import { httpOnly, startGateway } from './support.ts';

const timeout = 20_000;

/** The gateway with Ada, who decides, Bob, who asks, Carol, an admin, and Mallory, who has nothing to do with it. */
async function open(t: TestContext) {
  const gateway = await startGateway(t);
  const { db, url } = gateway;
  await addPerson(db, 'ada', 'Ada');
  await addPerson(db, 'bob', 'Bob');
  await addPerson(db, 'carol', 'Carol', true);
  await addPerson(db, 'mallory', 'Mallory');
  const visitor = async (userId: string, name: string, channel = 'web') => {
    const cookie = await gateway.signIn(userId, { name, channel });
    const get = (path: string, headers: Record<string, string> = { cookie }) => ask(`${url}${path}`, { headers });
    return {
      cookie,
      get,
      async list(query = '') {
        const answer = await get(`/api/v1/approvals${query}`);
        return { status: answer.status, body: JSON.parse(answer.text) };
      },
      async ids(query = ''): Promise<string[]> {
        const answer = await get(`/api/v1/approvals${query}`);
        return JSON.parse(answer.text).approvals.map(({ id }: { id: string }) => id);
      },
      async decide(id: string, body: unknown, headers: Record<string, string> = { cookie }) {
        const answer = await ask(`${url}/api/v1/approvals/${id}`, {
          method: 'POST',
          headers: { origin: url, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        });
        return { status: answer.status, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : answer.text };
      },
    };
  };
  return { gateway, db, visitor };
}

test('R93: the page and the API need a session and a page of ours', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  await addQuestion(db, 'a1');
  const { get, decide, cookie } = await visitor('ada', 'Ada');
  const page = await get('/approvals', { accept: 'text/html' });
  assert.deepEqual([page.status, page.text.includes('Please sign in')], [401, true]);
  assert.equal((await get('/api/v1/approvals', {})).status, 401);
  assert.equal((await decide('a1', { decision: 'approve' }, {})).status, 401);
  assert.equal((await decide('a1', { decision: 'approve' }, { cookie, origin: 'https://evil.example' })).status, 403);
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
});

test('R93: people see what they asked for or may decide, and nothing else', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  await addQuestion(db, 'a1');
  await addQuestion(db, 'a2', { approvers: 'requester', requester: 'person-ada', requesterAccount: 'web:ada' });
  await addQuestion(db, 'a3', { approvers: 'admins' });
  await addQuestion(db, 'a4', { approvers: 'members' });
  const [ada, bob, carol, mallory] = await Promise.all([
    visitor('ada', 'Ada'),
    visitor('bob', 'Bob'),
    visitor('carol', 'Carol'),
    visitor('mallory', 'Mallory'),
  ]);
  assert.deepEqual(await ada.ids(), ['a2', 'a1']);
  assert.deepEqual(await bob.ids(), ['a4', 'a3', 'a1']);
  assert.deepEqual(await carol.ids(), ['a3']);
  assert.deepEqual(await mallory.ids(), []);
  const seen = (await ada.list()).body.approvals[0];
  assert.deepEqual(
    [seen.mayDecide, seen.mayWithdraw, seen.requester],
    [true, true, { account: 'web:ada', name: 'Ada' }],
  );

  // The id of what one may not see is answered as one that does not exist.
  const foreign = await mallory.decide('a1', { decision: 'approve' });
  assert.equal(foreign.status, 404);
  assert.deepEqual(foreign, await mallory.decide('nothing', { decision: 'approve' }));
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
});

test('a list is of one state and as long as asked for', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  for (const id of ['a1', 'a2', 'd1']) await addQuestion(db, id);
  await decideAs(db, 'ada', 'd1', 'deny', 'too late');
  const { ids, list } = await visitor('ada', 'Ada');
  assert.deepEqual(await ids(), ['a2', 'a1']);
  assert.deepEqual(await ids('?state=pending&limit=1'), ['a2']);
  assert.deepEqual(await ids('?state=decided'), ['d1']);
  const [decided] = (await list('?state=decided')).body.approvals;
  assert.deepEqual([decided.state, decided.decidedBy, decided.reason], ['denied', 'Ada (web:ada)', 'too late']);
  for (const query of ['?state=all', '?limit=0', '?limit=201', '?limit=1.5', '?limit=x'])
    assert.equal((await list(query)).status, 400, query);
});

test('R49: names and words of others have nothing invisible, and a withdrawal says why', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  await addPerson(db, 'eve', 'E\u202eve');
  await addQuestion(db, 'a1', {
    requester: 'person-eve',
    requesterAccount: 'web:eve',
    name: 'clean\u200b',
    message: 'harm\u200bless',
  });
  await addQuestion(db, 'a2');
  await decideAs(db, 'bob', 'a2', 'withdraw');
  const { list } = await visitor('ada', 'Ada');
  const [view] = (await list()).body.approvals;
  assert.deepEqual(
    [view.requester.name, view.name, view.message, view.input],
    ['E\\u202eve', 'clean\\u200b', 'harm\\u200bless', '{\n  "folder": "/var/cache",\n  "older_than_days": 30\n}'],
  );
  const [withdrawn] = (await list('?state=decided')).body.approvals;
  assert.deepEqual([withdrawn.state, withdrawn.reason], ['withdrawn', 'It was taken back.']);
});

test('R48: the account of the session decides, once; the next one hears who did', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  await addQuestion(db, 'a1', { approvers: ['web:ada', 'web:carol'] });
  const [ada, bob, carol] = [await visitor('ada', 'Ada'), await visitor('bob', 'Bob'), await visitor('carol', 'Carol')];
  assert.deepEqual(await bob.decide('a1', { decision: 'approve', account: 'web:ada' }), {
    status: 403,
    body: { error: 'That is not yours to decide. One of these decides: web:ada, web:carol.' },
  });
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
  const denied = await ada.decide('a1', { decision: 'deny', reason: ' not today ' });
  assert.deepEqual(denied, { status: 200, body: { state: 'denied', notice: 'Noted: denied.' } });
  assert.deepEqual(
    { ...(await kept(db, 'a1')) },
    {
      state: 'denied',
      by: 'Ada (web:ada)',
      reason: 'not today',
      answer: null,
    },
  );
  assert.deepEqual(await carol.decide('a1', { decision: 'approve' }), {
    status: 409,
    body: { error: 'Already denied by Ada (web:ada).', state: 'denied', decidedBy: 'Ada (web:ada)' },
  });
  assert.deepEqual({ ...(await kept(db, 'a1')) }.state, 'denied');
});

test('R97: with a person’s token as with their session; a wrong one is nobody', { timeout }, async (t) => {
  const { gateway, db } = await open(t);
  await addQuestion(db, 'a1');
  const order = { channel: 'web', userId: 'ada', label: '', lifeMs: null };
  const { token } = await db.tx((q) => createToken(q, order, 'cli', Date.now()));
  const url = `${gateway.url}/api/v1/approvals`;
  const call = (bearer: string) =>
    ask(`${url}/a1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: '{"decision": "deny"}',
    });
  assert.equal((await call(`${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`)).status, 401);
  const listed = await ask(url, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(JSON.parse(listed.text).approvals[0].id, 'a1');
  assert.equal((await call(token)).status, 200);
  assert.equal((await kept(db, 'a1'))?.by, 'Ada (web:ada)');
});

test('R43, R57: always allow where it is offered; of two people the first leaves it pending', {
  timeout,
}, async (t) => {
  const { db, visitor } = await open(t);
  const own = { approvers: 'requester', requester: 'person-ada', requesterAccount: 'web:ada' } as const;
  await addQuestion(db, 'a1', { ...own, grantable: 'any' });
  await addQuestion(db, 'a2', { ...own, grantable: 'exact' });
  await addQuestion(db, 'a3', { dual: true });
  const [ada, carol] = [await visitor('ada', 'Ada'), await visitor('carol', 'Carol')];
  assert.equal((await ada.decide('a2', { decision: 'always' })).status, 422);
  assert.equal((await ada.decide('a1', { decision: 'always' })).status, 200);
  assert.equal((await ada.decide('a2', { decision: 'always_exact' })).status, 200);
  const grants = await db.all('select person_id as person, arguments from grants order by arguments');
  assert.deepEqual(
    grants.map((one) => ({ ...one })),
    [
      { person: 'person-ada', arguments: null },
      { person: 'person-ada', arguments: 'arguments' },
    ],
  );
  await db.run("update accounts set paired_at = 1 where user_id = 'ada'");
  assert.equal((await ada.decide('a3', { decision: 'approve' })).body.state, 'pending');
  const [half] = (await ada.list()).body.approvals;
  assert.deepEqual(
    half.signatures.map(({ name, account }: { name: string; account: string }) => [name, account]),
    [['Ada', 'web:ada']],
  );
  assert.equal((await carol.decide('a3', { decision: 'approve' })).body.state, 'approved');
});

test('R57: on the page everybody is of the house; an account of a platform may be a guest there', {
  timeout,
}, async (t) => {
  const { gateway, db, visitor } = await open(t);
  gateway.channels.push({ name: 'web', type: 'web', adapter: httpOnly(async () => new Response()) });
  await addQuestion(db, 'a1', { dual: true, approvers: ['web:ada', 'work:sam'] });
  assert.deepEqual(await (await visitor('ada', 'Ada')).ids(), ['a1']);
  const sam = await visitor('sam', 'Sam', 'work');
  assert.deepEqual(await sam.ids(), []);
  assert.equal((await sam.decide('a1', { decision: 'approve' })).status, 404);
  await ensureAccount(db, 'work', { id: 'sam', name: 'Sam' }, 'person-sam', 1);
  await setPaired(db, 'work', 'sam', 'cli', 1);
  assert.deepEqual(await sam.ids(), ['a1']);
});

test('R56: a question of the agent is answered or skipped by whom it asks', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  const asked = { kind: 'question', input: 'Which one?', options: ['red', 'green'] } as const;
  for (const id of ['q1', 'q2']) await addQuestion(db, id, { ...asked, options: [...asked.options] });
  const [ada, bob] = [await visitor('ada', 'Ada'), await visitor('bob', 'Bob')];
  assert.equal((await ada.decide('q1', { decision: 'answer', answer: 'red' })).status, 404);
  assert.equal((await bob.decide('q1', { decision: 'answer' })).status, 400);
  const approved = await bob.decide('q1', { decision: 'approve' });
  assert.equal(approved.status, 422);
  assert.deepEqual(approved.body, { error: 'A question of the agent is answered or skipped, not approved.' });
  assert.equal((await bob.decide('q1', { decision: 'answer', answer: 'blue' })).status, 200);
  assert.equal((await kept(db, 'q1'))?.answer, 'blue');
  assert.equal((await bob.decide('q2', { decision: 'skip' })).status, 200);
  assert.equal((await kept(db, 'q2'))?.answer, null);
});

test('a decision of another shape decides nothing', { timeout }, async (t) => {
  const { db, visitor } = await open(t);
  await addQuestion(db, 'a1');
  const { decide } = await visitor('ada', 'Ada');
  const wrong: unknown[] = [
    '',
    '{',
    'null',
    '[]',
    {},
    { decision: 'yes' },
    { decision: ['approve'] },
    { decision: 'details' },
    { decision: 'deny', reason: 7 },
    { decision: 'deny', reason: 'x'.repeat(1_001) },
  ];
  for (const body of wrong) assert.equal((await decide('a1', body)).status, 400, JSON.stringify(body));
  assert.equal((await decide('a1', { decision: 'deny', reason: 'x'.repeat(40_000) })).status, 413);
  assert.equal((await kept(db, 'a1'))?.state, 'pending');
  assert.equal((await decide('a1', { decision: 'deny', reason: 'x'.repeat(1_000) })).status, 200);
});

test('R37: the page has no inline code, and its files are kept by the browser', { timeout }, async (t) => {
  const { visitor } = await open(t);
  const { get, cookie } = await visitor('ada', 'Ada');
  const page = await get('/approvals', { cookie: `${cookie}; gatehouse_theme=dark` });
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*script-src 'self'/);
  assert.match(page.text, /<html lang="en" data-theme="dark">/);
  assert.match(page.text, /data-account="web:ada"/);
  assert.doesNotMatch(page.text, /<script(?![^>]*src=)|style=|\son[a-z]+=/);
  const files = [...page.text.matchAll(/(?:href|src)="(\/approvals\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.equal(files.length, 6);
  for (const path of files) {
    const first = await get(path);
    assert.equal(first.status, 200, path);
    const again = await get(path, { cookie, 'if-none-match': String(first.headers.etag) });
    assert.equal(again.status, 304, path);
  }
  assert.equal((await get('/approvals/assets/..%2Fapprovals_page.ts')).status, 404);
  const odd = await get('/approvals', { cookie: `${cookie}; gatehouse_theme="><script>` });
  assert.match(odd.text, /<html lang="en">/);
});
