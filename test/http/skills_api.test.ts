/** /v1/skills over the real server, with skills that run in the real sandbox or, where it does not matter, without. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { decideById } from '../../src/approvals/api.ts';
import type { ApprovalParts } from '../../src/approvals/parts.ts';
import { operator } from '../../src/approvals/rule.ts';
import { systemClock } from '../../src/base/clock.ts';
import { GatehouseError } from '../../src/base/errors.ts';
import { createSkillCalls, type SkillCalls } from '../../src/gateway/skill_calls.ts';
import type { HttpSkills } from '../../src/http/skills_api.ts';
import { createToken } from '../../src/people/tokens.ts';
import { createSandbox, type SandboxMode } from '../../src/sandbox/create_sandbox.ts';
import { findMeans } from '../../src/sandbox/means.ts';
import { loadSkills } from '../../src/skills/load.ts';
import { createSkillTool } from '../../src/skills/tool.ts';
import { ensureAccount } from '../../src/store/accounts.ts';
import type { JsonObject } from '../../src/types/json.ts';
import { ask } from '../support/ask.ts';
import { becomes } from '../support/becomes.ts';
import { createGate } from '../support/gate.ts';
import { quietLog } from '../support/sandbox_world.ts';
import { startGateway } from './support.ts';

const programs: Record<string, [JsonObject, string]> = {
  reader: [
    { schema: { properties: { a: { type: 'integer' } } }, category: 'ops' },
    '#!/bin/sh\necho looking >&2\nread -r line\necho "{\\"got\\":$line}"\n',
  ],
  failing: [{}, '#!/bin/sh\necho "no such set" >&2\nexit 3\n'],
  slow: [{}, '#!/bin/sh\necho started >&2\n/bin/sleep 60\n'],
  exact: [{}, '#!/bin/sh\necho \'{"id":12345678901234567890,"far":1e400}\'\n'],
  writer: [{ class: 'mutating' }, "#!/bin/sh\necho '{}'\n"],
  killer: [{ class: 'dangerous' }, "#!/bin/sh\necho '{}'\n"],
};

async function world(t: TestContext, more: Partial<HttpSkills> & { mode?: SandboxMode } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-skills-api-'));
  chmodSync(folder, 0o755);
  for (const [name, [manifest, program]] of Object.entries(programs)) {
    mkdirSync(join(folder, 'root', name), { recursive: true });
    const text = JSON.stringify({ name, description: `The ${name}.`, entry: 'run', ...manifest });
    writeFileSync(join(folder, 'root', name, 'skill.json'), text);
    writeFileSync(join(folder, 'root', name, 'run'), program, { mode: 0o755 });
  }
  const store = join(folder, 'store');
  const { skills } = await loadSkills({ roots: [join(folder, 'root')], store, log: quietLog });
  const { mode = 'off', ...given } = more;
  const real = findMeans();
  const found = { ...real, missing: { reason: 'bubblewrap is not installed', hint: 'install it' } };
  const sandbox = createSandbox({ mode, hidden: [store], clock: systemClock, log: quietLog, found });
  const seen = { started: createGate(), stopped: createGate() };
  const tools = skills.map((skill) => {
    const tool = createSkillTool({
      skill,
      sandbox: {
        run: (asked) =>
          sandbox
            .run({
              ...asked,
              onLog(line) {
                asked.onLog?.(line);
                seen.started.open();
              },
            })
            .finally(seen.stopped.open),
      },
      environment: () => ({ env: {}, substituted: new Set(), operatorAllow: null }),
    });
    return tool;
  });
  const approvals: ApprovalParts = {
    settings: () => ({ language: 'en', timezone: 'UTC', admins: new Set<string>(), channels: new Map() }),
    adapterOf: () => undefined,
    count: () => {},
  };
  let calls: SkillCalls | undefined;
  const gateway = await startGateway(t, {
    skills: {
      tools: () => tools,
      ruleOf: async () => undefined,
      askForSkill: (...asked) => calls!.ask(...asked),
      readCall: (...asked) => calls!.read(...asked),
      ...given,
    },
  });
  calls = createSkillCalls({
    db: gateway.db,
    clock: systemClock,
    log: quietLog,
    approvals,
    tools: () => tools,
    ruleOf: async () => undefined,
    secrets: () => [],
  });
  t.after(() => calls?.stop());
  t.after(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const cookie = await gateway.signIn('ada');
  const headers = { cookie, origin: gateway.url, 'content-type': 'application/json' };
  const post = async (name: string, body: string, own: Record<string, string> = headers) => {
    const answer = await ask(`${gateway.url}/v1/skills/${name}/execute`, { method: 'POST', headers: own, body });
    return [answer.status, JSON.parse(answer.text) as JsonObject] as const;
  };
  const get = async (path: string) => {
    const answer = await ask(`${gateway.url}${path}`, { headers });
    return [answer.status, JSON.parse(answer.text) as JsonObject] as const;
  };
  return { ...gateway, cookie, headers, post, get, seen, calls, approvals };
}

describe('/v1/skills', { timeout: 60_000 }, () => {
  it('R97: nothing without a person', async (t) => {
    const { url, post, cookie } = await world(t);
    assert.equal((await ask(`${url}/v1/skills`)).status, 401);
    assert.equal((await ask(`${url}/v1/skills`)).headers['www-authenticate'], 'Bearer');
    const [status, body] = await post('reader', '{}', { origin: url });
    assert.equal(status, 401);
    assert.match(String(body.error), /gatehouse token create/);
    // A page of somebody else, in the browser of somebody who is signed in here.
    const foreign = await ask(`${url}/v1/skills/reader/execute`, {
      method: 'POST',
      headers: { cookie, origin: 'https://evil.example' },
    });
    assert.equal(foreign.status, 403);
  });

  it('lists every skill, with what its class means here', async (t) => {
    const { url, headers } = await world(t);
    const { status, text } = await ask(`${url}/v1/skills`, { headers });
    assert.equal(status, 200);
    const { skills } = JSON.parse(text) as { skills: JsonObject[] };
    assert.deepEqual(
      skills.map((skill) => [skill.name, skill.class, skill.category, skill.execute]),
      [
        ['exact', 'safe', 'external', 'run'],
        ['failing', 'safe', 'external', 'run'],
        ['killer', 'dangerous', 'external', 'never'],
        ['reader', 'safe', 'ops', 'run'],
        ['slow', 'safe', 'external', 'run'],
        ['writer', 'mutating', 'external', 'ask'],
      ],
    );
    assert.deepEqual(skills[3], {
      name: 'reader',
      description: 'The reader.',
      class: 'safe',
      category: 'ops',
      schema: { type: 'object', properties: { a: { type: 'integer' } } },
      execute: 'run',
    });
  });

  it('R97: a safe one runs; its result, log lines and failure are the answer, and the call is audited', async (t) => {
    const { post, db } = await world(t);
    assert.deepEqual(await post('reader', '{"a":1}'), [200, { result: { got: { a: 1 } }, log: ['looking'] }]);
    assert.deepEqual(await post('reader', ''), [200, { result: { got: {} }, log: ['looking'] }]);
    assert.deepEqual(await post('reader', '{"args":{"a":2}}'), [200, { result: { got: { a: 2 } }, log: ['looking'] }]);
    const [status, body] = await post('failing', '{}');
    assert.equal(status, 502);
    assert.match(String(body.error), /^failing failed with exit code 3\.\n[\s\S]*no such set/);
    const rows = await db.all<{ actor: string; subject: string }>(
      "select actor, subject from audit where action = 'skill.execute' order by id",
    );
    assert.deepEqual(
      rows.map(({ actor, subject }) => [actor, subject]),
      [
        ['web:ada', 'skill:reader'],
        ['web:ada', 'skill:reader'],
        ['web:ada', 'skill:reader'],
        ['web:ada', 'skill:failing'],
      ],
    );
  });

  it('what a skill wrote is the answer to the letter, long numbers too', async (t) => {
    const { url, headers } = await world(t);
    const { text } = await ask(`${url}/v1/skills/exact/execute`, { method: 'POST', headers, body: '{}' });
    assert.equal(text, '{"result":{"id":12345678901234567890,"far":1e400},"log":[]}');
  });

  it('R97: a person’s token is enough, and the call is that person’s', async (t) => {
    const { url, db, post } = await world(t);
    const { token } = await db.tx(async (q) => {
      await ensureAccount(q, 'tg', { id: 'ana', name: 'Ana' }, 'p1', 1);
      return createToken(q, { channel: 'tg', userId: 'ana', label: '', lifeMs: null }, 'cli', 1);
    });
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await ask(`${url}/v1/skills`, { headers })).status, 200);
    assert.deepEqual(await post('reader', '{"a":3}', headers), [200, { result: { got: { a: 3 } }, log: ['looking'] }]);
    const rows = await db.all("select actor, subject from audit where action = 'skill.execute'");
    assert.deepEqual(rows, [{ actor: 'tg:ana', subject: 'skill:reader' }]);
  });

  it('R97: a mutating one answers 202 with the approval, and a dangerous one 403', async (t) => {
    const asked: unknown[] = [];
    const { post } = await world(t, {
      async askForSkill(person, tool, input) {
        if (input.refuse) throw new GatehouseError('refused', 'nobody could decide this');
        asked.push([person.userId, tool.id, input]);
        return 'approval-1';
      },
    });
    assert.deepEqual(await post('writer', '{"x":1}'), [
      202,
      { approval: 'approval-1', result: '/v1/skills/calls/approval-1' },
    ]);
    assert.deepEqual(asked, [['ada', 'writer', { x: 1 }]]);
    assert.deepEqual(await post('writer', '{"refuse":true}'), [503, { error: 'nobody could decide this' }]);
    const [status, body] = await post('killer', '{}');
    assert.equal(status, 403);
    assert.match(String(body.error), /^killer is dangerous: it runs only in a chat/);
  });

  it('R97, R50: what people approve runs once, exactly as it was asked; what they deny does not', async (t) => {
    const { post, get, db, calls, approvals } = await world(t);
    await db.tx((q) => ensureAccount(q, 'web', { id: 'ada', name: 'Ada' }, 'p-ada', 1));
    const [, first] = await post('writer', '{"x":1}');
    const [, second] = await post('writer', '{"x":2}');
    assert.deepEqual(await get(`/v1/skills/calls/${first.approval}`), [200, { state: 'pending' }]);
    const decide = (id: unknown, choice: 'approve' | 'deny') =>
      decideById(db, approvals, String(id), { choice, viewer: operator, reason: 'not now' }, 5);
    assert.equal((await decide(first.approval, 'approve')).ok, true);
    assert.equal((await decide(second.approval, 'deny')).ok, true);
    calls.start();
    await becomes(() => get(`/v1/skills/calls/${first.approval}`), [200, { state: 'done', result: {} }]);
    const error =
      'writer was not run: denied by operator (cli). They gave this reason: "not now". This is their decision: do not try it again, and not in another way.';
    await becomes(() => get(`/v1/skills/calls/${second.approval}`), [200, { state: 'failed', error }]);
    assert.deepEqual(
      await db.all("select skill, input, is_error from skill_calls where state = 'finished' order by id"),
      [
        { skill: 'writer', input: '{"x":1}', is_error: 0 },
        { skill: 'writer', input: '{"x":2}', is_error: 1 },
      ],
    );
    assert.deepEqual((await get('/v1/skills/calls/0mfoobar'))[0], 404, 'nobody learns which ids exist');
    assert.equal((await decide(first.approval, 'deny')).ok, false, 'it is decided');
  });

  it('R38: an admin’s rule tightens, an error while reading it blocks, and nothing loosens', async (t) => {
    const rules: Record<string, 'allow' | 'ask' | 'block'> = { reader: 'block', failing: 'ask', writer: 'allow' };
    const { post } = await world(t, {
      async ruleOf({ id }) {
        if (id === 'slow') throw new Error('the database is gone');
        return rules[id];
      },
    });
    assert.deepEqual(
      await Promise.all(['reader', 'failing', 'writer', 'slow'].map(async (name) => (await post(name, '{}'))[0])),
      [403, 503, 503, 403],
    );
  });

  it('R38: a rule that is made while the arguments are still on their way holds', async (t) => {
    const asked = createGate();
    let rule: 'block' | undefined;
    const { url, headers } = await world(t, {
      async ruleOf() {
        asked.open();
        return rule;
      },
    });
    const sent = request(`${url}/v1/skills/reader/execute`, { method: 'POST', headers, agent: false });
    const answered = once(sent, 'response');
    sent.write('{"a":');
    await asked.opened;
    rule = 'block';
    sent.end('1}');
    const [answer] = (await answered) as [IncomingMessage];
    answer.resume();
    assert.equal(answer.statusCode, 403);
  });

  it('what is no JSON object, does not fit the schema, is too large or unknown starts nothing', async (t) => {
    const { post, db } = await world(t);
    assert.deepEqual(
      await Promise.all(
        ['[1]', '{', '"x"', '{"a":"x"}', `{"b":${'['.repeat(20_000)}${']'.repeat(20_000)}}`].map(
          async (body) => (await post('reader', body))[0],
        ),
      ),
      [400, 400, 400, 400, 400],
    );
    assert.match(String((await post('reader', '{"a":"x"}'))[1].error), /^reader was not run: \/a must be integer$/);
    assert.equal((await post('reader', `{"b":"${'x'.repeat(1024 * 1024)}"}`))[0], 413);
    const [status, body] = await post('reed', '{}');
    assert.deepEqual([status, body], [404, { error: 'There is no skill "reed". GET /v1/skills lists them.' }]);
    assert.deepEqual(await db.all("select id from audit where action = 'skill.execute'"), []);
  });

  it('R63: a sandbox that refuses is a 503 with what to do', async (t) => {
    const { post } = await world(t, { mode: 'required' });
    const [status, body] = await post('reader', '{}');
    assert.equal(status, 503);
    assert.match(String(body.error), /bubblewrap is not installed\. The operator can change that: install it\./);
  });

  it('a caller who goes away ends the call; one has four at once', async (t) => {
    const { url, headers, seen, post } = await world(t);
    const open = () => {
      const sent = request(`${url}/v1/skills/slow/execute`, { method: 'POST', headers, agent: false });
      sent.on('error', () => {});
      sent.end('{}');
      return sent;
    };
    const first = open();
    await seen.started.opened;
    const others = [open(), open(), open()];
    // Whichever of five comes last is the one too many; the first four go on.
    let refused = 0;
    while (refused !== 429) [refused] = await post('failing', '{}');
    for (const one of [first, ...others]) one.destroy();
    await seen.stopped.opened;
    while (refused === 429) [refused] = await post('failing', '{}');
    assert.equal(refused, 502);
  });
});
