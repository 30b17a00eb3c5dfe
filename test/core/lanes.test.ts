/** Who waits for whom: which agent a lane gets, which messages make a run, and where it is answered. */
import assert from 'node:assert/strict';
import { eachDatabase } from '../support/databases.ts';
import { agentSpec, bindingSpec, createInboxWorld, group, sender } from '../support/inbox_world.ts';

const command = (name: string, args = '') => ({ command: { name, args } });

eachDatabase('R22: messages of one person are taken together, those of another are the next run', async (_t, open) => {
  const world = createInboxWorld(await open(), { bindings: [bindingSpec({ scope: 'channel' })] });
  const here = { chat: group, mentionsBot: true };
  await world.say('ana', 'a1', here);
  await world.say('ana', 'a2', here);
  await world.say('ben', 'b1', here);
  await world.say('ana', 'a3', here);
  const runs = await world.dispatch();
  assert.deepEqual(
    runs.map((run) => [run.user, run.messages]),
    [['ana', ['a1', 'a2']]],
  );
});

eachDatabase('R12: a chat that exists follows its binding to the agent it names now', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  await world.say('ana', 'one');
  await world.dispatch();
  await db.run(`update runs set state = 'completed'`);
  const renamed = { ...agentSpec, id: 'concierge' };
  world.settings.agents = new Map([['concierge', { version: 3, spec: renamed }]]);
  world.settings.bindings = [bindingSpec({ agent: 'concierge' })];
  await world.say('ana', 'two');
  const runs = await world.dispatch();
  assert.deepEqual(
    runs.map((run) => run.messages),
    [['one'], ['two']],
  );
  assert.deepEqual(await db.all('select agent, agent_version from runs order by id'), [
    { agent: 'helper', agent_version: 1 },
    { agent: 'concierge', agent_version: 3 },
  ]);
});

eachDatabase('R12: where the binding or its agent is gone, waiting messages get one line', async (_t, open) => {
  for (const gone of ['binding', 'agent'] as const) {
    const db = await open();
    await db.run('delete from inbox');
    await db.run('delete from outbox');
    const world = createInboxWorld(db);
    await world.say('ana', 'one', { key: `${gone}1`, sender: sender('ana', { language: 'de' }) });
    await world.say('ana', 'two', { key: `${gone}2` });
    if (gone === 'binding') world.settings.bindings = [];
    else world.settings.agents = new Map();
    assert.deepEqual(await world.dispatch(), []);
    assert.deepEqual(await world.states(), ['refused', 'refused']);
    assert.deepEqual(
      (await world.outbox()).map(({ chat, markdown }) => [chat, markdown]),
      [['ana', 'Hier antwortet niemand mehr; frag die Leute, die mich betreiben.']],
    );
  }
});

eachDatabase('R21: one conversation over several topics is answered in the topic of each message', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, { bindings: [bindingSpec({ scope: 'channel', trigger: 'all' })] });
  for (const thread of ['5', undefined, '6']) {
    await world.say('ana', 'hello', { chat: group, ...(thread === undefined ? {} : { thread }) });
    await world.dispatch();
    await db.run(`update runs set state = 'completed'`);
  }
  assert.deepEqual(await db.all('select thread from runs order by id'), [
    { thread: '5' },
    { thread: null },
    { thread: '6' },
  ]);
  assert.deepEqual(await db.get('select count(*) as n from conversations'), { n: 1 });
});

eachDatabase('R21: where answers open threads, each message of one conversation has its own', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db, {
    bindings: [bindingSpec({ scope: 'user' })],
    channels: { tg: { threads: 'open', groupsNeedAdmission: false } },
  });
  const first = await world.say('ana', 'one', { chat: group, mentionsBot: true });
  const second = await world.say('ana', 'two', { chat: group, mentionsBot: true });
  await world.dispatch();
  await db.run(`update runs set state = 'completed'`);
  await world.dispatch();
  assert.deepEqual(await db.all('select thread from runs order by id'), [
    { thread: first.messageId },
    { thread: second.messageId },
  ]);
});

eachDatabase('R22: stop and status reach the run that new has left behind', async (_t, open) => {
  const db = await open();
  const world = createInboxWorld(db);
  await world.say('ana', 'work');
  await world.dispatch();
  await world.clock.advance(3_000);
  await world.say('ana', '/new', command('new'));
  await world.say('ana', '/status', command('status'));
  await world.say('ben', '/stop', command('stop'));
  await world.say('ana', '/stop', command('stop'));
  const lines = (await world.outbox()).map((line) => line.markdown);
  assert.match(lines[1] ?? '', /^I am working on an answer, since 3 s\./);
  assert.deepEqual(lines.slice(2), ['Nothing is running here.', 'Stopping.']);
  assert.deepEqual(await db.all('select stop_requested from runs'), [{ stop_requested: 'asked' }]);
});

eachDatabase(
  'R5: what a person writes between the parts of an album stays behind the first of them',
  async (_t, open) => {
    const world = createInboxWorld(await open());
    const photo = (name: string) => ({
      partOf: 'album',
      files: [{ ref: name, name, mime: 'image/jpeg', kind: 'image' as const }],
    });
    await world.say('ana', 'first', photo('1.jpg'));
    await world.say('ana', 'words');
    await world.clock.advance(600);
    await world.say('ana', 'last', photo('2.jpg'));
    await world.clock.advance(600);
    assert.deepEqual(await world.dispatch(), []);
    await world.clock.advance(400);
    assert.deepEqual((await world.dispatch())[0]?.messages, ['first', 'words', 'last']);
  },
);

eachDatabase('R17: ten a minute; what is over it waits, with one notice a minute', async (_t, open) => {
  const limited = bindingSpec({
    access: { direct: 'open', group: 'open', allow: [], rateLimit: { count: 10, perMs: 60_000 } },
  });
  const world = createInboxWorld(await open(), { bindings: [limited] });
  for (let n = 0; n < 12; n++) await world.say('ana', `m${n}`);
  assert.equal((await world.outbox()).length, 1);
  assert.match((await world.outbox())[0]?.markdown ?? '', /more than I may take/);
  const [run] = await world.dispatch();
  assert.equal(run?.messages.length, 10);
  await world.db.tx((q) => q.run(`update runs set state = 'completed'`));
  assert.equal((await world.dispatch()).length, 1);
  await world.clock.advance(60_000);
  const runs = await world.dispatch();
  assert.deepEqual(runs[1]?.messages, ['m10', 'm11']);
});

eachDatabase('R17: twenty messages wait at most, with one notice beyond', async (_t, open) => {
  const world = createInboxWorld(await open());
  await world.say('ana', 'first');
  await world.dispatch();
  for (let n = 0; n < 23; n++) await world.say('ana', `m${n}`);
  const states = await world.states();
  assert.equal(states.filter((state) => state === 'waiting').length, 20);
  assert.equal(states.filter((state) => state === 'refused').length, 3);
  assert.equal((await world.outbox()).length, 1);
  assert.deepEqual(world.counts, { inbox_messages: 21, inbox_refused: 3 });
});

const twoAMinute = {
  direct: 'open' as const,
  group: 'open' as const,
  allow: [],
  rateLimit: { count: 2, perMs: 60_000 },
};

eachDatabase('R17: whoever is over the rate in a room holds up nobody else', async (_t, open) => {
  const binding = bindingSpec({ trigger: 'all', scope: 'channel', access: twoAMinute });
  const world = createInboxWorld(await open(), { bindings: [binding] });
  const finish = async () => {
    await world.db.run(`update runs set state = 'completed'`);
    await world.db.run(`update inbox set state = 'done' where state = 'taken'`);
  };
  for (let n = 0; n < 23; n++) await world.say('eve', `e${n}`, { chat: group });
  assert.equal((await world.states()).filter((state) => state === 'refused').length, 3);
  await world.dispatch();
  await finish();
  await world.say('ben', 'hello', { chat: group });
  assert.deepEqual((await world.dispatch()).at(-1)?.messages, ['hello']);
  await finish();
  await world.clock.advance(60_000);
  await world.clock.advance(1);
  await world.say('ben', 'again', { chat: group });
  const runs = await world.dispatch();
  await finish();
  assert.deepEqual([runs.at(-1)?.user, runs.at(-1)?.messages], ['eve', ['e2', 'e3']]);
  assert.deepEqual((await world.dispatch()).at(-1)?.messages, ['again']);
});

eachDatabase(
  'R17: several people whose messages are due make one run of a conversation at a time',
  async (_t, open) => {
    const binding = bindingSpec({ trigger: 'all', scope: 'channel' });
    const world = createInboxWorld(await open(), { bindings: [binding] });
    await world.say('eve', 'one', { chat: group });
    await world.say('ben', 'two', { chat: group });
    assert.deepEqual(
      (await world.dispatch()).map((run) => run.messages),
      [['one']],
    );
  },
);

eachDatabase('R17: a clock that was ahead makes nobody wait longer than the queue is long', async (_t, open) => {
  const world = createInboxWorld(await open(), { bindings: [bindingSpec({ access: twoAMinute })] });
  for (const text of ['one', 'two']) await world.say('ana', text);
  await world.db.run(`update inbox set received_at = received_at + 86400000, state = 'done'`);
  await world.say('ana', 'after the clock was set right');
  const row = await world.db.get<{ wait: number }>(
    `select not_before - ? as wait from inbox where state = 'waiting'`,
    world.clock.now(),
  );
  assert.equal(row?.wait, 1_200_000);
});
