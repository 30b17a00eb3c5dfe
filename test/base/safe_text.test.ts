import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMarkdown } from '../../src/base/markdown.ts';
import { cleanFileName, cleanName, inCode, literal, visibleText, wellFormed } from '../../src/base/safe_text.ts';

describe('visibleText', () => {
  it('R37: shows controls, direction marks and zero-width characters as escapes', () => {
    assert.equal(
      visibleText('a\u202eb\u200bc\0d\u001be\u2066f\ufeffg'),
      'a\\u202eb\\u200bc\\u0000d\\u001be\\u2066f\\ufeffg',
    );
    assert.equal(visibleText('\u{e0041}\u00ad\u3164\ud800'), '\\u{e0041}\\u00ad\\u3164\\ud800');
    assert.equal(visibleText('a\nb\tc\r'), 'a\\u000ab\\u0009c\\u000d');
  });

  it('keeps lines where asked', () => assert.equal(visibleText('a\nb\tc\r', { keep: 'lines' }), 'a\nb\tc\\u000d'));

  it('leaves letters of every script alone', () => {
    assert.equal(visibleText('Grüße, São Paulo, 中文, עברית, हिन्दी, 😀'), 'Grüße, São Paulo, 中文, עברית, हिन्दी, 😀');
  });
});

describe('cleanName', () => {
  const cases: [name: string, max: number, clean: string][] = [
    ['  Ada \n\t Lovelace ', 40, 'Ada Lovelace'],
    ['Ada\u202e\u200b\0', 40, 'Ada'],
    ['abcdef', 4, 'abc…'],
    ['👍🏽👍🏽👍🏽', 2, '👍🏽…'],
    ['\u200b\u2060', 9, ''],
    ['a'.repeat(100_000), 3, 'aa…'],
  ];
  for (const [name, max, clean] of cases) {
    it(`makes ${JSON.stringify(name.slice(0, 20))} ${JSON.stringify(clean)}`, () =>
      assert.equal(cleanName(name, max), clean));
  }
});

describe('cleanFileName', () => {
  const cases: [name: string, clean: string][] = [
    ['../../etc/passwd', 'etc_passwd'],
    ['..\\..\\windows\\system.ini', 'windows_system.ini'],
    ['/', 'file'],
    ['...', 'file'],
    ['', 'file'],
    ['.bashrc', 'bashrc'],
    ['a:b*c?"<d>|.txt', 'a_b_c___d__.txt'],
    ['report\u202Efdp.exe', 'reportfdp.exe'],
    ['a\0b\n.txt', 'ab.txt'],
    ['CON.txt', '_CON.txt'],
    ['name. . ', 'name'],
    ['Grüße 中文.pdf', 'Grüße 中文.pdf'],
    [`${'a'.repeat(300)}.tar.gz`, `${'a'.repeat(197)}.gz`],
    [`${'é'.repeat(300)}.txt`, `${'é'.repeat(98)}.txt`],
  ];
  for (const [name, clean] of cases) {
    it(`makes ${JSON.stringify(name.slice(0, 30))} ${JSON.stringify(clean.slice(0, 30))}`, () =>
      assert.equal(cleanFileName(name), clean));
  }
});

describe('wellFormed', () => {
  it('replaces lone surrogates and NUL, and nothing else', () => {
    assert.equal(wellFormed('a\ud800b\udc00c\0d😀\u0001'), 'a\ufffdb\ufffdc\ufffdd😀\u0001');
  });
});

describe('literal and inCode', () => {
  const foreign = [
    '**bold** _it_ ~~no~~ `code` | a |',
    '[Ana](https://evil.example) ![x](https://evil.example/p.png)',
    'https://evil.example www.evil.example a@evil.example',
    '# head\n- item\n> quote\n1. one',
    '<b>html</b> &amp; &#42; \\* <https://evil.example>',
    '*',
    '¡hola! (né)',
  ];
  const seen = (text: string) => text.replace(/\s+/g, ' ');

  it('R37: the text of others is shown as it is, whatever marks it holds', () => {
    for (const text of foreign)
      assert.deepEqual(parseMarkdown(`You are ${literal(text)}, yes`), [
        { type: 'paragraph', children: [{ type: 'text', text: `You are ${seen(text)}, yes` }] },
      ]);
  });

  it('R37: and so within bold, and at the start of a line', () => {
    for (const text of foreign)
      assert.deepEqual(parseMarkdown(`**${literal(text)}**, yes`), [
        {
          type: 'paragraph',
          children: [
            { type: 'strong', children: [{ type: 'text', text: seen(text) }] },
            { type: 'text', text: ', yes' },
          ],
        },
      ]);
  });

  it('R37: nothing between backticks ends them', () => {
    assert.deepEqual(parseMarkdown(`\`${inCode('tg:a` **b**\n`c')}\`.`), [
      {
        type: 'paragraph',
        children: [
          { type: 'code', text: "tg:a' **b** 'c" },
          { type: 'text', text: '.' },
        ],
      },
    ]);
  });
});
