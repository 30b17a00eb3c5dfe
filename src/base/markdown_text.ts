/** The tree as plain text, for platforms and places without markup. */
import type { Block, Inline, Table } from './markdown.ts';

const cellColumnsMax = 32;
const bulletText = '•';

/** Readable text without markup. Links are `label (address)`, tables aligned for a monospaced font. */
export function toPlainText(blocks: readonly Block[]): string {
  return blocks.map(blockText).join('\n\n');
}

/** The words of a row of inlines. */
export function inlineText(inlines: readonly Inline[]): string {
  return inlines.map(textOf).join('');
}

/**
 * A table as lines of aligned columns with a rule below the header. A column is at most 32 wide; longer cells go on in
 * the lines below. Wide (East Asian) characters and emoji count as two.
 */
export function tableText(table: Table): string {
  const rows = [table.header, ...table.rows].map((row) =>
    row.map((cell) => wrap(inlineText(cell).replace(/\s+/g, ' '))),
  );
  const widths = table.header.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, widest(row[column] ?? [])), 1),
  );
  const lines = rows.flatMap((row) => {
    const height = row.reduce((most, cell) => Math.max(most, cell.length), 1);
    return Array.from({ length: height }, (_, line) =>
      row
        .map((cell, column) => pad(cell[line] ?? '', widths[column] ?? 1, table.align[column] ?? null))
        .join(' | ')
        .trimEnd(),
    );
  });
  const headerHeight = (rows[0] ?? []).reduce((most, cell) => Math.max(most, cell.length), 1);
  lines.splice(headerHeight, 0, widths.map((width) => '-'.repeat(width)).join('-+-'));
  return lines.join('\n');
}

/** Columns that a text takes in a monospaced font. */
export function textColumns(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += wide.test(segment) ? 2 : zero.test(segment) ? 0 : 1;
  return columns;
}

const graphemes = new Intl.Segmenter();
const wide =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{20000}-\u{3fffd}])/u;
const zero = /^\p{Default_Ignorable_Code_Point}+$/u;

function blockText(block: Block): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return inlineText(block.children);
    case 'code':
      return block.text;
    case 'quote':
      return indent(toPlainText(block.children), '> ', '> ');
    case 'table':
      return tableText(block);
    case 'rule':
      return '———';
    case 'list':
      return block.items
        .map((item, index) => {
          const box = item.checked === null ? null : item.checked ? '☑' : '☐';
          const bullet = block.ordered ? `${block.start + index}.` : (box ?? bulletText);
          const tight = item.children.every((child) => child.type === 'paragraph' || child.type === 'list');
          const body =
            (block.ordered && box ? `${box} ` : '') + item.children.map(blockText).join(tight ? '\n' : '\n\n');
          return indent(body, `${bullet} `, ' '.repeat(bullet.length + 1));
        })
        .join('\n');
  }
}

function textOf(inline: Inline): string {
  switch (inline.type) {
    case 'text':
    case 'code':
      return inline.text;
    case 'break':
      return '\n';
    case 'image':
      return inline.alt === '' ? inline.href : `${inline.alt} (${inline.href})`;
    case 'link': {
      const label = inlineText(inline.children);
      return sameAddress(label, inline.href) ? label : `${label} (${inline.href.replace(/^(?:mailto|tel):/, '')})`;
    }
    default:
      return inlineText(inline.children);
  }
}

function sameAddress(label: string, href: string): boolean {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '').replace(/\/$/, '');
  return bare(label) === bare(href);
}

function indent(text: string, first: string, rest: string): string {
  return text
    .split('\n')
    .map((line, index) => ((index === 0 ? first : rest) + line).trimEnd())
    .join('\n');
}

function widest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, textColumns(line)), 0);
}

function pad(text: string, width: number, align: Table['align'][number]): string {
  const space = Math.max(0, width - textColumns(text));
  const left = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  return ' '.repeat(left) + text + ' '.repeat(space - left);
}

/** Lines of at most `cellColumnsMax` columns, cut between words, in words only where one is longer than a line. */
function wrap(text: string): string[] {
  if (textColumns(text) <= cellColumnsMax) return [text];
  const lines: string[] = [];
  let line = '';
  let columns = 0;
  const flush = () => {
    if (line !== '') lines.push(line.trimEnd());
    line = '';
    columns = 0;
  };
  for (const word of text.split(' ')) {
    const width = textColumns(word);
    if (columns + width > cellColumnsMax) flush();
    for (const { segment } of width > cellColumnsMax ? graphemes.segment(word) : [{ segment: word }]) {
      const added = textColumns(segment);
      if (columns + added > cellColumnsMax) flush();
      line += segment;
      columns += added;
    }
    line += ' ';
    columns++;
  }
  flush();
  return lines;
}
