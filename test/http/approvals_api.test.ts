import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../support/ask.ts';
import { createDesk, question } from './approvals_desk.ts';
import { startGateway } from './support.ts';

const timeout = 20_000;

async function open(t: Parameters<typeof startGateway>[0], desk = createDesk()) {
  const gateway = await startGateway(t, { approvals: desk });
  const cookie = await gateway.signIn('ada', { name: 'Ada' });
  const get = async (path: string, headers: Record<string, string> = { cookie }) => {
    const answer = await ask(`${gateway.url}${path}`, { headers });
    return { status: answer.status, text: answer.text, headers: answer.headers };
  };
  const list = async (query = '') => {
    const answer = await get(`/api/v1/approvals${query}`);
    return { status: answer.status, body: JSON.parse(answer.text) };
  };
  const decide = async (id: string, body: unknown, headers: Record<string, string> = { cookie }) => {
    const answer = await ask(`${gateway.url}/api/v1/approvals/${id}`, {
      method: 'POST',
      headers: { origin: gateway.url, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : answer.text };
  };
  return { gateway, desk, cookie, get, list, decide };
}

test('R93: the page and the API need a session', { timeout }, async (t) => {
  const { get, decide, desk } = await open(t, createDesk(question('a1')));
  const page = await get('/approvals', { accept: 'text/html' });
  assert.deepEqual([page.status, page.text.includes('Please sign in')], [401, true]);
  assert.equal((await get('/api/v1/approvals', {})).status, 401);
  assert.equal((await decide('a1', { decision: 'approve' }, {})).status, 401);
  assert.equal((await decide('a1', { decision: 'approve' }, { origin: 'https://evil.example' })).status, 403);
  assert.deepEqual(desk.asked, []);
});

test('R49: a list shows what cannot be seen as escapes, arguments in lines', { timeout }, async (t) => {
  const { list } = await open(
    t,
    createDesk(
      question('a1', {
        input: '{"path":"/a\u202e/b","say":"x\\ny"}',
        message: 'harm\u200bless',
        requester: { account: 'web:bob', name: 'B\u202eob' },
      }),
      question('a2', { input: 'not JSON \u0007' }),
    ),
  );
  const { status, body } = await list();
  assert.equal(status, 200);
  const [first, second] = body.approvals;
  assert.equal(first.arguments, '{\n  "path": "/a\\u202e/b",\n  "say": "x\\ny"\n}');
  assert.equal(first.message, 'harm\\u200bless');
  assert.equal(first.requester.name, 'B\\u202eob');
  assert.equal(first.input, '{"path":"/a\u202e/b","say":"x\\ny"}');
  assert.equal(second.arguments, 'not JSON \\u0007');
});

test('a list is of one state and as long as asked for', { timeout }, async (t) => {
  const decided = question('d1', { state: 'denied', decidedBy: 'Bob', decidedAt: 1, reason: 'too late' });
  const { list } = await open(t, createDesk(question('a1'), question('a2'), decided));
  const ids = async (query: string) => (await list(query)).body.approvals.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(''), ['a1', 'a2']);
  assert.deepEqual(await ids('?state=pending&limit=1'), ['a1']);
  assert.deepEqual(await ids('?state=decided'), ['d1']);
  for (const query of ['?state=all', '?limit=0', '?limit=201', '?limit=1.5', '?limit=x'])
    assert.equal((await list(query)).status, 400, query);
});

test('a decision is the account’s of the session, and each refusal has its status', { timeout }, async (t) => {
  const { decide, desk } = await open(t, createDesk(question('a1'), question('a2')));
  assert.deepEqual(await decide('a1', { decision: 'deny', reason: ' not today ', account: 'web:bob' }), {
    status: 200,
    body: { state: 'denied' },
  });
  assert.deepEqual(desk.asked, [{ account: 'web:ada', id: 'a1', choice: 'deny', reason: 'not today' }]);

  desk.refusal = { ok: false, why: 'decided', words: 'Bob has denied this.', state: 'denied', decidedBy: 'Bob' };
  assert.deepEqual(await decide('a2', { decision: 'approve' }), {
    status: 409,
    body: { error: 'Bob has denied this.', state: 'denied', decidedBy: 'Bob' },
  });
  desk.refusal = { ok: false, why: 'not_entitled', words: 'Only an admin may decide this.' };
  assert.deepEqual(await decide('a2', { decision: 'always' }), {
    status: 403,
    body: { error: 'Only an admin may decide this.' },
  });
  desk.refusal = { ok: false, why: 'unknown', words: 'There is no such approval.' };
  assert.equal((await decide('a3', { decision: 'approve' })).status, 404);
});

test('a decision of another shape decides nothing', { timeout }, async (t) => {
  const { decide, desk } = await open(t, createDesk(question('a1')));
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
  assert.equal((await decide('a1', { decision: 'deny', reason: 'x'.repeat(20_000) })).status, 413);
  assert.deepEqual(desk.asked, []);
  assert.equal((await decide('a1', { decision: 'deny', reason: 'x'.repeat(1_000) })).status, 200);
});

test('R37: the page has no inline code, and its files are kept by the browser', { timeout }, async (t) => {
  const { get, cookie } = await open(t);
  const page = await get('/approvals', { cookie: `${cookie}; gatehouse_theme=dark` });
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*script-src 'self'/);
  assert.match(page.text, /<html lang="en" data-theme="dark">/);
  assert.match(page.text, /data-account="web:ada"/);
  assert.doesNotMatch(page.text, /<script(?![^>]*src=)|style=|\son[a-z]+=/);
  const files = [...page.text.matchAll(/(?:href|src)="(\/approvals\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.equal(files.length, 4);
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
