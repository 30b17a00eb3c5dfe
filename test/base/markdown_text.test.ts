import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMarkdown, type Table } from '../../src/base/markdown.ts';
import { tableText, textColumns, toPlainText } from '../../src/base/markdown_text.ts';

const plain = (source: string) => toPlainText(parseMarkdown(source));

describe('toPlainText', () => {
  const cases: [name: string, source: string, text: string][] = [
    ['words without marks', '# A\n\n**b** _c_ ~~d~~ `e`\\\nf', 'A\n\nb c d e\nf'],
    ['links as label and address', '[docs](https://h.i/d)', 'docs (https://h.i/d)'],
    [
      'links whose label is the address once',
      '<https://h.i/d> www.h.i [h.i](https://h.i/) <a@b.co>',
      'https://h.i/d www.h.i h.i a@b.co',
    ],
    [
      'a link with another address in its label with both',
      '[https://bank.example](https://evil.example)',
      'https://bank.example (https://evil.example)',
    ],
    [
      'images as description and address',
      '![a](http://h/i.png) ![](http://h/j.png)',
      'a (http://h/i.png) http://h/j.png',
    ],
    ['lists', '- a\n  - b\n    c\n\n1. d\n2. e', '• a\n  • b\n    c\n\n1. d\n2. e'],
    ['tasks', '- [x] a\n- [ ] b', '☑ a\n☐ b'],
    ['quotes', '> a\n>\n> b', '> a\n>\n> b'],
    ['code as it is', '```js\n\tx  \n```', '\tx  '],
  ];
  for (const [name, source, text] of cases) it(`gives ${name}`, () => assert.equal(plain(source), text));
});

describe('tableText', () => {
  const table = (source: string) => tableText(parseMarkdown(source)[0] as Table);

  it('aligns columns', () => {
    assert.equal(
      table('|Name|Sum|Mid|\n|-|-:|:-:|\n|a|1|x|\n|**long** name|100||'),
      ['Name      | Sum | Mid', '----------+-----+----', 'a         |   1 |  x', 'long name | 100 |'].join('\n'),
    );
  });

  it('counts wide characters as two columns', () => {
    assert.equal(table('|a|b|\n|-|-|\n|中文|x|\n|👍🏽|y|'), 'a    | b\n-----+--\n中文 | x\n👍🏽   | y');
    assert.deepEqual(['é', 'e\u0301', '中', '👨‍👩‍👧', '\u200b', '한', '1️⃣'].map(textColumns), [1, 1, 2, 2, 0, 2, 2]);
  });

  it('goes on below where a cell is wider than 32', () => {
    assert.equal(
      table(`|a|b|\n|-|-|\n|${'word '.repeat(8)}|x|\n|${'y'.repeat(40)}|z|`),
      [
        'a                                | b',
        '---------------------------------+--',
        'word word word word word word    | x',
        'word word                        |',
        'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy | z',
        'yyyyyyyy                         |',
      ].join('\n'),
    );
  });
});
