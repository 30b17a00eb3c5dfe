import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../support/ask.ts';
import { codeOf, cookieOf, redeem } from '../support/page_person.ts';
import { httpOnly, startGateway } from './support.ts';

const who = { channel: 'web', userId: 'ada', name: 'Ada', owner: false };
const minute = 60_000;

/** A web channel that says who it believes is there. */
const mirror = () => httpOnly(async ({ session }) => Response.json(session));

test('R93: opening the link redeems nothing, the form does, once', async (t) => {
  const gateway = await startGateway(t);
  const link = await gateway.http.signInLink(who);
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/signin\?code=[A-Za-z0-9_-]{43}$/);

  for (const method of ['GET', 'HEAD', 'GET']) {
    const opened = await ask(link, { method });
    assert.equal(opened.status, 200);
    assert.equal(opened.headers['set-cookie'], undefined);
  }
  const first = await redeem(gateway.url, codeOf(link));
  assert.equal(first.status, 303);
  assert.equal(first.headers.location, '/chat');
  const second = await redeem(gateway.url, codeOf(link));
  assert.equal(second.status, 410);
  assert.equal(second.headers['set-cookie'], undefined);
  assert.match(second.text, /npm run gatehouse -- link/);
});

test('R93: a used link leads whoever is signed in already to the page', async (t) => {
  const gateway = await startGateway(t);
  const link = codeOf(await gateway.http.signInLink(who));
  const first = await redeem(gateway.url, link);
  const again = await redeem(gateway.url, link, { cookie: cookieOf(first) });
  assert.deepEqual([again.status, again.headers.location], [303, '/chat']);
  assert.equal(again.headers['set-cookie'], undefined);
  assert.equal((await redeem(gateway.url, link, { cookie: 'gatehouse=x' })).status, 410);
});

test('R93: of twenty visitors with one link one gets in', async (t) => {
  const gateway = await startGateway(t);
  const code = codeOf(await gateway.http.signInLink({ ...who, owner: true }));
  const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(gateway.url, code)));
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  assert.deepEqual(gateway.owners, [{ channel: 'web', userId: 'ada', name: 'Ada' }]);
});

test('R93: a link is good for 15 minutes', async (t) => {
  const gateway = await startGateway(t);
  const early = codeOf(await gateway.http.signInLink(who));
  gateway.pass(14 * minute);
  assert.equal((await redeem(gateway.url, early)).status, 303);
  const late = codeOf(await gateway.http.signInLink(who));
  gateway.pass(15 * minute);
  assert.equal((await redeem(gateway.url, late)).status, 410);
});

test('R93: a wrong, empty or overlong code signs nobody in', async (t) => {
  const gateway = await startGateway(t);
  await gateway.http.signInLink(who);
  for (const code of ['', 'x'.repeat(43), "' or 1=1 --", 'x'.repeat(10_000)]) {
    assert.equal((await redeem(gateway.url, code)).status, 410, code.slice(0, 50));
  }
});

test('R93: a link signs in the person it was made for, and no other channel believes it', async (t) => {
  const gateway = await startGateway(t);
  gateway.channels.push({ name: 'web', type: 'web', adapter: mirror() });
  const ada = await gateway.signIn('ada', { name: 'Ada' });
  const bob = await gateway.signIn('bob', { name: 'Bob' });
  const elsewhere = await gateway.signIn('eve', { channel: 'slack' });
  const seen = async (cookie: string) => JSON.parse((await ask(`${gateway.url}/chat`, { headers: { cookie } })).text);
  assert.deepEqual(await seen(ada), { account: 'ada', name: 'Ada' });
  assert.deepEqual(await seen(bob), { account: 'bob', name: 'Bob' });
  assert.equal(await seen(elsewhere), null);
});

test('R93: only the owner link makes an owner, and a failure there leaves it good', async (t) => {
  let broken = true;
  const owners: string[] = [];
  const gateway = await startGateway(t, {
    onOwner: async ({ userId }) => {
      if (broken) throw new Error('the audit row could not be written');
      owners.push(userId);
    },
  });
  assert.equal((await redeem(gateway.url, codeOf(await gateway.http.signInLink(who)))).status, 303);
  const owner = codeOf(await gateway.http.signInLink({ ...who, owner: true }));
  const failed = await redeem(gateway.url, owner);
  assert.equal(failed.status, 500);
  assert.equal(failed.headers['set-cookie'], undefined);
  broken = false;
  assert.equal((await redeem(gateway.url, owner)).status, 303);
  assert.deepEqual(owners, ['ada']);
});

test('R93: the cookie is for this server only and out of reach of scripts', async (t) => {
  const gateway = await startGateway(t);
  const answer = await redeem(gateway.url, codeOf(await gateway.http.signInLink(who)));
  const port = new URL(gateway.url).port;
  const [cookie] = answer.headers['set-cookie'] as string[];
  assert.match(
    cookie ?? '',
    new RegExp(`^gatehouse_session_${port}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax$`),
  );
});

test('R93: by the public https address the cookie is Secure', async (t) => {
  const gateway = await startGateway(t, { publicUrl: 'https://bots.example.com' });
  const cookie = await gateway.signIn('ada');
  const out = await ask(`${gateway.url}/signout`, {
    method: 'POST',
    headers: { host: 'bots.example.com', origin: 'https://bots.example.com', cookie },
  });
  assert.match(String(out.headers['set-cookie']), /; Secure$/);
});

test('R93: the token is stored as a hash, the code too', async (t) => {
  const gateway = await startGateway(t);
  const code = codeOf(await gateway.http.signInLink(who));
  const links = JSON.stringify(await gateway.db.all('select * from sign_in_links'));
  const token = (await gateway.signIn('ada')).split('=')[1] ?? '';
  const sessions = JSON.stringify(await gateway.db.all('select * from sessions'));
  assert.equal(links.includes(code), false);
  assert.equal(sessions.includes(token), false);
  assert.match(sessions, /"token_hash":"[0-9a-f]{64}"/);
  assert.equal(token.length, 43);
});

test('R93: a session ends after 30 days, and at once by signing out', async (t) => {
  const gateway = await startGateway(t);
  gateway.channels.push({ name: 'web', type: 'web', adapter: mirror() });
  const status = async (cookie: string) => (await ask(`${gateway.url}/chat`, { headers: { cookie } })).status;

  const old = await gateway.signIn('ada');
  gateway.pass(30 * 24 * 60 * minute - 1_000);
  assert.equal(await status(old), 200);
  gateway.pass(2_000);
  assert.equal(await status(old), 401);

  const left = await gateway.signIn('ada');
  const other = await gateway.signIn('ada');
  const out = await ask(`${gateway.url}/signout`, { method: 'POST', headers: { origin: gateway.url, cookie: left } });
  assert.equal(out.status, 303);
  assert.equal(await status(left), 401);
  assert.equal(await status(other), 200);
});

test('R93: without a session the chat shows how to sign in and the adapter is not asked', async (t) => {
  const gateway = await startGateway(t);
  const adapter = mirror();
  gateway.channels.push({ name: 'web', type: 'web', adapter });
  const page = await ask(`${gateway.url}/chat`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 401);
  assert.match(page.text, /npm run gatehouse -- link/);
  assert.equal((await ask(`${gateway.url}/chat/api/messages`)).status, 401);
  const forged = { cookie: `gatehouse_session_${new URL(gateway.url).port}=${'a'.repeat(43)}` };
  assert.equal((await ask(`${gateway.url}/chat`, { headers: forged })).status, 401);
  assert.deepEqual(adapter.seen, []);
});

test('R93: a sign-in form from elsewhere is refused and the link stays good', async (t) => {
  const gateway = await startGateway(t);
  const code = codeOf(await gateway.http.signInLink(who));
  assert.equal((await redeem(gateway.url, code, { origin: 'https://evil.example' })).status, 403);
  assert.equal((await redeem(gateway.url, code, { 'x-forwarded-for': '1.2.3.4' })).status, 403);
  assert.equal((await redeem(gateway.url, code, { host: 'evil.example' })).status, 421);
  assert.equal((await redeem(gateway.url, code)).status, 303);
});

test('R93: the session cookie does not reach an adapter, other cookies do', async (t) => {
  const gateway = await startGateway(t);
  const adapter = mirror();
  gateway.channels.push({ name: 'web', type: 'web', adapter });
  const cookie = cookieOf(await redeem(gateway.url, codeOf(await gateway.http.signInLink(who))));
  await ask(`${gateway.url}/chat`, { headers: { cookie: `gatehouse_theme=dark; ${cookie}` } });
  assert.equal(adapter.seen[0]?.request.headers.get('cookie'), 'gatehouse_theme=dark');
});
