/** Skills as the gateway has them: loaded at start and reload, called by a model, refused or confined as configured. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { SkillSettings } from '../../src/config/config.ts';
import { createSkills } from '../../src/gateway/skills.ts';
import { findMeans } from '../../src/sandbox/means.ts';
import { setRule } from '../../src/store/tool_rules.ts';
import type { JsonObject } from '../../src/types/json.ts';
import { startWorld } from '../end_to_end/world.ts';
import { ask } from '../support/ask.ts';
import { codeOf, cookieOf, redeem } from '../support/page_person.ts';
import { needsSandbox, quietLog } from '../support/sandbox_world.ts';

const bounded = { timeout: 60_000 } as const;
const answer = (text: string) => `#!/bin/sh\necho '{"said":"${text}"}'\n`;

function skillFolder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-skill-dir-'));
  chmodSync(root, 0o755);
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return {
    root,
    write(name: string, program: string, manifest: JsonObject = {}) {
      mkdirSync(join(root, name), { recursive: true });
      const text = JSON.stringify({ name, description: `The ${name}.`, entry: 'run', ...manifest });
      writeFileSync(join(root, name, 'skill.json'), text);
      writeFileSync(join(root, name, 'run'), program, { mode: 0o755 });
    },
  };
}

function bench(t: TestContext, options: { env?: NodeJS.ProcessEnv; withoutBubblewrap?: boolean } = {}) {
  const folder = skillFolder(t);
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-data-'));
  const alive = setInterval(() => {}, 1_000);
  const real = findMeans();
  const missing = { reason: 'bubblewrap is not installed', hint: 'sudo apt-get install bubblewrap' };
  const skills = createSkills({
    dataDir,
    hidden: [dataDir],
    taken: new Set(['store_get']),
    env: options.env ?? {},
    mask: (text) => text.replaceAll('hunter2', '[secret]'),
    clock: systemClock,
    log: quietLog,
    ...(options.withoutBubblewrap ? { found: { ...real, means: { ...real.means, bwrap: null }, missing } } : {}),
  });
  t.after(async () => {
    await skills.close();
    clearInterval(alive);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const settings = (more: Partial<SkillSettings> = {}): SkillSettings => ({
    dirs: [folder.root],
    mode: 'required',
    envAllow: null,
    grants: {},
    ownVariables: [],
    ...more,
  });
  const call = async (name: string) => {
    const tool = skills.tools().find(({ id }) => id === name)!;
    return tool.execute({}, { progress: () => {}, signal: new AbortController().signal });
  };
  return { ...folder, dataDir, skills, settings, call };
}

describe('skills of a gateway', bounded, () => {
  it('R60: no skill gets a variable of the gateway, whatever its manifest names, unless the operator lists it', {
    skip: needsSandbox(),
  }, async (t) => {
    const env = { GATEHOUSE_KEY: 'a', MODEL_KEY: 'b', PLAIN: 'c', HOME: '/root' };
    const { write, skills, settings, call } = bench(t, { env });
    write('peek', '#!/bin/sh\necho "\\"$GATEHOUSE_KEY.$MODEL_KEY.$PLAIN.$HOME\\""\n', {
      env_allow: ['GATEHOUSE_KEY', 'MODEL_KEY', 'PLAIN'],
    });
    await skills.load(settings({ ownVariables: ['MODEL_KEY'] }), {});
    assert.equal((await call('peek')).content, '"..c."');
    await skills.load(settings({ ownVariables: ['MODEL_KEY'], envAllow: ['MODEL_KEY', 'HOME'] }), {});
    assert.equal((await call('peek')).content, '".b.."');
  });

  it('R63: with required and no bubblewrap they are there and refused, with what to install', async (t) => {
    const { write, skills, settings, call } = bench(t, { withoutBubblewrap: true });
    write('reader', answer('hello'));
    write('free', answer('free'));
    await skills.load(settings({ grants: { free: grant({ unconfined: true }) } }), {});
    const outcome = await call('reader');
    assert.equal(outcome.ended, 'refused');
    assert.match(outcome.content, /bubblewrap is not installed\. The operator can change that: sudo apt-get install/);
    assert.equal((await call('free')).content, '{"said":"free"}');
    assert.deepEqual(await skills.warnings(), [
      'Skills do not run here: bubblewrap is not installed. What to do: sudo apt-get install bubblewrap',
      'The skill free runs WITHOUT the sandbox (sandbox.skills.free.unconfined).',
    ]);
  });

  it('preferred without bubblewrap, and off, run and say so at start', async (t) => {
    const { write, skills, settings, call } = bench(t, { withoutBubblewrap: true });
    write('reader', answer('hello'));
    await skills.load(settings({ mode: 'preferred' }), {});
    assert.equal((await call('reader')).content, '{"said":"hello"}');
    assert.match((await skills.warnings())[0] ?? '', /^Skills run WITHOUT a sandbox, because .* apt-get install/);
    await skills.load(settings({ mode: 'off', dirs: [] }), {});
    assert.match((await skills.warnings())[0] ?? '', /^Skills run WITHOUT a sandbox \(sandbox\.subprocess: off\)/);
    await skills.load(settings({ mode: 'preferred', dirs: [] }), {});
    assert.deepEqual(await skills.warnings(), [], 'nothing to warn of without a skill');
  });

  it('R59: copies that nothing uses go at the start, and none goes with a reload', async (t) => {
    const { write, dataDir, skills, settings } = bench(t, { withoutBubblewrap: true });
    const store = join(dataDir, 'skills');
    const [old, half] = [join(store, 'a'.repeat(64)), join(store, '.new-abc')];
    for (const path of [old, half, join(store, 'something_else')]) mkdirSync(path, { recursive: true });
    write('reader', answer('one'));
    await skills.load(settings(), {});
    assert.deepEqual(
      [existsSync(old), existsSync(half), existsSync(join(store, 'something_else'))],
      [false, false, true],
    );
    write('reader', answer('two'));
    const [before] = skills.tools();
    await skills.load(settings(), {});
    assert.equal(readdirSync(store).filter((name) => /^[0-9a-f]{64}$/.test(name)).length, 2);
    assert.notEqual(skills.tools()[0]?.definition, before?.definition, 'R50');
  });

  it('R90: secrets are masked in what a skill says; a name of a tool of ours is not taken', {
    skip: needsSandbox(),
  }, async (t) => {
    const { write, skills, settings, call } = bench(t);
    write('teller', answer('hunter2'));
    write('store_get', answer('mine'));
    await skills.load(settings(), {});
    assert.equal((await call('teller')).content, '{"said":"[secret]"}');
    assert.deepEqual(
      skills.capabilities().map(({ id }) => id),
      ['skill:teller'],
    );
  });

  it('R39: a model calls a skill as any tool, and the run says what decided', { skip: needsSandbox() }, async (t) => {
    const { root, write } = skillFolder(t);
    write('reader', answer('it works'));
    const agent = { capabilities: ['skill:reader', 'skill:gone'] };
    const { telegram, model, alice, chat, gateway } = await startWorld(t, { config: { agent, skill_dirs: [root] } });
    model.script({ calls: [{ name: 'reader', input: {} }] }, { text: 'Done.' });
    telegram.say(chat, alice, 'read');
    await telegram.waitForMessage(chat, 'Done.');
    assert.deepEqual(
      await gateway.db.all('select name, capability, tool, verdict, content, is_error from tool_calls'),
      [
        {
          name: 'reader',
          capability: 'skill:reader',
          tool: 'reader',
          verdict: 'allow',
          content: '{"said":"it works"}',
          is_error: 0,
        },
      ],
    );
    assert.deepEqual(
      gateway.skills.remarks().map(({ message }) => message.split(':').slice(0, 2).join(':')),
      ['skill:gone is not there'],
    );
  });

  it('R62, R50: a mutating one asks first, and what a reload has put in its place does not run for that yes', {
    skip: needsSandbox(),
  }, async (t) => {
    const { root, write } = skillFolder(t);
    write('writer', answer('wrote as it was'), { class: 'mutating' });
    const config = { agent: { capabilities: ['skill:writer'] }, skill_dirs: [root] };
    const { telegram, model, alice, chat, reload, gateway } = await startWorld(t, { config });
    let shown = 0;
    const nextCard = async () => {
      const isNew = ({ id, text }: { id: number; text: string }) =>
        id > shown && /Approval needed[\s\S]*writer of skill:writer/.test(text);
      const card = await telegram.waitForMessage(chat, isNew);
      shown = card.id;
      return () => telegram.press(alice, { message_id: card.id, chat: { id: card.chat } }, 'Approve').answered();
    };
    const asked = async (words: string) => {
      model.script({ calls: [{ name: 'writer', input: {} }] }, { text: words });
      telegram.say(chat, alice, words);
      return nextCard();
    };
    const ran = () => gateway.db.all("select content from tool_calls where content like '%wrote%' order by run_id");
    const first = await asked('Once.');
    assert.deepEqual(await ran(), []);
    await first();
    await telegram.waitForMessage(chat, 'Once.');
    assert.deepEqual(await ran(), [{ content: '{"said":"wrote as it was"}' }]);
    const second = await asked('Twice.');
    write('writer', answer('wrote something else'), { class: 'mutating' });
    await reload({});
    await second();
    // Asked anew, about the one that is there now.
    const anew = await nextCard();
    assert.deepEqual(await ran(), [{ content: '{"said":"wrote as it was"}' }]);
    const approvals = await gateway.db.all<{ state: string; definition: string }>(
      'select state, definition from approvals order by id',
    );
    assert.deepEqual(
      approvals.map(({ state }) => state),
      ['approved', 'withdrawn', 'pending'],
    );
    assert.equal(new Set(approvals.map(({ definition }) => definition)).size, 2);
    await anew();
    await telegram.waitForMessage(chat, 'Twice.');
    assert.deepEqual((await ran())[1], { content: '{"said":"wrote something else"}' });
  });

  it('R38: rules of admins and of the person hold over HTTP, also those set at run time', {
    skip: needsSandbox(),
  }, async (t) => {
    const { root, write } = skillFolder(t);
    write('reader', answer('it works'));
    write('constructor', answer('a name like any other'));
    const { gateway, reload } = await startWorld(t, { config: { skill_dirs: [root] } });
    const cookie = cookieOf(await redeem(gateway.url, codeOf(await gateway.signInLink(null))));
    const execute = async (name = 'reader') => {
      const headers = { cookie, origin: gateway.url };
      const answer = await ask(`${gateway.url}/v1/skills/${name}/execute`, { method: 'POST', headers, body: '{}' });
      return answer.status === 200 ? (JSON.parse(answer.text) as { result: unknown }).result : answer.status;
    };
    assert.deepEqual(await execute(), { said: 'it works' });
    assert.deepEqual(await execute('constructor'), { said: 'a name like any other' });
    const rule = { capability: 'skill:reader', tool: 'reader', setBy: 'cli', setAt: 1 };
    await gateway.db.tx((q) => setRule(q, { ...rule, scope: 'admin', verdict: 'block' }));
    assert.equal(await execute(), 403);
    await gateway.db.tx((q) => setRule(q, { ...rule, scope: 'admin', verdict: 'allow' }));
    assert.deepEqual(await execute(), { said: 'it works' });
    const me = await gateway.db.get<{ person_id: string }>("select person_id from accounts where channel = 'page'");
    await gateway.db.tx((q) => setRule(q, { ...rule, scope: me?.person_id ?? '', verdict: 'block' }));
    assert.equal(await execute(), 403);
    await reload({ policies: { 'skill:constructor': { constructor: 'block' } } });
    assert.equal(await execute('constructor'), 403);
  });

  it('a reload brings new skills, new grants, and takes away what is gone', { skip: needsSandbox() }, async (t) => {
    const { root, write } = skillFolder(t);
    write('reader', answer('first'));
    const config = { agent: { capabilities: ['skill:reader', 'skill:late'] }, skill_dirs: [root] };
    const { telegram, model, alice, chat, reload, gateway } = await startWorld(t, { config });
    const say = async (calls: string[], words: string) => {
      model.script({ calls: calls.map((name) => ({ name, input: {} })) }, { text: words });
      telegram.say(chat, alice, words);
      await telegram.waitForMessage(chat, words);
      const sent = model.requests.at(-1)?.body ?? '';
      return ['first', 'second', 'late one', 'There is no tool'].filter((text) => sent.includes(text));
    };
    assert.deepEqual(await say(['reader'], 'Alpha.'), ['first']);
    write('reader', answer('second'));
    write('late', answer('late one'));
    await reload({});
    assert.deepEqual(await say(['reader', 'late'], 'Beta.'), ['second', 'late one']);
    rmSync(join(root, 'late'), { recursive: true });
    await reload({});
    assert.deepEqual(
      gateway.skills.remarks().map(({ path }) => path),
      ['agents.helper.capabilities'],
    );
    assert.deepEqual(await say(['late'], 'Gamma.'), ['There is no tool']);
  });
});

function grant(more: Partial<SkillSettings['grants'][string]>) {
  return { read: [], write: [], network: 'none' as const, unconfined: false, ...more };
}
