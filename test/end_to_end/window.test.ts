import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendTurns } from '../../src/store/conversations.ts';
import { createGate } from '../support/gate.ts';
import { bounded, startWorld, type World, words } from './world.ts';

const tooLong = {
  status: 400,
  code: 'context_length_exceeded',
  message: "This model's maximum context length is 32000 tokens.",
};

/** One exchange through the gateway, and `count` turns of `text` behind it. */
async function talkBefore(world: World, count: number, text: string): Promise<void> {
  const { telegram, model, alice, chat } = world;
  const { db } = world.world.gateway;
  model.script({ text: 'first' });
  telegram.say(chat, alice, 'hello');
  await telegram.waitForMessage(chat, 'first');
  const { id } = (await db.get<{ id: string }>('select id from conversations')) as { id: string };
  const turns = Array.from({ length: count }, (_, n) => ({
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: `${n}: ${text}`,
  }));
  await db.tx((q) => appendTurns(q, { id, turns: 2 }, 'earlier', turns, 1));
}

test(
  'R23, M1: a long conversation is cut before it passes the context window, and then stays the same',
  bounded,
  async (t) => {
    const world = await startWorld(t, { config: { model: { context_window: 32_000, max_output_tokens: 4_000 } } });
    const { telegram, model, alice, chat } = world;
    await talkBefore(world, 98, 'word '.repeat(600));
    model.script({ text: 'what was said' }, { text: 'second' }, { text: 'third' });
    telegram.say(chat, alice, 'and now?');
    await telegram.waitForMessage(chat, 'second');
    telegram.say(chat, alice, 'go on');
    await telegram.waitForMessage(chat, 'third');
    assert.equal(model.requests.length, 4, 'summarised once');
    for (const request of model.requests) assert.ok(request.body.length < 28_000 * 3.6, `${request.body.length} bytes`);
    const [second, third] = [words(model.requests[2]), words(model.requests[3])];
    assert.deepEqual(second[0], ['user', '[Summary of the earlier conversation]\nwhat was said']);
    assert.equal(second[1]?.[0], 'user');
    assert.match(second.at(-2)?.[1] ?? '', /^97: word/);
    // A step frees half of the window, so that it does not move again with the next message.
    assert.ok(second.length > 8 && second.length < 20, `${second.length} messages`);
    assert.deepEqual(third.slice(0, second.length), second);
  },
);

test('R23: what the model finds too long is asked once more with half of the window', bounded, async (t) => {
  const world = await startWorld(t, { config: { model: { context_window: 32_000, max_output_tokens: 4_000 } } });
  const { telegram, model, alice, chat } = world;
  await talkBefore(world, 8, 'word '.repeat(600));
  model.script(tooLong, { text: 'what was said' }, { text: 'answered all the same' }, { text: 'third' });
  telegram.say(chat, alice, 'and now?');
  await telegram.waitForMessage(chat, 'answered all the same');
  assert.equal(words(model.requests[1]).length, 11);
  assert.equal(words(model.requests[3]).length, 6, 'a summary, four turns and the question');
  telegram.say(chat, alice, 'go on');
  await telegram.waitForMessage(chat, 'third');
  assert.equal(words(model.requests[4]).length, 8, 'the cut is kept');
  assert.deepEqual(await world.world.gateway.db.all('select id from ledger where settled = 0'), []);
});

test('R74: too long, and refused, are said in words of their own', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, { config: { model: { retries: 0 } } });
  model.script(tooLong, { status: 400, message: 'this is not allowed' });
  telegram.say(chat, alice, 'm1');
  await telegram.waitForMessage(chat, 'This is more than the model can read at once.');
  telegram.say(chat, alice, 'm2');
  await telegram.waitForMessage(chat, 'The model does not answer this request as it is.');
});

test('R73: no summary is asked for while a cap is reached, and the window moves all the same', bounded, async (t) => {
  const world = await startWorld(t);
  const { telegram, model, alice, chat } = world;
  await talkBefore(world, 300, 'words');
  await world.world.reload({ agent: { limits: { budget_usd: { day: 0.000001 } } } });
  telegram.say(chat, alice, 'and now?');
  await telegram.waitForMessage(chat, 'The spending limit is reached');
  assert.equal(model.requests.length, 1);
  const { db } = world.world.gateway;
  assert.deepEqual(await db.all('select summary, summary_until from conversations'), [
    { summary: null, summary_until: 200 },
  ]);
});

test('R73: a summary that is stopped is booked, and nothing stays reserved', bounded, async (t) => {
  const world = await startWorld(t, { config: { agent: { limits: { budget_usd: { day: 100 } } } } });
  const { telegram, model, alice, chat } = world;
  await talkBefore(world, 300, 'words');
  const begun = createGate();
  const gate = (piece: number) => {
    if (piece === 1) begun.open();
  };
  model.script({ pieces: ['sum', 'mary', 'more'], gate, hangAfter: 2 }, { text: 'after' });
  telegram.say(chat, alice, 'and now?');
  const request = await model.request(2);
  await begun.opened;
  telegram.say(chat, alice, '/stop');
  assert.equal(await request.ended, 'client');
  await telegram.waitForMessage(chat, 'Stopping.');
  const { db } = world.world.gateway;
  telegram.say(chat, alice, '/new');
  telegram.say(chat, alice, 'hello again');
  await telegram.waitForMessage(chat, 'after');
  const rows = await db.all<{ settled: number; input_tokens: number }>(
    'select settled, input_tokens from ledger order by id',
  );
  assert.deepEqual(
    rows.map(({ settled }) => settled),
    [1, 1, 1],
  );
  assert.ok((rows[1]?.input_tokens ?? 0) > 500, 'the summary read 200 turns');
});
