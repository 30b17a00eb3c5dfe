import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/base/limits.ts';
import { type Block, type Inline, parseMarkdown } from '../../src/base/markdown.ts';

const text = (words: string): Inline => ({ type: 'text', text: words });
const paragraph = (...children: Inline[]): Block => ({ type: 'paragraph', children });
const link = (href: string, words = href): Inline => ({ type: 'link', href, children: [text(words)] });

describe('parseMarkdown', () => {
  const inlineCases: [name: string, source: string, children: Inline[]][] = [
    [
      'emphasis of each kind',
      '*a* __b__ ~~c~~',
      [
        { type: 'emphasis', children: [text('a')] },
        text(' '),
        { type: 'strong', children: [text('b')] },
        text(' '),
        { type: 'strike', children: [text('c')] },
      ],
    ],
    [
      'emphasis in emphasis of another kind',
      '***a** b*',
      [{ type: 'emphasis', children: [{ type: 'strong', children: [text('a')] }, text(' b')] }],
    ],
    ['emphasis in emphasis of its kind once', '**a **b** c**', [{ type: 'strong', children: [text('a b c')] }]],
    ['underscores inside words as text', 'snake_case_name and 2 * 3 * 4', [text('snake_case_name and 2 * 3 * 4')]],
    ['unpaired marks and single tildes as text', '**a _b ~c~ ~5', [text('**a _b ~c~ ~5')]],
    ['code, byte for byte but for line ends', '`` a ` *b* \\ &amp; ``', [{ type: 'code', text: 'a ` *b* \\ &amp;' }]],
    ['raw HTML as text', '<b onclick="x">a</b> <!-- c -->', [text('<b onclick="x">a</b> <!-- c -->')]],
    [
      'references as CommonMark does',
      '&amp;&lt;&copy;&#x41;&#66;&#0;&nosuch; &amp',
      [text('&<©AB\ufffd&nosuch; &amp')],
    ],
    ['a reference once', '&amp;amp; &#38;lt;', [text('&amp; &lt;')]],
    ['backslash escapes', '\\*a\\* \\\\ \\q', [text('*a* \\ \\q')]],
    [
      'hard and soft line ends',
      'a  \nb\\\nc\n d ',
      [text('a'), { type: 'break' }, text('b'), { type: 'break' }, text('c\nd')],
    ],
    ['a link with parentheses and a title', '[a](https://h/x_(y)_z "t")', [link('https://h/x_(y)_z', 'a')]],
    [
      'a link to mail and telephone',
      '[a](mailto:a@b.co) [t](TEL:+49)',
      [link('mailto:a@b.co', 'a'), text(' '), link('TEL:+49', 't')],
    ],
    [
      'bare addresses',
      'See https://h.i/a_b(c)., www.h.i! (http://h.i) or a.b@c.de.',
      [
        text('See '),
        link('https://h.i/a_b(c)'),
        text('., '),
        link('http://www.h.i', 'www.h.i'),
        text('! ('),
        link('http://h.i'),
        text(') or '),
        link('mailto:a.b@c.de', 'a.b@c.de'),
        text('.'),
      ],
    ],
    [
      'a bare address in East Asian words, which have no spaces',
      '见https://h.i/x，然后',
      [text('见'), link('https://h.i/x'), text('，然后')],
    ],
    [
      'bare addresses inside emphasis',
      '_https://h.i_ ~~https://j.k/~~',
      [
        { type: 'emphasis', children: [link('https://h.i')] },
        text(' '),
        { type: 'strike', children: [link('https://j.k/')] },
      ],
    ],
    ['names of files and hosts as text', 'README.md, h.com, //h.i', [text('README.md, h.com, //h.i')]],
    ['types in angle brackets as text', 'a<std::string> b', [text('a<std::string> b')]],
    [
      'a bare address after a space and before East Asian punctuation',
      '见 https://h.i/x，然后',
      [text('见 '), link('https://h.i/x'), text('，然后')],
    ],
    [
      'addresses in angle brackets',
      '<https://h.i/*a*> <a@b.co>',
      [link('https://h.i/*a*'), text(' '), link('mailto:a@b.co', 'a@b.co')],
    ],
    [
      'an image, its description without marks',
      '![a *b*](https://h/i.png)',
      [{ type: 'image', href: 'https://h/i.png', alt: 'a b' }],
    ],
    ['no link inside a link', '[a https://h.i b](https://x.y)', [link('https://x.y', 'a https://h.i b')]],
    ['an empty label as its address', '[](https://h.i)', [link('https://h.i')]],
  ];
  for (const [name, source, children] of inlineCases) {
    it(`reads ${name}`, () => assert.deepEqual(parseMarkdown(source), [paragraph(...children)]));
  }

  const refused = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '&#106;avascript:alert(1)',
    'javascript&colon;alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://h/x',
    '//h/x',
    '/x',
    'x.md',
    '#a',
    'http:x',
    'https://',
    'tg://user?id=1',
    '',
  ];
  for (const href of refused) {
    it(`R37: makes no link to ${JSON.stringify(href)}`, () => {
      assert.doesNotMatch(
        JSON.stringify(parseMarkdown(`[a](<${href}>) ![b](<${href}>) <${href}>`)),
        /"(?:link|image)"/,
      );
    });
  }

  it('R37: keeps the words of a refused link', () => {
    assert.deepEqual(parseMarkdown('[*a* b](javascript:x) ![c](x.png)'), [
      paragraph({ type: 'emphasis', children: [text('a')] }, text(' b c')),
    ]);
  });

  it('R37: encodes what could hide in an address', () => {
    assert.deepEqual(parseMarkdown('[a](<https://h/a b"c|d\u202ee>)'), [
      paragraph(link('https://h/a%20b%22c%7Cd%E2%80%AEe', 'a')),
    ]);
  });

  it('R84: keeps code byte for byte: tabs, spaces at line ends, fences inside, blank lines', () => {
    const code = '\tif x:  \n\n  ``` not the end\n   \n\t\ty\t\n';
    assert.deepEqual(parseMarkdown(`\`\`\`\`py title="x"\n${code}\n\`\`\`\``), [
      { type: 'code', language: 'py', text: code },
    ]);
    const inItem = code
      .split('\n')
      .map((line) => (line === '' ? '' : `  ${line}`))
      .join('\n');
    assert.deepEqual(parseMarkdown(`- \`\`\`\`\n${inItem}\n  \`\`\`\``), [
      {
        type: 'list',
        ordered: false,
        start: 1,
        items: [{ checked: null, children: [{ type: 'code', language: null, text: code }] }],
      },
    ]);
  });

  it('R84: replaces only NUL and lone surrogates, and reads every line end as one', () => {
    assert.deepEqual(parseMarkdown('```\r\na\0\ud800\r\nb\rc\n```'), [
      { type: 'code', language: null, text: 'a\ufffd\ufffd\nb\nc' },
    ]);
  });

  it('takes an unfinished fence for code, as in a streamed answer', () => {
    assert.deepEqual(parseMarkdown('a\n```js\nx'), [paragraph(text('a')), { type: 'code', language: 'js', text: 'x' }]);
  });

  it('reads headings, rules, quotes and lists', () => {
    assert.deepEqual(parseMarkdown('# a #\n\nb\n---\n***\n> c\nd\n\n3) e\n   - [x] f\n   - [ ] g\n4) h'), [
      { type: 'heading', level: 1, children: [text('a')] },
      { type: 'heading', level: 2, children: [text('b')] },
      { type: 'rule' },
      { type: 'quote', children: [paragraph(text('c\nd'))] },
      {
        type: 'list',
        ordered: true,
        start: 3,
        items: [
          {
            checked: null,
            children: [
              paragraph(text('e')),
              {
                type: 'list',
                ordered: false,
                start: 1,
                items: [
                  { checked: true, children: [paragraph(text('f'))] },
                  { checked: false, children: [paragraph(text('g'))] },
                ],
              },
            ],
          },
          { checked: null, children: [paragraph(text('h'))] },
        ],
      },
    ]);
  });

  it('reads tables; missing cells are empty, surplus ones keep their words', () => {
    assert.deepEqual(parseMarkdown('a | b\n:-|-:\n`x\\|y`\n1 | 2 | 3'), [
      {
        type: 'table',
        header: [[text('a')], [text('b')]],
        align: ['left', 'right'],
        rows: [
          [[{ type: 'code', text: 'x|y' }], []],
          [[text('1')], [text('2 | 3')]],
        ],
      },
    ]);
  });

  it('resolves link definitions and shows those that nothing uses', () => {
    assert.deepEqual(parseMarkdown('[a][1]\n\n[1]: https://h.i "t"\n[2]: https://j.k'), [
      paragraph(link('https://h.i', 'a')),
      paragraph(text('[2]: '), link('https://j.k')),
    ]);
  });

  it('resolves link definitions over several lines, in quotes, and for images', () => {
    assert.deepEqual(parseMarkdown('> [1]: https://h.i\n> "t"\n\n![a][1]\n\n> [b]:\n> https://j.k'), [
      paragraph({ type: 'image', href: 'https://h.i', alt: 'a' }),
      { type: 'quote', children: [paragraph(text('[b]:\n'), link('https://j.k'))] },
    ]);
  });

  it('takes a name and what was said for words, not for a link definition', () => {
    assert.deepEqual(parseMarkdown('[Anna]: hello\n[Anna] left'), [paragraph(text('[Anna]: hello\n[Anna] left'))]);
  });

  it('R84: shows a source without any words as it is', () => {
    for (const source of ['#', '>', '> \n>']) {
      assert.deepEqual(parseMarkdown(source), [paragraph(text(source.replace(' \n', '\n')))]);
    }
    assert.deepEqual(parseMarkdown(' \n\t\n'), []);
  });

  it('R84: shows what is too long as plain text of the source, a paragraph each', () => {
    const long = 'word '.repeat(limits.answerCharsMax / 5);
    const blocks = parseMarkdown(`*a* &amp;\n\n${long}`);
    assert.equal(blocks.length, 2);
    assert.deepEqual(blocks[0], paragraph(text('*a* &amp;')));
  });

  it('R84: keeps the words of quotes and lists that nest too deep, marks among them', () => {
    for (const mark of ['> ', '- ']) {
      const [block] = parseMarkdown(`${mark.repeat(60)}end\n\nafter`);
      assert.match(JSON.stringify(block), mark === '> ' ? /"text":"(?:> ){20}end"/ : /"text":"(?:- ){40}end"/);
    }
  });

  it('R84: keeps the words of emphasis that nests too deep, without its marks', () => {
    const [block] = parseMarkdown('*a **a '.repeat(10_000) + 'a** a* '.repeat(10_000));
    assert.doesNotMatch(JSON.stringify(block), /[*]/);
  });
});

describe('parseMarkdown on hostile sources', () => {
  const filled = (unit: string, length = 40_000) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
  const stairs = (unit: (level: number) => string, count: number) =>
    Array.from({ length: count }, (_, level) => unit(level)).join('\n');
  const sources: Record<string, string> = {
    '5,000 quote marks': filled('>', 5_000),
    '80 KB of "*a_ "': filled('*a_ ', 80_000),
    '500 nested lists': stairs((level) => `${'  '.repeat(level)}- a`, 500),
    'lists and quotes in each other': stairs((level) => `${'  '.repeat(level)}${level % 2 ? '>' : '-'} a`, 150),
    'bullets and quotes in turn, a line each': filled('-\n>\n', 400),
    'quotes of every depth': stairs((level) => `${'>'.repeat(level)} a`, 300),
    'bullets on one line': filled('- '),
    numbers: filled('1. '),
    'opening brackets': filled('['),
    'opening images': filled('!['),
    'links without an end': filled('[a](', 200_000),
    'links without an end in angles': filled('[a](<b'),
    'links without an end of the title': filled('[a](b "'),
    'emphasis in emphasis': '*a **a '.repeat(3_000) + 'a** a* '.repeat(3_000),
    'every kind of mark': filled('*_'),
    'underscores and letters': filled('_a'),
    'strikes of both lengths': filled('~a~~ '),
    'exclamation marks': filled('!'),
    'backtick runs of every length': stairs((level) => `${'`'.repeat(level)}a`, 280),
    'addresses without an end': filled('<http://a'),
    'at signs': filled('a@'),
    'www again and again': filled('www.'),
    'closing brackets after an address': `https://a.b/${filled(')')}`,
    'a table of pipes': `${filled('|a', 20_000)}\n${filled('|-', 20_000)}\n|a`,
    'short rows of a wide table': `${filled('|a', 13_000)}\n${filled('|-', 13_000)}\n${filled('a\n', 13_000)}`,
    'spaces and a line': `# a${filled(' ')}b`,
    'lazy lines': filled('> - a\nb\n'),
    definitions: filled('[a]: http://b\n'),
  };
  for (const [name, source] of Object.entries(sources)) {
    it(`R84: ${name} take time in proportion and stay shallow`, () => {
      const before = process.cpuUsage();
      const blocks = parseMarkdown(source);
      const spent = process.cpuUsage(before);
      // Some 50 ms when nothing else runs; what is not in proportion to the source takes minutes here.
      assert.ok(spent.user + spent.system < 2_000_000, `${(spent.user + spent.system) / 1000} ms`);
      const json = JSON.stringify(blocks);
      assert.ok(deepest(json) <= 200, `${deepest(json)} levels`);
      assert.ok(json.includes('a') || source.includes('>>') || !source.includes('a'), 'words are kept');
    });
  }
});

function deepest(json: string): number {
  let [level, most] = [0, 0];
  for (const character of json.replace(/"(?:[^"\\]|\\.)*"/g, '')) {
    if (character === '[' || character === '{') level++;
    if (character === ']' || character === '}') level--;
    most = Math.max(most, level);
  }
  return most;
}
