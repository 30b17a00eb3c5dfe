import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Visible } from '../emulators/telegram/index.ts';
import { bounded, callsOf, room, said, startWorld } from './world.ts';

/** The words a kind of formatting covers, in order. */
function covered(messages: Visible[], type: string): string[] {
  return messages.flatMap((message) =>
    message.entities
      .filter((entity) => entity.type === type)
      .map((entity) => message.text.slice(entity.offset, entity.offset + entity.length)),
  );
}

test(
  'L71, R84: when the formatting is refused the words go once more from the source, without it',
  bounded,
  async (t) => {
    const { telegram, model, alice, chat } = await startWorld(t);
    telegram.fault({
      method: 'sendMessage',
      do: 'error',
      code: 400,
      description: "Bad Request: can't parse entities: Can't find end of the entity",
    });
    model.script({ text: 'Use **snake_case_name** (v1.2), see [docs](https://docs.example/a_b)!' });
    telegram.say(chat, alice, 'how?');
    const message = await telegram.waitForMessage(chat, 'snake_case_name');
    assert.equal(message.text, 'Use snake_case_name (v1.2), see docs (https://docs.example/a_b)!');
    assert.deepEqual(message.entities, []);
    const [, second, ...more] = callsOf(telegram, 'sendMessage');
    assert.equal(second?.args.parse_mode, undefined);
    assert.deepEqual(second?.args.entities, []);
    assert.deepEqual(more, []);
  },
);

test('a model that refuses the key is told apart from one that cannot be reached', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway, log } = await startWorld(t, { config: { model: { retries: 0 } } });
  model.script({ status: 401 });
  telegram.say(chat, alice, 'hello');
  const notice = await telegram.waitForMessage(chat, 'The model refuses me: its key or settings are wrong.');
  const run = await gateway.db.get<{ id: string }>('select id from runs');
  assert.equal(notice.text, `The model refuses me: its key or settings are wrong. Tell an admin: ${run?.id}`);
  const line = log.lines.find(({ msg }) => String(msg).startsWith('run failed: '));
  assert.match(String(line?.hint), /key/);
  assert.equal(line?.err, undefined, 'no stack');
});

test('L73: another refusal is not tried again as plain text, and is told', bounded, async (t) => {
  const { telegram, model, alice, chat, gateway } = await startWorld(t);
  telegram.fault({ method: 'sendMessage', do: 'error', code: 400, description: 'Bad Request: message is too long' });
  model.script({ text: 'Some **bold** words.' });
  telegram.say(chat, alice, 'how?');
  await telegram.waitForMessage(chat, 'An answer could not be delivered here; it is kept in the log.');
  assert.deepEqual(
    callsOf(telegram, 'sendMessage').map((call) => [call.status, call.args.text]),
    [
      [400, 'Some bold words.'],
      [200, 'An answer could not be delivered here; it is kept in the log.'],
    ],
  );
  assert.deepEqual(await gateway.db.get('select state, body from outbox order by id limit 1'), {
    state: 'failed',
    body: 'Some **bold** words.',
  });
});

test('L75: a fenced block of 9,000 characters is whole, each part a block of its language', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  const lines = Array.from({ length: 180 }, (_, n) => `  value_${n} = compute("*not bold*", ${'x'.repeat(20)}, ${n})`);
  const code = lines.join('\n');
  assert.ok(code.length > 9_000);
  model.script({ text: `Here:\n\n\`\`\`python\n${code}\n\`\`\`\n\nThat is all.` });
  telegram.say(chat, alice, 'code please');
  await telegram.waitForMessage(chat, 'That is all.');
  const parts = telegram.visible(chat, { fromBot: true });
  const blocks = parts.flatMap((part) => part.entities.filter((entity) => entity.type === 'pre'));
  assert.ok(blocks.length >= 3);
  assert.ok(blocks.every((block) => block.language === 'python'));
  assert.equal(covered(parts, 'pre').join('\n'), code);
  assert.deepEqual(covered(parts, 'bold'), []);
  assert.ok(parts.every((part) => part.text.length <= 4_096));
  assert.equal(callsOf(telegram).filter((call) => call.status !== 200).length, 0);
});

test('L77: an answer over 4,096 characters arrives whole and in order', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, { config: { binding: { stream: false } } });
  const sentences = Array.from({ length: 300 }, (_, n) => `Sentence number ${n} tells of something that matters.`);
  model.script({ text: sentences.join(' ') });
  telegram.say(chat, alice, 'long please');
  await telegram.waitForMessage(chat, 'Sentence number 299 tells of something that matters.');
  const parts = said(telegram, chat);
  assert.ok(parts.length >= 4 && parts.length <= 6, `${parts.length} parts`);
  assert.equal(parts.join(' ').replaceAll(/\s+/g, ' '), sentences.join(' '));
});

test('L78: bold, links and lists that straddle the limit keep their formatting', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t, { config: { binding: { stream: false } } });
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  const phrase = (n: number) => `phrase ${n} ${'of many words '.repeat(12)}end`;
  const text = numbers.map((n) => `- item **${phrase(n)}** and [page ${n}](https://pages.example/${n})`).join('\n');
  model.script({ text });
  telegram.say(chat, alice, 'list please');
  await telegram.waitForMessage(chat, 'page 39');
  const parts = telegram.visible(chat, { fromBot: true });
  assert.ok(parts.length >= 2);
  const bare = (words: string[]) => words.join('').replaceAll(/\s+/g, '');
  assert.equal(bare(covered(parts, 'bold')), bare(numbers.map(phrase)));
  const links = parts.flatMap((part) => part.entities.filter((entity) => entity.type === 'text_link'));
  assert.deepEqual(
    [...new Set(links.map((link) => link.url))],
    numbers.map((n) => `https://pages.example/${n}`),
  );
  assert.ok(parts.every((part) => !part.text.includes('**')));
});

test('R84, R37: names in an answer ping nobody and links load nothing', bounded, async (t) => {
  const { telegram, model, alice } = await startWorld(t, { config: { binding: room([-5001]) } });
  const bob = telegram.user({ name: 'Bob', username: 'bob_builder' });
  const group = telegram.group({ id: -5001, members: [alice, bob] });
  model.script({
    text: 'Tell @bob_builder and @everyone at [the page](https://pages.example/) or https://open.example/',
  });
  telegram.say(group, alice, '@gate_bot whom shall I tell?');
  const message = await telegram.waitForMessage(group, 'Tell');
  assert.deepEqual(
    message.detected.filter(({ type }) => type === 'mention'),
    [],
  );
  assert.match(message.text, /bob_builder and .*everyone/);
  const written = telegram.calls.filter(({ method }) => method === 'sendMessage' || method === 'editMessageText');
  assert.ok(written.length > 0);
  for (const call of written) assert.deepEqual(call.args.link_preview_options, { is_disabled: true });
});
