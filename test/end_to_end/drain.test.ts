/** Rule 88: what a stop does to runs at work, and how the next start goes on with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../../src/types/tool.ts';
import { createGate } from '../support/gate.ts';
import { bounded, callsOf, capabilityOf, room, said, startTimedWorld, startWorld, words } from './world.ts';

const reading: Tool['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const changing: Tool['annotations'] = { ...reading, readOnlyHint: false, destructiveHint: true, idempotentHint: false };

test(
  'R88: a tool at work ends within the drain; the next start goes on behind it, with one answer',
  bounded,
  async (t) => {
    let ran = 0;
    const started = createGate();
    const ends = createGate();
    const { telegram, model, alice, chat, world } = await startWorld(t, {
      config: { agent: { capabilities: ['effect'] } },
      capabilities: [
        capabilityOf('effect', {
          annotations: changing,
          call: async () => {
            ran += 1;
            started.open();
            await ends.opened;
            return { content: 'changed' };
          },
        }),
      ],
    });
    model.script({ calls: [{ name: 'effect', input: {} }] }, { text: 'It is changed.' });
    telegram.say(chat, alice, 'change it');
    await started.opened;
    const stopped = world.gateway.stop();
    ends.open();
    await stopped;
    assert.equal(model.requests.length, 1, 'no further step was begun');
    assert.deepEqual(said(telegram, chat), []);
    await world.restart();
    await telegram.waitForMessage(chat, 'It is changed.');
    await telegram.idle();
    assert.equal(ran, 1);
    assert.equal(model.requests[1]?.messages.at(-1)?.results[0]?.text, 'changed');
    assert.deepEqual(said(telegram, chat), ['It is changed.']);
  },
);

for (const [kind, annotations, runs, result] of [
  ['changing', changing, 1, /^Outcome unknown/],
  ['read-only', reading, 2, /^seen$/],
] as const)
  test(
    `R88, D2: a ${kind} tool that outlasts the drain ${runs === 1 ? 'is not run again' : 'is run again'}`,
    bounded,
    async (t) => {
      let ran = 0;
      const started = createGate();
      const { telegram, model, alice, chat, clock, pass, world } = await startTimedWorld(t, {
        config: { agent: { capabilities: ['slow'] } },
        capabilities: [
          capabilityOf('slow', {
            annotations,
            call: async () => {
              ran += 1;
              started.open();
              return ran === 1 ? new Promise(() => {}) : { content: 'seen' };
            },
          }),
        ],
      });
      model.script({ calls: [{ name: 'slow', input: {} }] }, { text: 'Checked.' });
      telegram.say(chat, alice, 'go');
      await pass(started.opened);
      const asked = clock.now();
      await pass(world.gateway.stop());
      assert.ok(clock.now() - asked >= 10_000 && clock.now() - asked < 20_000, `${clock.now() - asked} ms`);
      await pass(world.restart());
      await pass(telegram.waitForMessage(chat, 'Checked.'));
      assert.equal(ran, runs);
      assert.match(model.requests[1]?.messages.at(-1)?.results[0]?.text ?? '', result);
    },
  );

test(
  'R88: a model that does not end is left after 10 s and asked again; what was shown is finished in place',
  bounded,
  async (t) => {
    const id = -1001000000001;
    const { telegram, model, alice, clock, pass, world } = await startTimedWorld(t, {
      config: { binding: room([id]) },
    });
    const group = telegram.group({ id, members: [alice] });
    model.script(
      { text: 'First part and more.', pieces: ['First part ', 'and more.'], hangAfter: 1 },
      { text: 'The whole answer.' },
    );
    telegram.say(group, alice, '@gate_bot go');
    const piece = await pass(telegram.waitForMessage(group, 'First part'));
    await pass(clock.sleep(2_000));
    const asked = clock.now();
    await pass(world.gateway.stop());
    assert.ok(clock.now() - asked < 20_000);
    assert.equal(await model.requests[0]?.ended, 'client');
    await pass(world.restart());
    const answer = await pass(telegram.waitForMessage(group, 'The whole answer.'));
    assert.equal(answer.id, piece.id);
    assert.deepEqual(said(telegram, group), ['The whole answer.']);
    assert.deepEqual(words(model.requests[1]), words(model.requests[0]));
  },
);

test('R88: what is due is still sent while stopping, what must wait is kept', bounded, async (t) => {
  const { telegram, alice, chat, clock, pass, world } = await startTimedWorld(t);
  const bob = telegram.user({ name: 'Bob' });
  telegram.flood(chat, 60);
  telegram.say(chat, alice, 'one');
  await pass(telegram.call(({ method, status }) => method === 'sendMessage' && status === 429));
  const gate = createGate();
  telegram.before(
    ({ method, args }) => method === 'sendMessage' && Number(args.chat_id) === bob.id,
    () => gate.opened,
  );
  telegram.say(telegram.privateChat(bob), bob, 'two');
  await pass(telegram.received(({ method, args }) => method === 'sendMessage' && Number(args.chat_id) === bob.id));
  const stopped = world.gateway.stop();
  await pass(clock.sleep(1_000));
  gate.open();
  await pass(stopped);
  assert.deepEqual(said(telegram, bob.id), ['You said: two']);
  assert.deepEqual(said(telegram, chat), []);
  await pass(world.restart());
  await pass(telegram.waitForMessage(chat, 'You said: one'));
  assert.deepEqual(said(telegram, bob.id), ['You said: two'], 'once');
});

test('R8: a command menu that cannot be set leaves the channel up', bounded, async (t) => {
  const { telegram, alice, chat, pass, world, log } = await startTimedWorld(t, { telegram: {} });
  await pass(telegram.call('setMyCommands'));
  telegram.fault({ method: 'setMyCommands', do: 'status_before', status: 502 });
  await pass(world.restart());
  await pass(telegram.call('setMyCommands', { after: callsOf(telegram).at(-1)?.id ?? 0 }));
  telegram.say(chat, alice, 'hi');
  await pass(telegram.waitForMessage(chat, 'You said: hi'));
  assert.equal(world.gateway.reports().find(({ name }) => name === 'tg')?.state, 'up');
  assert.ok(
    log.lines.some(({ msg, level }) => level === 'warn' && String(msg).startsWith('the command menu was not set')),
  );
});
