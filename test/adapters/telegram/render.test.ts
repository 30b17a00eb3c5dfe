import assert from 'node:assert/strict';
import test from 'node:test';
import { createWriter } from '../../../adapters/telegram/formatted.ts';
import { clip, measure, render, renderPlain } from '../../../adapters/telegram/render.ts';
import { splitMarkdown } from '../../../src/base/markdown_split.ts';
import { startTelegramEmulator } from '../../emulators/telegram/index.ts';
import { createRandom } from '../../support/random.ts';
import { randomDocument, randomNoise } from './documents.ts';
import { createHarness, message, placeOf, token } from './harness.ts';

const seed = Number(process.env.GATEHOUSE_SEED ?? Date.now() % 1_000_000);

test('R84: words keep their styles, which split around code', () => {
  assert.deepEqual(render('**a `b` c** *d* ~~e~~'), {
    text: 'a b c d e',
    entities: [
      { type: 'bold', offset: 0, length: 1 },
      { type: 'code', offset: 2, length: 1 },
      { type: 'bold', offset: 4, length: 1 },
      { type: 'italic', offset: 6, length: 1 },
      { type: 'strikethrough', offset: 8, length: 1 },
    ],
  });
});

test('R84: offsets are UTF-16 units', () => {
  assert.deepEqual(render('😀 **é😀**'), { text: '😀 é😀', entities: [{ type: 'bold', offset: 3, length: 3 }] });
});

test('R84: code survives byte for byte, with its language and its indentation', () => {
  assert.deepEqual(render('```py\n  @bob: "*x*"\n\n\tend\n```\nafter'), {
    text: '  @bob: "*x*"\n\n\tend\n\nafter',
    entities: [{ type: 'pre', language: 'py', offset: 0, length: 19 }],
  });
});

test('R84: headings are bold, lists have bullets and numbers, nested ones are indented', () => {
  assert.deepEqual(render('# Plan\n3. one\n4. two\n   - deep\n   - [x] done\n\n---\nend'), {
    text: 'Plan\n3. one\n4. two\n   • deep\n   • ☑ done\n\n──────────\n\nend',
    entities: [{ type: 'bold', offset: 0, length: 4 }],
  });
});

test('R84: code in a list stands on its own lines, unshifted', () => {
  assert.deepEqual(render('- look:\n\n  ```\n  a\n    b\n  ```\n- next'), {
    text: '• look:\na\n  b\n• next',
    entities: [{ type: 'pre', offset: 8, length: 5 }],
  });
});

test('R84: quotes hold everything but quotes', () => {
  assert.deepEqual(render('> a **b**\n> > c\n> > `d`'), {
    text: 'a b\n\nc\nd',
    entities: [
      { type: 'blockquote', offset: 0, length: 8 },
      { type: 'bold', offset: 2, length: 1 },
      { type: 'code', offset: 7, length: 1 },
    ],
  });
});

test('R84: a table is aligned text', () => {
  assert.deepEqual(render('| a | long |\n|---|---|\n| 1 | 2 |').entities[0]?.type, 'pre');
});

test('R37: links and images are links, and what Telegram takes no link to is spelled out', () => {
  assert.deepEqual(render('[a `b`](https://x.example/p) ![pic](https://i.example/a.png)'), {
    text: 'a b pic',
    entities: [
      { type: 'text_link', url: 'https://x.example/p', offset: 0, length: 3 },
      { type: 'text_link', url: 'https://i.example/a.png', offset: 4, length: 3 },
    ],
  });
  assert.deepEqual(render('[box](http://localhost:3000/) [mail](mailto:a@b.example) https://y.example'), {
    text: 'box (http://localhost:3000/) mail (a@b.example) https://y.example',
    entities: [],
  });
});

test('R84: names are defused wherever Telegram would see one, and nowhere else', () => {
  const text = (markdown: string) => render(markdown).text.replaceAll('\u2060', '~');
  assert.equal(text('@bob (@al) @*dd* **@**'), '@~bob (@~al) @~dd @');
  assert.equal(text('a@b.example `@bob` @ bob é@bob'), 'a@b.example @bob @ bob é@bob');
  assert.equal(
    text('https://medium.example/@bob x://@bob https://@bob'),
    'https://medium.example/@bob x://@~bob https://@~bob',
  );
  assert.deepEqual(render('@**bob** x').entities, [{ type: 'bold', offset: 2, length: 3 }]);
  assert.deepEqual(render('**@bob** `x`').entities, [
    { type: 'bold', offset: 0, length: 5 },
    { type: 'code', offset: 6, length: 1 },
  ]);
});

test('R84: half a surrogate pair becomes a replacement character', () => {
  assert.equal(render('a \ud83d b').text, 'a \ufffd b');
  const writer = createWriter();
  writer.words('a \ud83d b');
  assert.equal(writer.finish().text, 'a \ufffd b');
});

test('white space around the whole is cut with its ranges, and nothing visible is nothing', () => {
  assert.deepEqual(render('**a** \n\n'), { text: 'a', entities: [{ type: 'bold', offset: 0, length: 1 }] });
  for (const empty of ['', ' \n\t', '``` \n```']) {
    assert.deepEqual(render(empty), { text: '', entities: [] });
    assert.equal(measure(empty), 0);
  }
});

test('a part is measured in UTF-16 units, and more ranges than Telegram keeps are too long', () => {
  assert.equal(measure('**é😀**'), 3);
  assert.equal(measure(Array.from({ length: 100 }, () => '`x`').join(' ')), 199);
  assert.ok(measure(Array.from({ length: 101 }, () => '`x`').join(' ')) > 4096);
});

test('the plain form keeps the words and the addresses', () => {
  assert.deepEqual(renderPlain('**a** [b](https://x.example/) @bob'), {
    text: 'a b (https://x.example/) @\u2060bob',
    entities: [],
  });
});

test('a cut leaves whole characters and ranges inside', () => {
  assert.deepEqual(clip(render('**ab😀**'), 3), {
    text: 'ab\ufffd',
    entities: [{ type: 'bold', offset: 0, length: 3 }],
  });
  assert.deepEqual(clip(render('ab **cd**'), 3), { text: 'ab', entities: [] });
});

test('hostile input stays quick', () => {
  for (const source of ['@a '.repeat(20_000), 'x://@a'.repeat(10_000), '**`a`** '.repeat(10_000), '>'.repeat(5_000)]) {
    const before = process.cpuUsage();
    measure(source);
    assert.ok(process.cpuUsage(before).user < 3_000_000, source.slice(0, 10));
  }
});

/** Where Telegram's servers would see a mention: tdlib MessageEntity.cpp, `match_mentions`. */
const mention = /(?<![\p{L}\p{N}_])@[A-Za-z0-9_]{2,32}(?![\p{L}\p{N}_])/gu;

test(`R84: whatever the Markdown, Telegram takes it as it is (seed ${seed})`, { timeout: 120_000 }, async (t) => {
  const telegram = await startTelegramEmulator({ token });
  t.after(() => telegram.close());
  const { adapter } = createHarness(t, { url: telegram.url });
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  const random = createRandom(seed);
  for (let round = 0; round < 250; round++) {
    const document = round % 4 === 0 ? { markdown: randomNoise(random), words: [], code: [] } : randomDocument(random);
    const context = `seed ${seed}, round ${round}: ${JSON.stringify(document.markdown)}`;
    for (const part of splitMarkdown(document.markdown, adapter.limits.textLength, measure)) {
      const made = render(part);
      if (made.text === '') continue;
      const { ref } = await adapter.send(message(placeOf(chat), part), new AbortController().signal);
      const seen = telegram.message({ message_id: Number(ref), chat });
      // Telegram itself makes a space of every tab, in code too.
      assert.equal(seen?.text, made.text.replaceAll('\t', ' '), context);
      assert.deepEqual(coverage(seen.entities), coverage(made.entities), context);
      assert.ok(isNested(made.entities), context);
      // The emulator takes é for no letter; Telegram sees no mention behind one.
      const pings = seen.detected.filter(
        ({ type, offset }) => type === 'mention' && !/\p{L}$/u.test(made.text.slice(0, offset)),
      );
      assert.deepEqual(pings, [], context);
      const code = made.entities.filter(({ type }) => type === 'code' || type === 'pre');
      for (const { index } of made.text.matchAll(mention))
        assert.ok(
          code.some(({ offset, length }) => offset <= index && index < offset + length) ||
            /https?:\/\/\S+$/.test(made.text.slice(0, index)),
          `a mention in ${context}`,
        );
    }
    const whole = render(document.markdown).text;
    let from = 0;
    for (const word of document.words) {
      const at = whole.indexOf(word, from);
      assert.ok(at >= 0, `${word} is lost, ${context}`);
      from = at + word.length;
    }
    for (const code of document.code) assert.ok(whole.includes(code.trimEnd()), `code is lost, ${context}`);
  }
  // Equal styles that touch are one to Telegram, which may then have to split it where another range ends.
  assert.deepEqual(
    telegram.warnings.filter((warning) => !warning.includes('was split')),
    [],
  );
  assert.equal(telegram.calls.filter(({ status }) => status !== 200).length, 0);
});

/** Which styles every UTF-16 unit has: equal however ranges are merged or cut. */
function coverage(entities: readonly { type: string; offset: number; length: number }[]): string[] {
  const units = new Set<string>();
  for (const { type, offset, length } of entities)
    for (let unit = offset; unit < offset + length; unit++) units.add(`${type} ${unit}`);
  return [...units].sort();
}

/** Of any two ranges, one holds the other or they do not meet. */
function isNested(entities: readonly { offset: number; length: number }[]): boolean {
  return entities.every((a) =>
    entities.every((b) => {
      const crosses =
        a.offset < b.offset && b.offset < a.offset + a.length && a.offset + a.length < b.offset + b.length;
      return !crosses;
    }),
  );
}
