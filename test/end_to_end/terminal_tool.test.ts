/** A tool whose success is the answer (DESIGN, Contracts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { GatehouseError } from '../../src/base/errors.ts';
import { createGate } from '../support/gate.ts';
import { bounded, capabilityOf, startWorld, words } from './world.ts';

const agent = { capabilities: ['publish'] };

test('the success of a terminal tool is the answer; its failure is the model’s to tell', bounded, async (t) => {
  const outcomes = [
    { content: 'no room', isError: true },
    { content: 'published as #7', isError: false },
  ];
  const publish = capabilityOf('publish', { terminalOnSuccess: true, call: async () => outcomes.shift()! });
  const { telegram, model, alice, chat, gateway } = await startWorld(t, { config: { agent }, capabilities: [publish] });
  const call = { calls: [{ name: 'publish', input: {} }] };
  model.script(call, { text: 'It did not work.' }, call, { text: 'You asked twice.' });
  telegram.say(chat, alice, 'publish it');
  await telegram.waitForMessage(chat, 'It did not work.');
  telegram.say(chat, alice, 'again');
  await telegram.waitForMessage(chat, 'published as #7');
  telegram.say(chat, alice, 'and?');
  await telegram.waitForMessage(chat, 'You asked twice.');
  assert.equal(model.requests.length, 4);
  assert.deepEqual(words(model.requests[3]).slice(-2), [
    ['assistant', 'published as #7'],
    ['user', 'and?'],
  ]);
  const kinds = await gateway.db.all<{ kind: string }>(
    'select s.kind from steps s join runs r on r.id = s.run_id order by r.id, s.seq',
  );
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['user', 'assistant', 'results', 'assistant', 'user', 'assistant', 'results', 'user', 'assistant'],
    'M2: every call has its result',
  );
});

test(
  'D2: a run that is interrupted behind a terminal tool ends with its result after the restart',
  bounded,
  async (t) => {
    let calls = 0;
    let path = '';
    let failing = false;
    const interrupted = createGate();
    const publish = capabilityOf('publish', {
      terminalOnSuccess: true,
      async call() {
        calls += 1;
        return { content: 'published as #7' };
      },
    });
    const started = await startWorld(t, {
      config: { agent },
      capabilities: [publish],
      hooks: {
        beforeCommit() {
          if (!failing) return;
          interrupted.open();
          throw new GatehouseError('store_unavailable', 'the disk is gone');
        },
        // The result is stored; from the next commit on nothing is, as if the process had died.
        afterCommit() {
          if (path !== '' && calls > 0) failing ||= resultIsStored(path);
        },
      },
    });
    path = `${started.dataDir}/gatehouse.db`;
    const { telegram, model } = started;
    const alice = telegram.user({ name: 'Alice' });
    const chat = telegram.privateChat(alice);
    model.script({ calls: [{ name: 'publish', input: {} }] });
    telegram.say(chat, alice, 'publish it');
    await interrupted.opened;
    await started.stop();
    assert.equal(telegram.visible(chat, { fromBot: true }).length, 0);
    path = '';
    failing = false;
    await started.restart();
    await telegram.waitForMessage(chat, 'published as #7');
    assert.equal(calls, 1);
    assert.equal(model.requests.length, 1, 'the model is not asked again');
    assert.equal(telegram.visible(chat, { fromBot: true }).length, 1);
  },
);

function resultIsStored(path: string): boolean {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare(`select 1 from tool_calls where state = 'finished'`).get() !== undefined;
  } finally {
    database.close();
  }
}
