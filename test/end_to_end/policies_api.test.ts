/** /api/v1/policies of a whole gateway, by tokens of two people. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createToken } from '../../src/people/tokens.ts';
import type { JsonObject } from '../../src/types/json.ts';
import { ask } from '../support/ask.ts';
import { bounded, capabilityOf, startWorld } from './world.ts';

test(
  'R38, R91: rules by the API: admins for everybody, people for themselves, every change audited',
  bounded,
  async (t) => {
    const mail = capabilityOf('send_mail', { effect: 'mutating' });
    const { gateway, telegram, model, alice, chat } = await startWorld(t, {
      capabilities: [mail],
      config: { agent: { capabilities: [{ id: 'send_mail' }] }, admins: ['tg:77'] },
    });
    const bob = telegram.user({ id: 77, name: 'Bob' });
    telegram.say(chat, alice, 'hello');
    telegram.say(telegram.privateChat(bob), bob, 'hello');
    await telegram.waitForMessage(telegram.privateChat(bob), 'You said: hello');
    await telegram.waitForMessage(chat, 'You said: hello');
    const as = async (id: number) => {
      const asked = { channel: 'tg', userId: String(id), label: '', lifeMs: null };
      const { token } = await gateway.db.tx((q) => createToken(q, asked, 'cli', Date.now()));
      return async (method: string, path: string, body?: JsonObject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const answer = await ask(`${gateway.url}/api/v1/${path}`, {
          method,
          headers,
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        return { status: answer.status, body: JSON.parse(answer.text) as JsonObject };
      };
    };
    const [asAlice, asBob] = [await as(alice.id), await as(77)];

    const refused = await asAlice('PUT', 'policies/admin/send_mail/send_mail', { verdict: 'allow' });
    assert.deepEqual(refused, { status: 403, body: { error: 'Only an admin sets what holds for everybody.' } });
    assert.equal((await asAlice('PUT', 'policies/own/send_mail/send_mail', { verdict: 'block' })).status, 200);
    assert.equal((await asBob('PUT', 'policies/admin/send_mail/send_mail', { verdict: 'allow' })).status, 200);
    assert.equal((await asBob('PUT', 'policies/admin/send_mail/send_mial', { verdict: 'allow' })).status, 404);
    assert.equal((await asBob('PUT', 'policies/admin/send_mail/send_mail', { verdict: 'perhaps' })).status, 400);
    assert.equal((await asBob('PUT', 'policies/some/send_mail/send_mail', { verdict: 'ask' })).status, 404);
    assert.equal((await asBob('DELETE', 'grants/nothing')).status, 404);
    const seen = (await asAlice('GET', 'policies')).body as {
      admin: JsonObject[];
      person: { account: string; own: JsonObject[] };
    };
    assert.deepEqual(
      [seen.admin, seen.person.own].map((rules) => rules.map(({ tool, verdict, setBy }) => [tool, verdict, setBy])),
      [[['send_mail', 'allow', 'tg:77']], [['send_mail', 'block', `tg:${alice.id}`]]],
    );

    // Her own block tightens what the admin allows, at once.
    model.script({ calls: [{ name: 'send_mail', input: {} }] }, { text: 'I may not.' });
    telegram.say(chat, alice, 'send it');
    await telegram.waitForMessage(chat, 'I may not.');
    assert.equal((await asAlice('DELETE', 'policies/own/send_mail/send_mail')).status, 200);
    model.script({ calls: [{ name: 'send_mail', input: {} }] }, { text: 'Sent.' });
    telegram.say(chat, alice, 'send it now');
    await telegram.waitForMessage(chat, 'Sent.');

    const rows = await gateway.db.all(
      "select actor, action, after from audit where action like 'policy.%' order by id",
    );
    assert.deepEqual(rows, [
      { actor: `tg:${alice.id}`, action: 'policy.own', after: '"block"' },
      { actor: 'tg:77', action: 'policy.admin', after: '"allow"' },
      { actor: `tg:${alice.id}`, action: 'policy.own', after: 'null' },
    ]);
    const nobody = await ask(`${gateway.url}/api/v1/policies`, { headers: {} });
    assert.equal(nobody.status, 401);
  },
);
