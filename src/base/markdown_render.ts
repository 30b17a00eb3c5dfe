/**
 * The tree as Markdown again. `parseMarkdown(renderMarkdown(blocks))` equals `blocks` for every tree in normal form,
 * with this parser and, because only CommonMark's own means are used, with others.
 */
import type { Block, Inline, ListItem, Table } from './markdown.ts';
import { absoluteAddress, emailAddress } from './markdown_links.ts';

const letter = /[^\s\p{P}\p{S}]/u;
const mark = { strong: '**', emphasis: '_', strike: '~~' } as const;

export function renderMarkdown(blocks: readonly Block[]): string {
  return renderBlocks(blocks).join('\n\n');
}

/** One text per block. Lists side by side get different bullets, or they would be one list. */
function renderBlocks(blocks: readonly Block[]): string[] {
  let other = false;
  return blocks.map((block, index) => {
    const before = blocks[index - 1];
    other = block.type === 'list' && before?.type === 'list' && before.ordered === block.ordered && !other;
    return renderBlock(block, other);
  });
}

function renderBlock(block: Block, otherBullet: boolean): string {
  switch (block.type) {
    case 'paragraph':
      return renderInlines(block.children, { inLink: false });
    case 'heading':
      return `${'#'.repeat(block.level)} ${renderLine(block.children).replace(/#$/, '\\#')}`;
    case 'code':
      return renderCode(block.language, block.text);
    case 'quote':
      return indentLines(renderMarkdown(block.children), '> ', '> ');
    case 'list':
      return block.items
        .map((item, index) => {
          const bullet = block.ordered
            ? `${ordinal(block.start, index)}${otherBullet ? ')' : '.'}`
            : otherBullet
              ? '*'
              : '-';
          return renderItem(item, `${bullet} `);
        })
        .join('\n');
    case 'table':
      return renderTable(block);
    case 'rule':
      // Not `---`: after a bullet it would be a rule of its own.
      return '___';
  }
}

/** Readers take at most nine digits; only the first number of a list counts. */
function ordinal(start: number, index: number): number {
  return Math.min(start + index, 999_999_999);
}

function renderItem(item: ListItem, bullet: string): string {
  const texts = renderBlocks(item.children);
  let body = item.checked === null ? '' : item.checked ? '[x] ' : '[ ] ';
  for (const [index, text] of texts.entries()) {
    const [block, before] = [item.children[index], item.children[index - 1]];
    const follows = block?.type === 'list' && before?.type === 'paragraph' && canFollow(block);
    body += (index === 0 ? '' : follows ? '\n' : '\n\n') + text;
  }
  // An item may not begin with a blank line or with white space that belongs to its content.
  return body === '' ? bullet.trimEnd() : indentLines(body, bullet, ' '.repeat(bullet.length));
}

/** Whether a list may come right after a line of text: it begins with words, and with 1 where it has numbers. */
function canFollow(list: Block & { type: 'list' }): boolean {
  return (!list.ordered || list.start === 1) && (list.items[0]?.children.length ?? 0) > 0;
}

function indentLines(text: string, first: string, rest: string): string {
  return text
    .split('\n')
    .map((line, index) => (line === '' ? (index === 0 ? first : rest).trimEnd() : (index === 0 ? first : rest) + line))
    .join('\n');
}

function renderCode(language: string | null, text: string): string {
  let length = 3;
  for (const run of text.matchAll(/`{3,}/g)) length = Math.max(length, run[0].length + 1);
  const fence = '`'.repeat(length);
  return `${fence}${language === null ? '' : language.replaceAll('_', '\\_')}\n${text === '' ? '' : `${text}\n`}${fence}`;
}

function renderTable(table: Table): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cells = (inlines: readonly Inline[][]) => inlines.map((cell) => renderLine(cell).replaceAll('|', '\\|'));
  const aligns = table.align.map((align) => {
    return align === 'center' ? ':-:' : align === 'left' ? ':--' : align === 'right' ? '--:' : '---';
  });
  return [row(cells(table.header)), row(aligns), ...table.rows.map((each) => row(cells(each)))].join('\n');
}

function renderLine(inlines: readonly Inline[]): string {
  return renderInlines(inlines, { inLink: false }, false).replace(/\\?\n/g, ' ');
}

function renderInlines(inlines: readonly Inline[], context: { inLink: boolean }, lineStart = true): string {
  const out: string[] = [];
  /** The end of emphasis is only read as one before punctuation or space. */
  let escapeFirst = false;
  for (const [index, inline] of inlines.entries()) {
    if (inline.type === 'text') {
      const next = inlines[index + 1];
      const text = escapeText(
        inline.text,
        context.inLink,
        index === 0 ? lineStart : inlines[index - 1]?.type === 'break',
      );
      const bang = text.endsWith('!') && (next?.type === 'link' || next?.type === 'image');
      out.push((escapeFirst ? escapeFirstLetter(text) : text).replace(/!$/, bang ? '\\!' : '!'));
      escapeFirst = false;
      continue;
    }
    escapeFirst = false;
    if (inline.type === 'code') out.push(renderCodeSpan(inline.text));
    else if (inline.type === 'break') out.push('\\\n');
    else if (inline.type === 'image') out.push(`![${escapeText(inline.alt, true, false)}](${renderHref(inline.href)})`);
    else if (inline.type === 'link') out.push(renderLink(inline));
    else {
      const words = renderInlines(inline.children, context, false);
      const delimiter = mark[inline.type];
      const underscore = inline.type === 'emphasis';
      if (underscore || !letter.test(firstCharacter(words))) out.push(escapeLastLetter(out.pop() ?? ''));
      escapeFirst = underscore || !letter.test(lastCharacter(words));
      out.push(delimiter + words + delimiter);
    }
  }
  return out.join('');
}

function renderLink(link: Inline & { type: 'link' }): string {
  const only = link.children.length === 1 ? link.children[0] : undefined;
  const text = only?.type === 'text' ? only.text : '';
  const plainEmail = link.href === `mailto:${text}` && emailAddress.test(text);
  if (plainEmail || (link.href === text && absoluteAddress.test(text))) return `<${text}>`;
  return `[${renderInlines(link.children, { inLink: true }, false)}](${renderHref(link.href)})`;
}

function renderHref(href: string): string {
  const escaped = escapeReferences(href);
  return /[()]/.test(href) ? `<${escaped}>` : escaped;
}

function renderCodeSpan(text: string): string {
  const runs = new Set([...text.matchAll(/`+/g)].map((run) => run[0].length));
  let length = 1;
  while (runs.has(length)) length++;
  const padded = /^`|`$|^ .*[^ ].* $/.test(text);
  const fence = '`'.repeat(length);
  return padded ? `${fence} ${text} ${fence}` : fence + text + fence;
}

/** Text as text: nothing in it is read as markup, and addresses in it do not become links by themselves. */
function escapeText(text: string, inLink: boolean, lineStart: boolean): string {
  const escaped = escapeReferences(text.replace(/[\\`*[<~]/g, '\\$&'))
    .replace(/(?<![^\s\p{P}\p{S}])_|_(?![^\s\p{P}\p{S}])/gu, '\\_')
    .replace(inLink ? /\]/g : /(?!)/, '\\]')
    .replace(/(https?)(?=:\/\/)/gi, '$1\\')
    .replace(/(www)(?=\.)/gi, '$1\\')
    .replace(/(?<=\S)@(?=\S)/g, '\\@');
  return escaped
    .split('\n')
    .map((line, index) => (index > 0 || lineStart ? escapeLineStart(line) : line))
    .join('\n');
}

/** Puts a backslash before every `&` that could be read as a reference. */
function escapeReferences(text: string): string {
  return text.replace(/&(?=(?:#[xX][0-9a-fA-F]{1,6}|#\d{1,7}|[A-Za-z][A-Za-z0-9]{1,31});)/g, '\\&');
}

/** Keeps a line of text from beginning a list, a heading, a quote, a table or an underline. */
function escapeLineStart(line: string): string {
  if (/^(?:>|#{1,6}(?:[ \t]|$)|[-+](?:[ \t]|$)|[-=]+[ \t]*$|[-:|][-:| \t]*$|(?:-[ \t]*){3,}$)/.test(line))
    return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)])(?=[ \t]|$)/, '$1\\$2');
}

/** A letter beside emphasis as a reference; an underscore on its other side is then no longer inside a word. */
function escapeFirstLetter(text: string): string {
  const first = firstCharacter(text);
  if (!letter.test(first)) return text;
  return `&#${first.codePointAt(0)};${text.slice(first.length).replace(/^_/, '\\_')}`;
}

function escapeLastLetter(text: string): string {
  const last = lastCharacter(text);
  if (!letter.test(last)) return text;
  return `${text.slice(0, text.length - last.length).replace(/(?<!\\)_$/, '\\_')}&#${last.codePointAt(0)};`;
}

function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? ' ' : String.fromCodePoint(code);
}

function lastCharacter(text: string): string {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xdc00 && unit <= 0xdfff ? text.slice(-2) : text.slice(-1) || ' ';
}
