import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { capability } from '../../capabilities/builtin/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Db } from '../../src/store/db.ts';
import { createValueStore } from '../../src/store/values.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { ToolContext } from '../../src/types/tool.ts';
import { eachDatabase } from '../support/databases.ts';
import { silentLog } from '../support/silent_log.ts';
import { createRecordingRun } from './recording_run.ts';

const only = { only: 'sqlite' } as const;

function call(db: Db, id: string, input: JsonObject, owner: ToolContext['owner'] = { kind: 'person', id: 'ana' }) {
  const tool = capability.tools.find((one) => one.id === id);
  return tool!.call(input, {
    toolUseId: 'call_1',
    agent: 'helper',
    owner,
    person: { id: 'ana', name: 'Ana' },
    audience: 'direct',
    conversation: 'conversation_1',
    signal: new AbortController().signal,
    log: silentLog,
    now: systemClock.now,
    progress: () => {},
    values: createValueStore(db, systemClock, 'helper', owner),
  });
}

eachDatabase(
  'R77: the store tools answer as their interface says',
  async (_t, open) => {
    const db = await open();
    const preferences = '{"theme": "dark", "notifications": true}';
    assert.deepEqual(await call(db, 'store_get', { key: 'user_preferences' }), { content: 'null' });
    assert.deepEqual(await call(db, 'store_set', { key: 'user_preferences', value: preferences }), {
      content: 'Stored under "user_preferences".',
    });
    assert.deepEqual(await call(db, 'store_get', { key: 'user_preferences' }), { content: preferences });
    await call(db, 'store_set', { key: 'a', value: '' });
    assert.deepEqual(JSON.parse((await call(db, 'store_list', {})).content), { a: '', user_preferences: preferences });
    assert.deepEqual(await call(db, 'store_delete', { key: 'a' }), { content: 'Deleted "a".' });
    assert.deepEqual(await call(db, 'store_delete', { key: 'a' }), { content: 'Deleted "a" (there was no such key).' });
    await call(db, 'store_delete', { key: 'user_preferences' });
    assert.deepEqual(await call(db, 'store_list', {}), { content: '{}' });
  },
  only,
);

eachDatabase(
  'R32: what the store refuses is a result that says what to do, and nothing is stored',
  async (_t, open) => {
    const db = await open();
    assert.deepEqual(await call(db, 'store_set', { key: 'k', value: 'x'.repeat(65_537) }), {
      content: 'The value has 65537 bytes and may have 65536: shorten it or split it over several keys.',
      isError: true,
    });
    assert.deepEqual(await call(db, 'store_list', {}), { content: '{}' });
    const withoutOwner = await call(db, 'store_get', { key: 'k' }, null);
    assert.equal(withoutOwner.isError, true);
    assert.match(withoutOwner.content, /There is no store in this conversation/);
  },
  only,
);

eachDatabase(
  'a database that fails is thrown to the host, not told as an answer',
  async (_t, open) => {
    const db = await open();
    await db.close();
    await assert.rejects(call(db, 'store_get', { key: 'k' }), { code: 'store_unavailable' });
  },
  only,
);

test('the tools are always offered where somebody owns a store or can be asked, and nowhere else', () => {
  const offered = (facts: Parameters<typeof createRecordingRun>[0]) => {
    const { run, tools } = createRecordingRun(facts);
    capability.attach(run, {});
    return tools.map((tool) => tool.id);
  };
  const all = ['store_get', 'store_set', 'store_delete', 'store_list'];
  assert.equal(capability.id, '__builtin__');
  assert.equal(capability.always, true);
  assert.deepEqual(offered({}), [...all, 'ask_user']);
  assert.deepEqual(offered({ audience: 'group' }), [...all, 'ask_user']);
  assert.deepEqual(offered({ audience: 'group', person: null }), all);
  assert.deepEqual(offered({ audience: 'direct', person: null }), []);
  assert.deepEqual(offered({ audience: 'public' }), []);
});

test('effects and hints: all safe; reads and questions are read-only, set and delete may be repeated', () => {
  assert.deepEqual(
    capability.tools.map(({ id, effect, annotations }) => [
      id,
      effect,
      annotations.readOnlyHint,
      annotations.idempotentHint,
      annotations.openWorldHint,
    ]),
    [
      ['store_get', 'safe', true, true, false],
      ['store_set', 'safe', false, true, false],
      ['store_delete', 'safe', false, true, false],
      ['store_list', 'safe', true, true, false],
      ['ask_user', 'safe', true, true, false],
    ],
  );
});

test('P1: the schemas take key and value and nothing that names an owner', () => {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  const accepts = (id: string, input: unknown) =>
    ajv.compile(capability.tools.find((tool) => tool.id === id)!.inputSchema)(input);
  for (const id of ['store_get', 'store_delete']) {
    assert.equal(accepts(id, { key: 'k' }), true);
    assert.equal(accepts(id, {}), false);
    assert.equal(accepts(id, { key: '' }), false);
    assert.equal(accepts(id, { key: 'k'.repeat(257) }), false);
    assert.equal(accepts(id, { key: 'k', owner: 'ben' }), false);
  }
  assert.equal(accepts('store_set', { key: 'k', value: 'v' }), true);
  assert.equal(accepts('store_set', { key: 'k', value: { theme: 'dark' } }), false);
  assert.equal(accepts('store_set', { key: 'k' }), false);
  assert.equal(accepts('store_list', {}), true);
  assert.equal(accepts('store_list', { person: 'ben' }), false);
});

test('the README of the folder lists the tools and their effects', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../capabilities/builtin/README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `(\w+)` +\|.*\| (\w+) +\|$/gm)].map((row) => [row[1], row[2]]);
  assert.deepEqual(
    rows,
    capability.tools.map((tool) => [tool.id, tool.effect]),
  );
});

test('R56: ask_user takes 1 to 4 questions with at most 8 options, and nobody to ask', () => {
  const ask = capability.tools.find(({ id }) => id === 'ask_user')!;
  const accepts = new Ajv2020({ strict: true, allErrors: true }).compile(ask.inputSchema);
  const options = (count: number) => Array.from({ length: count }, (_, index) => `option ${index}`);
  const question = { question: 'Which?' };
  for (const questions of [
    [question],
    [question, question, question, question],
    [{ ...question, options: [] }],
    [{ ...question, options: options(8) }],
    [{ question: 'x'.repeat(500), options: ['x'.repeat(100)] }],
  ])
    assert.equal(accepts({ questions }), true, JSON.stringify(questions));
  for (const questions of [
    [],
    [question, question, question, question, question],
    [{ ...question, options: options(9) }],
    [{ ...question, options: ['a', 'a'] }],
    [{ ...question, options: [' '] }],
    [{ question: ' ' }],
    [{ question: 'x'.repeat(501) }],
    [{ question: 'Which?', options: ['x'.repeat(101)] }],
    [{ ...question, person: 'ben' }],
    ['Which?'],
    'Which?',
  ])
    assert.equal(accepts({ questions }), false, JSON.stringify(questions));
  assert.equal(accepts({ questions: [question], person: 'ben' }), false);
});
