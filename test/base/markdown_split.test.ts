import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Block, type Inline, parseMarkdown } from '../../src/base/markdown.ts';
import { renderMarkdown } from '../../src/base/markdown_render.ts';
import { splitMarkdown } from '../../src/base/markdown_split.ts';
import { toPlainText } from '../../src/base/markdown_text.ts';
import { createRandom } from '../support/random.ts';
import { randomBlocks, seedsFrom } from './markdown_random.ts';

const characters = (markdown: string) => markdown.trim().length;
const visible = (markdown: string) => toPlainText(parseMarkdown(markdown)).trim().length;

describe('splitMarkdown', () => {
  const cases: [name: string, limit: number, source: string, parts: string[]][] = [
    [
      'cuts before a link that stands in a word',
      30,
      'aaaaaaaaaaaa[a link](http://h.i/)',
      ['aaaaaaaaaaaa', '[a link](http://h.i/)'],
    ],
    [
      'goes on numbering after an item that it cut',
      16,
      '3. aaaa bbbb cccc dddd eeee\n4. z',
      ['3. aaaa bbbb', 'cccc dddd eeee', '4. z'],
    ],
    ['returns a source that fits as it is', 20, ' *a* &amp; b\n', [' *a* &amp; b\n']],
    ['returns nothing for white space', 20, ' \n\t\n', []],
    ['cuts between paragraphs', 16, 'one two\n\nthree four\n\nfive', ['one two', 'three four\n\nfive']],
    [
      'cuts after a sentence before it cuts after a word',
      20,
      'One two three. Four five six.',
      ['One two three.', 'Four five six.'],
    ],
    ['cuts after a word', 16, 'one two three four five', ['one two three', 'four five']],
    ['cuts a word that is too long', 16, 'a'.repeat(40), ['a'.repeat(16), 'a'.repeat(16), 'a'.repeat(8)]],
    ['keeps bold on both sides', 20, '**one two three four**', ['**one two three**', '**four**']],
    [
      'keeps a link whole',
      30,
      'some words before [a link](http://h.i/) after',
      ['some words before', '[a link](http://h.i/) after'],
    ],
    [
      'cuts a link that no part can hold',
      28,
      '[one two three four](http://h.i/)',
      ['[one two three](http://h.i/)', '[four](http://h.i/)'],
    ],
    [
      'closes and opens a fence again',
      24,
      '```js\none();\ntwo();\nthree();\n```',
      ['```js\none();\ntwo();\n```', '```js\nthree();\n```'],
    ],
    ['goes on numbering', 16, '7. one\n8. two\n9. three\n10. four', ['7. one\n8. two', '9. three', '10. four']],
    [
      'repeats the header of a table',
      36,
      '| a | b |\n|-|-|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |',
      [
        '| a | b |\n| --- | --- |\n| 1 | 2 |',
        '| a | b |\n| --- | --- |\n| 3 | 4 |',
        '| a | b |\n| --- | --- |\n| 5 | 6 |',
      ],
    ],
    [
      'keeps a heading with what follows',
      24,
      'some words here\n\n# Head\n\nand more',
      ['some words here', '# Head\n\nand more'],
    ],
    ['quotes both sides', 16, '> one two three four', ['> one two three', '> four']],
    ['cuts between characters as people see them', 16, '👍🏽'.repeat(5), ['👍🏽'.repeat(4), '👍🏽']],
  ];
  for (const [name, limit, source, parts] of cases) {
    it(`R84: ${name}`, () => assert.deepEqual(splitMarkdown(source, limit, characters), parts));
  }

  it('measures what the platform shows, not what the source has', () => {
    const source = 'a [b](http://a-long-address.example.org/) c';
    assert.deepEqual(
      splitMarkdown(source, 16, () => 5),
      [source],
    );
    assert.deepEqual(
      splitMarkdown('<!-- nothing to see -->', 16, () => 0),
      [],
    );
  });

  it('asks again about a piece that it ended earlier', () => {
    const measure = (markdown: string) => characters(markdown) + (markdown.endsWith('three') ? 100 : 0);
    assert.deepEqual(splitMarkdown('one two three four five', 16, measure), ['one two', 'three four five']);
  });

  it('makes progress under a limit that nothing fits', () => {
    assert.deepEqual(
      splitMarkdown('ab\n\n- c', 1, (markdown) => 2 + characters(markdown)),
      ['a', 'b', 'c'],
    );
  });

  it('R84: parts fit and hold every word once and in order, for documents and limits of every kind', () => {
    let compared = 0;
    for (const seed of seedsFrom(300)) {
      const random = createRandom(seed);
      const blocks = randomBlocks(random, seed % 4);
      const source = renderMarkdown(blocks);
      const limit = random.pick([16, 20, 40, 100, 300, 1_000]);
      const measure = random.pick([characters, visible]);
      const parts = splitMarkdown(source, limit, measure);
      for (const part of parts) {
        const length = measure(part);
        assert.ok(
          length > 0 && length <= limit,
          `GATEHOUSE_SEED=${seed}: ${length} of ${limit}\n${part}\n---\n${source}`,
        );
      }
      // Below, links become words and headers of tables are repeated.
      if (limit < 100 || JSON.stringify(blocks).includes('"table"')) continue;
      compared++;
      assert.equal(wordsOf(parts.flatMap(parseMarkdown)), wordsOf(blocks), `GATEHOUSE_SEED=${seed}\n${source}`);
    }
    assert.ok(compared > 50 || process.env.GATEHOUSE_SEED !== undefined, `${compared} documents compared`);
  });

  it('R84: the lines of a long code block, put together, are the source byte for byte', () => {
    for (const seed of seedsFrom(60)) {
      const random = createRandom(seed);
      const lines = random.times(400, () =>
        random.pick(['x = 1;', '', '\ttab\t', '  a  ', '```', '~~~', '> q', '# h', '👍🏽é', '\\']),
      );
      const code = [...lines, 'end'].join('\n');
      const parts = splitMarkdown(`Before.\n\n\`\`\`\`js\n${code}\n\`\`\`\`\n\nAfter.`, 200, visible);
      const codes = parts.flatMap(parseMarkdown).filter((block) => block.type === 'code');
      assert.equal(codes.map((block) => block.text).join('\n'), code, `GATEHOUSE_SEED=${seed}`);
      assert.ok(codes.every((block) => block.language === 'js'));
    }
  });

  const long: Record<string, string> = {
    prose: 'The quick **brown** fox jumps over `the` lazy [dog](https://example.org/dog).\n\nAnd so on. ',
    'one word': 'a',
    'one paragraph': 'word ',
    'one code block': '    x = 1;\n',
    'one list': '- item **x**\n',
    'one quote': '> line\n',
  };
  for (const [name, unit] of Object.entries(long)) {
    it(`R84: 100,000 characters of ${name} cost measurements in proportion to the parts`, () => {
      const source = unit.repeat(100_000 / unit.length);
      let measured = 0;
      const parts = splitMarkdown(source, 4_096, (markdown) => {
        measured += markdown.length;
        return visible(markdown);
      });
      assert.ok(parts.length >= 10, `${parts.length} parts`);
      assert.ok(measured <= 10 * source.length, `${measured / source.length} times the source`);
    });
  }
});

/** Letters and marks in order, without white space. */
function wordsOf(blocks: readonly Block[]): string {
  const inlines = (row: readonly Inline[]): string =>
    row
      .map((inline) =>
        'children' in inline
          ? inlines(inline.children)
          : 'text' in inline
            ? inline.text
            : 'alt' in inline
              ? inline.alt
              : '',
      )
      .join('');
  const each = (block: Block): string => {
    if (block.type === 'list')
      return block.items
        .flatMap((item) => item.children)
        .map(each)
        .join('');
    if (block.type === 'quote') return block.children.map(each).join('');
    if (block.type === 'code') return block.text;
    return 'children' in block ? inlines(block.children) : '';
  };
  return blocks.map(each).join('').replace(/\s+/g, '');
}
