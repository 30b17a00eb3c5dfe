import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createToken } from '../../src/people/tokens.ts';
import { ensureAccount } from '../../src/store/accounts.ts';
import { ask } from '../support/ask.ts';
import { type Gateway, startGateway } from './support.ts';

const outside = { host: 'bots.example.com', 'x-forwarded-for': '9.9.9.9' };

async function tokenOf(gateway: Gateway, lifeMs: number | null = null): Promise<string> {
  return gateway.db.tx(async (q) => {
    await ensureAccount(q, 'tg', { id: 'ana', name: 'Ana' }, 'p1', 1);
    return (await createToken(q, { channel: 'tg', userId: 'ana', label: '', lifeMs }, 'cli', Date.now())).token;
  });
}

test('R93: a token opens what needs a session, also through a proxy, and needs no Origin', async (t) => {
  const gateway = await startGateway(t, { publicUrl: 'https://bots.example.com' });
  const authorization = `Bearer ${await tokenOf(gateway)}`;
  assert.equal((await ask(`${gateway.url}/metrics`, { headers: outside })).status, 403);
  const metrics = await ask(`${gateway.url}/metrics`, { headers: { ...outside, authorization } });
  assert.deepEqual([metrics.status, metrics.text], [200, '# HELP gatehouse_up 1\n']);
  assert.equal((await ask(`${gateway.url}/readyz`, { headers: { ...outside, authorization } })).status, 200);
  for (const path of ['/v1/nothing', '/api/v1/nothing']) {
    assert.equal((await ask(gateway.url + path, { method: 'POST', headers: outside })).status, 403, path);
    const asked = await ask(gateway.url + path, { method: 'POST', headers: { ...outside, authorization } });
    assert.equal(asked.status, 404, `${path}: nobody answers there, but it was let in`);
  }
});

test('R93: a wrong, revoked or expired token is 401, also beside a good cookie', async (t) => {
  const gateway = await startGateway(t);
  const cookie = await gateway.signIn('ada');
  const old = await tokenOf(gateway, 1_000);
  gateway.pass(2_000);
  for (const token of [`ght_${'A'.repeat(43)}`, 'nonsense', old]) {
    const refused = await ask(`${gateway.url}/api/v1/nothing`, {
      headers: { cookie, authorization: `Bearer ${token}` },
    });
    assert.equal(refused.status, 401, token);
    assert.equal(refused.headers['www-authenticate'], 'Bearer error="invalid_token"');
    assert.equal(refused.text.includes(token), false);
  }
  const other = await ask(`${gateway.url}/api/v1/nothing`, { headers: { cookie, authorization: 'Basic YTpi' } });
  assert.equal(other.status, 404, 'what a proxy in front asked for is nothing to us');
});

test('R93: a token opens no page', async (t) => {
  const gateway = await startGateway(t, { publicUrl: 'https://bots.example.com' });
  const authorization = `Bearer ${await tokenOf(gateway)}`;
  for (const path of ['/chat', '/chat/api/nothing', '/v10/x', '/api/v1x'])
    assert.equal((await ask(gateway.url + path, { headers: { ...outside, authorization } })).status, 403, path);
});

test('R92, R97: no token is logged', async (t) => {
  const gateway = await startGateway(t);
  const token = await tokenOf(gateway);
  const wrong = `ght_${'z'.repeat(43)}`;
  for (const each of [token, wrong])
    await ask(`${gateway.url}/api/v1/nothing`, { headers: { authorization: `Bearer ${each}` } });
  const logged = gateway.logged.join('\n');
  assert.match(logged, /"path":"\/api\/v1"/);
  assert.doesNotMatch(logged, /ght_/);
});
