/** Texts, entities, markup and keyboards: limits and error texts, asked by the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Api, InputFile } from 'grammy';
import { type Chat, startTelegramEmulator, type TelegramEmulator } from './index.ts';
import { refused } from './refused.ts';

let emulator: TelegramEmulator;
let api: Api;
let chat: Chat;

before(async () => {
  emulator = await startTelegramEmulator();
  api = new Api(emulator.token, { apiRoot: emulator.url });
  chat = emulator.privateChat(emulator.user({ name: 'Alice', username: 'alice' }));
});
after(() => emulator.close());

const button = (data: string) => ({ inline_keyboard: [[{ text: 'Go', callback_data: data }]] });

describe('texts', () => {
  test('4096 code points pass and 4097 do not, whatever their UTF-16 length', async () => {
    const sent = await api.sendMessage(chat.id, '😀'.repeat(4096));
    assert.equal(sent.text?.length, 8192);
    await refused(api.sendMessage(chat.id, 'a'.repeat(4097)), 400, 'Bad Request: message is too long');
  });

  test('the limit counts after parsing', async () => {
    const sent = await api.sendMessage(chat.id, `<b>${'a'.repeat(4096)}</b>`, { parse_mode: 'HTML' });
    assert.equal(sent.text?.length, 4096);
  });

  test('more than 32,768 raw bytes are refused before anything else', async () => {
    await refused(api.sendMessage(chat.id, 'é'.repeat(16_385)), 400, 'Bad Request: text is too long');
  });

  test('empty and blank texts are refused', async () => {
    await refused(api.sendMessage(chat.id, ''), 400, 'Bad Request: message text is empty');
    await refused(api.sendMessage(chat.id, ' \n '), 400, 'Bad Request: message text is empty');
  });

  test('captions end at 1024', async () => {
    const file = () => new InputFile(Buffer.from('x'), 'x.txt');
    const sent = await api.sendDocument(chat.id, file(), { caption: 'c'.repeat(1024) });
    assert.equal(sent.caption?.length, 1024);
    await refused(
      api.sendDocument(chat.id, file(), { caption: 'c'.repeat(1025) }),
      400,
      'Bad Request: message caption is too long',
    );
  });

  test('texts are trimmed and entities move with them', async () => {
    const entities = [{ type: 'bold' as const, offset: 2, length: 6 }];
    const sent = await api.sendMessage(chat.id, '  bold  ', { entities });
    assert.equal(sent.text, 'bold');
    assert.deepEqual(sent.entities, [{ type: 'bold', offset: 0, length: 4 }]);
  });

  test('a lone surrogate is not UTF-8', async () => {
    await refused(api.sendMessage(chat.id, 'a\ud800'), 400, 'Bad Request: strings must be encoded in UTF-8');
  });
});

describe('entities', () => {
  const send = (text: string, ...entities: [string, number, number][]) =>
    api.sendMessage(chat.id, text, {
      entities: entities.map(([type, offset, length]) => ({ type: type as 'bold', offset, length })),
    });

  test('must end inside the text, counted in UTF-16 units', async () => {
    assert.deepEqual((await send('😀x', ['bold', 0, 3])).entities, [{ type: 'bold', offset: 0, length: 3 }]);
    await refused(
      send('😀x', ['bold', 0, 4]),
      400,
      'Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 4',
    );
    await refused(
      send('abc', ['bold', 5, 1]),
      400,
      'Bad Request: entity begins after the end of the text at UTF-16 offset 5',
    );
  });

  test('must not cut a surrogate pair', async () => {
    await refused(
      send('a😀b', ['bold', 2, 2]),
      400,
      'Bad Request: entity begins in a middle of a UTF-16 symbol at byte offset 5',
    );
    await refused(
      send('a😀b', ['bold', 0, 2]),
      400,
      'Bad Request: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 5',
    );
  });

  test('may nest; where they cross they are split, and the test is warned', async () => {
    const nested = await send('abcdef', ['bold', 0, 6], ['italic', 1, 3]);
    assert.deepEqual(nested.entities, [
      { type: 'bold', offset: 0, length: 6 },
      { type: 'italic', offset: 1, length: 3 },
    ]);
    const before = emulator.warnings.length;
    const crossing = await send('abcdefghijkl', ['bold', 0, 6], ['italic', 3, 9]);
    assert.deepEqual(crossing.entities, [
      { type: 'bold', offset: 0, length: 6 },
      { type: 'italic', offset: 3, length: 3 },
      { type: 'italic', offset: 6, length: 6 },
    ]);
    assert.deepEqual(emulator.warnings.slice(before), ['italic crosses another entity and was split']);
  });

  test('inside code nothing survives, and the test is warned', async () => {
    const before = emulator.warnings.length;
    const sent = await send('ab code cd', ['bold', 0, 10], ['code', 3, 4]);
    assert.deepEqual(sent.entities, [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'code', offset: 3, length: 4 },
      { type: 'bold', offset: 7, length: 3 },
    ]);
    assert.deepEqual(emulator.warnings.slice(before), ['bold was cut out of code']);
  });

  test('have known types and real links', async () => {
    await refused(
      send('abc', ['sparkle', 0, 1]),
      400,
      "Bad Request: can't parse MessageEntity: Unsupported type specified",
    );
    await refused(
      api.sendMessage(chat.id, 'x', { entities: [{ type: 'text_link', offset: 0, length: 1, url: 'localhost' }] }),
      400,
      "Bad Request: entity URL 'localhost' is invalid: Wrong HTTP URL",
    );
  });

  test('plain mentions, links and commands of the bot are live', async () => {
    const sent = await api.sendMessage(chat.id, '@alice see https://example.org/a. /start');
    assert.deepEqual(sent.entities, [
      { type: 'mention', offset: 0, length: 6 },
      { type: 'url', offset: 11, length: 21 },
      { type: 'bot_command', offset: 34, length: 6 },
    ]);
    const seen = emulator.message(sent);
    assert.deepEqual(seen?.entities, []);
    assert.equal(seen?.detected.length, 3);
  });
});

describe('markup', () => {
  const cases: [string, 'MarkdownV2' | 'HTML', string][] = [
    ['a.b', 'MarkdownV2', "Character '.' is reserved and must be escaped with the preceding '\\'"],
    ['é*bold', 'MarkdownV2', "Can't find end of Bold entity at byte offset 2"],
    ['>*a\nb*', 'MarkdownV2', "Can't find end of Bold entity at byte offset 1"],
    ['[a](https://x.org', 'MarkdownV2', "Can't find end of a URL at byte offset 4"],
    ['é<x>a</x>', 'HTML', 'Unsupported start tag "x" at byte offset 2'],
    ['<b>a', 'HTML', 'Can\'t find end tag corresponding to start tag "b"'],
    ['<b>a</i>', 'HTML', 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'],
    ['a</b>', 'HTML', 'Unexpected end tag at byte offset 1'],
    ['2 < 3', 'HTML', 'Unsupported start tag "" at byte offset 2'],
    ['a <b', 'HTML', 'Unclosed start tag at byte offset 2'],
  ];
  for (const [text, parse_mode, problem] of cases) {
    test(`${parse_mode} ${JSON.stringify(text)} is refused`, async () => {
      await refused(
        api.sendMessage(chat.id, text, { parse_mode }),
        400,
        `Bad Request: can't parse entities: ${problem}`,
      );
    });
  }

  test('good MarkdownV2 and HTML give the same message', async () => {
    const markdown = '*b _i_* `c` [l](example.org) \\!\n>q\n>r\n```js\nx<y```';
    const html =
      '<b>b <i>i</i></b> <code>c</code> <a href="example.org">l</a> !\n' +
      '<blockquote>q\nr\n</blockquote><pre><code class="language-js">x&lt;y</code></pre>';
    const expected = [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 2, length: 1 },
      { type: 'code', offset: 4, length: 1 },
      { type: 'text_link', offset: 6, length: 1, url: 'http://example.org/' },
      { type: 'blockquote', offset: 10, length: 4 },
      { type: 'pre', offset: 14, length: 3, language: 'js' },
    ];
    for (const [text, parse_mode] of [
      [markdown, 'MarkdownV2'],
      [html, 'HTML'],
    ] as const) {
      const sent = await api.sendMessage(chat.id, text, { parse_mode });
      assert.equal(sent.text, 'b i c l !\nq\nr\nx<y');
      assert.deepEqual(sent.entities, expected);
    }
  });
});

describe('keyboards', () => {
  test('callback_data has 1 to 64 bytes', async () => {
    await api.sendMessage(chat.id, 'x', { reply_markup: button('é'.repeat(32)) });
    for (const data of ['', 'a'.repeat(65), 'é'.repeat(33)]) {
      await refused(
        api.sendMessage(chat.id, 'x', { reply_markup: button(data) }),
        400,
        'Bad Request: BUTTON_DATA_INVALID',
      );
    }
  });

  test('100 buttons are enough', async () => {
    const rows = (count: number) => ({
      inline_keyboard: Array.from({ length: count }, (_, index) => [{ text: 'b', callback_data: `${index}` }]),
    });
    await api.sendMessage(chat.id, 'x', { reply_markup: rows(100) });
    await refused(
      api.sendMessage(chat.id, 'x', { reply_markup: rows(101) }),
      400,
      'Bad Request: reply markup is too long',
    );
  });
});
