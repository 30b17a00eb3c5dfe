import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, lineHtml, linesHtml } from '../../../adapters/web/line.ts';
import { createRendering, renderBlocks, renderMarkdown } from '../../../adapters/web/render.ts';
import type { Block } from '../../../src/base/markdown.ts';

const text = (words: string) => ({ type: 'text' as const, text: words });

/** What a block looks like as HTML. */
const cases: [name: string, block: Block, html: string][] = [
  [
    'a paragraph',
    { type: 'paragraph', children: [text('a & b < c > d "e" \'f\'')] },
    '<p>a &amp; b &lt; c &gt; d &quot;e&quot; &#39;f&#39;</p>',
  ],
  [
    'words with weight',
    {
      type: 'paragraph',
      children: [
        { type: 'strong', children: [text('a'), { type: 'emphasis', children: [text('b')] }] },
        { type: 'strike', children: [text('c')] },
        { type: 'break' },
        { type: 'code', text: '<i>' },
      ],
    },
    '<p><strong>a<em>b</em></strong><del>c</del><br><code>&lt;i&gt;</code></p>',
  ],
  ['a heading below those of the page', { type: 'heading', level: 1, children: [text('T')] }, '<h3>T</h3>'],
  ['the smallest heading', { type: 'heading', level: 6, children: [text('T')] }, '<h6>T</h6>'],
  [
    'code byte for byte',
    { type: 'code', language: 'sh"><script>', text: 'a\t<b>  \n&amp;' },
    '<figure class="code"><figcaption><span class="language">sh&quot;&gt;&lt;script&gt;</span><button type="button" class="copy">Copy</button></figcaption><pre tabindex="0"><code>a\t&lt;b&gt;  \n&amp;amp;</code></pre></figure>',
  ],
  [
    'a list that goes on counting',
    {
      type: 'list',
      ordered: true,
      start: 4,
      items: [{ checked: null, children: [{ type: 'paragraph', children: [text('d')] }] }],
    },
    '<ol start="4"><li>d</li></ol>',
  ],
  [
    'a list of tasks',
    {
      type: 'list',
      ordered: false,
      start: 1,
      items: [{ checked: true, children: [{ type: 'paragraph', children: [text('x')] }] }],
    },
    '<ul><li><span class="check" role="img" aria-label="done">☑</span> x</li></ul>',
  ],
  [
    'a table',
    { type: 'table', header: [[text('h')], [text('i')]], align: ['right', null], rows: [[[text('<')], []]] },
    '<div class="table" tabindex="0"><table><thead><tr><th class="right">h</th><th>i</th></tr></thead><tbody><tr><td class="right">&lt;</td><td></td></tr></tbody></table></div>',
  ],
  ['a quote', { type: 'quote', children: [{ type: 'rule' }] }, '<blockquote><hr></blockquote>'],
  [
    'a link that opens apart and tells nothing',
    { type: 'paragraph', children: [{ type: 'link', href: 'https://x.example/?a="b"&c', children: [text('x')] }] },
    '<p><a href="https://x.example/?a=&quot;b&quot;&amp;c" target="_blank" rel="noopener noreferrer">x</a></p>',
  ],
  [
    'an image as a plain link',
    { type: 'paragraph', children: [{ type: 'image', href: 'https://x.example/t.gif', alt: '<alt>' }] },
    '<p><a href="https://x.example/t.gif" target="_blank" rel="noopener noreferrer">&lt;alt&gt;</a></p>',
  ],
];
for (const [name, block, html] of cases) {
  test(`R84: ${name}`, () => assert.equal(renderBlocks([block]), html));
}

test('R37: a scheme that is not for people is never a link, whatever the parser said', () => {
  for (const href of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/chat',
    ' https://x',
    'vbscript:x',
  ]) {
    const html = renderBlocks([{ type: 'paragraph', children: [{ type: 'link', href, children: [text('x')] }] }]);
    assert.equal(html, '<p>x</p>', href);
  }
});

/** Every tag this renderer can write; an attribute value holds no quote and no angle bracket. */
const known =
  /<\/?(?:p|h[3-6]|ul|ol|li|blockquote|table|thead|tbody|tr|strong|em|del|code|figcaption|figure|pre|div|span|button)>|<(?:hr|br)>|<ol start="-?\d+">|<t[hd](?: class="(?:right|center)")?>|<\/t[hd]>|<div class="table" tabindex="0">|<pre tabindex="0">|<figure class="code">|<button type="button" class="copy">|<span class="language">|<span class="check" role="img" aria-label="(?:done|open)">|<a href="(?:https?:\/\/|mailto:|tel:)[^"<>]*" target="_blank" rel="noopener noreferrer">|<\/a>/gi;

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '[x](javascript:alert(1))',
  '[x](JAVASCRIPT&colon;alert(1))',
  '[x](java\nscript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](https://a.example/"onmouseover="alert(1))',
  '[x](https://a.example "title\\" onclick=\\"alert(1)")',
  '![x](https://a.example/x.png"onerror="alert(1))',
  '![<img src=x onerror=alert(1)>](https://a.example)',
  '<https://a.example/"><script>alert(1)</script>>',
  '`<script>alert(1)</script>`',
  '```"><script>\n</code></pre><script>alert(1)</script>\n```',
  '| <script>a</script> |\n|:--|\n| <img src=x onerror=a> |',
  '# <script>a</script>',
  '> <style>*{display:none}</style>',
  '1. <form action=//evil.example><input name=x>',
  '&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;',
  '<!-- --><base href=//evil.example>',
  'a\u0000<scr\u0000ipt>alert(1)</script>',
  `${'> '.repeat(5_000)}<script>`,
  `${'['.repeat(3_000)}<script>${']('.repeat(3_000)}`,
];
for (const [number, source] of hostile.entries()) {
  test(`R37: hostile text ${number} stays text`, () => {
    const rest = renderMarkdown(source).replace(known, '');
    assert.doesNotMatch(rest, /[<>]/);
    assert.doesNotMatch(rest, /["']/);
  });
}

test('R37: a person sees their own words as they wrote them', () => {
  const body = { who: 'me', text: '**a** <b>\n  c', at: 0 };
  const html = lineHtml({ seq: 7, key: 'u:"><script>', body, createdAt: 0 });
  assert.equal(
    html,
    '<article class="line me" data-key="u:&quot;&gt;&lt;script&gt;" data-seq="7" data-at="0"><h2 class="unseen">You</h2><div class="words">**a** &lt;b&gt;\n  c</div><footer><time datetime="1970-01-01T00:00:00.000Z">00:00 UTC</time></footer></article>',
  );
});

test('R18: a command is a message that begins with one', () => {
  assert.deepEqual(commandOf('/new'), { name: 'new', args: '' });
  assert.deepEqual(commandOf(' /Policy set  x\ny '), { name: 'policy', args: 'set  x\ny' });
  for (const words of ['/etc/hosts', '/ new', 'a /new', '//', '/', '/1', '!new'])
    assert.equal(commandOf(words), null, words);
});

test('what was rendered is kept, the least asked for goes first, and the bound holds', () => {
  // 4 characters of markdown and 11 of HTML each.
  const rendering = createRendering(45);
  for (const text of ['aaaa', 'bbbb', 'cccc', 'aaaa', 'dddd']) rendering.render(text);
  assert.equal(rendering.chars(), 45);
  assert.equal(rendering.render('aaaa'), '<p>aaaa</p>');
  assert.equal(rendering.render('x'.repeat(60)), `<p>${'x'.repeat(60)}</p>`);
  assert.equal(rendering.chars(), 45);
});

test('a long text is parsed once, however often the page is loaded', () => {
  const rendering = createRendering();
  const text = '- item *x* with `code`\n'.repeat(2_000);
  const msOf = () => {
    const began = performance.now();
    rendering.render(text);
    return performance.now() - began;
  };
  const first = msOf();
  assert.ok(Math.min(msOf(), msOf(), msOf()) < first / 10);
});

test('others get their turn while a page of many lines is rendered', async () => {
  const order: string[] = [];
  const line = { seq: 1, key: 'k', body: { who: 'bot', text: 'hello', at: 0 }, createdAt: 0 };
  const rendered = linesHtml([line, line]).then((lines) => order.push(`${lines.length} lines`));
  setImmediate(() => order.push('somebody else'));
  await rendered;
  assert.deepEqual(order, ['somebody else', '2 lines']);
});
