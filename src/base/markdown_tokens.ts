/**
 * Markdown as tokens of markdown-it (CommonMark, GitHub's tables, `~~strikes~~` and bare addresses), set up so that no
 * word of the source is lost: raw HTML is text, and what the library would drop is kept here.
 *
 * 2026-11-30: markdown-it 15 and no other. Of 179 hostile sources of 40,000 characters it needs 0.2 s for the worst;
 * marked 18 takes the process down on 150 lines of `-` and `>` in turn, mdast 47 s for 80 KB of `*a_ `.
 */
import MarkdownIt, { type Token } from 'markdown-it';
import { bareUrlAt, safeHref } from './markdown_links.ts';

export type { Token } from 'markdown-it';

/** Levels of the library's nesting: a quote takes one, a list two. Deeper marks are text. */
const levelsMax = 40;
/** The library drops what is nested deeper than its own bound, so it must never be reached by blocks. */
const nestingMax = levelsMax + 10;

const library = new MarkdownIt({ html: false, linkify: true, maxNesting: nestingMax });
type CoreState = InstanceType<typeof library.core.State>;

/** While blocks are read: only addresses that may be links define anything. `[Anna]: hello` is something Anna said. */
let defining = false;

/** An address that may not be a link is empty: the link is left out later, its words stay. */
library.normalizeLink = (href) => safeHref(href) ?? '';
library.normalizeLinkText = (text) => text;
library.validateLink = (href) => !defining || href !== '';

library.linkify.add('ftp:', null).add('//', null);
for (const schema of ['http:', 'https:', 'www.']) {
  library.linkify.add(schema, {
    validate: (text, end) => Math.max(0, (bareUrlAt(text, end - schema.length)?.length ?? 0) - schema.length),
    normalize: (match) => {
      if (schema === 'www.') match.url = `http://${match.url}`;
    },
  });
}

library.core.ruler.before('block', 'define', () => {
  defining = true;
});
library.core.ruler.at('strip_references', (state) => {
  defining = false;
  keepWords(state);
});

library.block.ruler.before('table', 'depth', (state, startLine, endLine) => {
  if (state.level < levelsMax) return false;
  let next = startLine + 1;
  while (next < endLine && !state.isEmpty(next) && (state.sCount[next] ?? 0) >= state.blkIndent) next++;
  state.line = next;
  const text = state.getLines(startLine, next, state.blkIndent, false);
  state.tokens.push(...paragraphOf(state, text, [startLine, next]));
  return true;
});

/**
 * The tokens of a document. Of our own are `meta.checked` of a `list_item_open` that is a task, and `meta.definition`,
 * the label, of a `paragraph_open` that shows a link definition.
 */
export function readTokens(source: string): Token[] {
  return library.parse(source, {});
}

/** Resolves backslash escapes and character references, as in the language of code. */
export const unescapeMarkdown = library.utils.unescapeAll;

/** Marks tasks, shows link definitions, and gives the last cell of a row what has no column. */
function keepWords(state: CoreState): void {
  const lines = state.src.split('\n');
  const tokens: Token[] = [];
  let row = { line: '', columns: 0, last: undefined as Token | undefined };
  for (const [index, token] of state.tokens.entries()) {
    if (token.type === 'reference_definition') {
      tokens.push(...definitionParagraph(state, token, lines));
      continue;
    }
    if (token.type === 'list_item_open') markTask(token, state.tokens.slice(index + 1, index + 3));
    else if (token.type === 'tr_open') row = { line: lines[token.map?.[0] ?? 0] ?? '', columns: 0, last: undefined };
    else if (token.type === 'td_open') row = { ...row, columns: row.columns + 1, last: state.tokens[index + 1] };
    else if (token.type === 'tr_close' && row.last) row.last.content += surplusCells(row.line, row.columns);
    tokens.push(token);
  }
  state.tokens = tokens;
}

function markTask(item: Token, [block, words]: readonly Token[]): void {
  const box = block?.type === 'paragraph_open' ? /^\[([ xX])\][ \t\n]+(?=\S)/.exec(words?.content ?? '') : null;
  if (!words || !box) return;
  words.content = words.content.slice(box[0].length);
  item.meta = { checked: box[1] !== ' ' };
}

/** Cells are parted at each pipe without a backslash, as the library does; only quotes and spaces precede a row. */
function surplusCells(line: string, columns: number): string {
  const cells = line.trimEnd().split(/(?<!\\)\|/);
  if (/^[\s>]*$/.test(cells[0] ?? '')) cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells
    .slice(columns)
    .map((cell) => ` | ${cell.trim().replaceAll('\\|', '|')}`)
    .join('');
}

function definitionParagraph(state: CoreState, definition: Token, lines: readonly string[]): Token[] {
  const map = definition.map ?? [0, 0];
  const [first = '', ...rest] = lines.slice(...map);
  // Nothing before the definition but marks of quotes and lists; escaped, so that it does not refer to itself.
  const text = [`\\${first.slice(first.indexOf('['))}`, ...rest.map((line) => line.replace(/^[\s>]*/, ''))].join('\n');
  const [open, ...others] = paragraphOf(state, text, map);
  open.meta = { definition: definition.meta?.label };
  return [open, ...others];
}

function paragraphOf(state: Pick<CoreState, 'Token'>, text: string, map: [number, number]): [Token, Token, Token] {
  const [open, inline, close] = [
    new state.Token('paragraph_open', 'p', 1),
    new state.Token('inline', '', 0),
    new state.Token('paragraph_close', 'p', -1),
  ];
  Object.assign(inline, { content: text.trim(), children: [], map });
  return [open, inline, close];
}
