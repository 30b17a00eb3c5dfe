/**
 * The one form a row of inlines has, so that equal words give equal trees: no empty nodes, no two texts side by side,
 * no emphasis inside emphasis of its kind, no link inside a link, no white space at the edges of marked words or
 * around line breaks.
 */
import type { Inline } from './markdown.ts';

type Marked = Extract<Inline, { children: Inline[] }>;

/** Normal form of the whole content of a block; white space and breaks at both ends are dropped. */
export function normalizeInlines(inlines: readonly Inline[]): Inline[] {
  const { middle } = hoistEdges(normalizeRow(inlines, new Set()));
  return middle;
}

/** Normal form for places that hold one line: headings and table cells. */
export function normalizeLine(inlines: readonly Inline[]): Inline[] {
  return normalizeInlines(inlines.map(toLine));
}

/** The words alone. */
export function plainWords(inlines: readonly Inline[]): string {
  let words = '';
  for (const inline of inlines) {
    if ('children' in inline) words += plainWords(inline.children);
    else if (inline.type === 'image') words += inline.alt;
    else words += inline.type === 'break' ? '\n' : inline.text;
  }
  return words;
}

function toLine(inline: Inline): Inline {
  if (inline.type === 'break') return { type: 'text', text: ' ' };
  if (inline.type === 'text') return { type: 'text', text: inline.text.replace(/[\r\n]/g, ' ') };
  return 'children' in inline ? { ...inline, children: inline.children.map(toLine) } : inline;
}

function normalizeRow(inlines: readonly Inline[], around: ReadonlySet<Inline['type']>): Inline[] {
  const row: Inline[] = [];
  for (const inline of inlines) {
    if (!('children' in inline)) append(row, inline);
    else if (around.has(inline.type)) for (const child of normalizeRow(inline.children, around)) append(row, child);
    else {
      const { before, middle, after } = hoistEdges(normalizeRow(inline.children, new Set([...around, inline.type])));
      for (const edge of before) append(row, edge);
      if (middle.length > 0) append(row, { ...inline, children: middle });
      else if (inline.type === 'link') append(row, { ...inline, children: [{ type: 'text', text: inline.href }] });
      for (const edge of after) append(row, edge);
    }
  }
  return tidyLines(row);
}

/** Adds a node to a row, melting it into the last one where both are of one kind. */
function append(row: Inline[], inline: Inline): void {
  const last = row.at(-1);
  if ((inline.type === 'text' || inline.type === 'code') && inline.text === '') return;
  if (last?.type === 'text' && inline.type === 'text') {
    row[row.length - 1] = { type: 'text', text: last.text + inline.text };
  } else if (last?.type === 'code' && inline.type === 'code') {
    row[row.length - 1] = { type: 'code', text: last.text + inline.text };
  } else if (last && last.type === inline.type && isEmphasis(last) && isEmphasis(inline)) {
    const children = [...last.children];
    for (const child of inline.children) append(children, child);
    row[row.length - 1] = { ...last, children: tidyLines(children) };
  } else row.push(inline);
}

function isEmphasis(inline: Inline): inline is Exclude<Marked, { type: 'link' }> {
  return inline.type === 'strong' || inline.type === 'emphasis' || inline.type === 'strike';
}

/** Parts white space and breaks at both ends from the words between them. */
function hoistEdges(row: readonly Inline[]): { before: Inline[]; middle: Inline[]; after: Inline[] } {
  let start = 0;
  let end = row.length;
  const before: Inline[] = [];
  const after: Inline[] = [];
  let first: Inline | null = null;
  for (; start < end; start++) {
    const inline = row[start];
    if (inline?.type === 'break') before.push(inline);
    else if (inline?.type === 'text') {
      const text = inline.text.trimStart();
      before.push({ type: 'text', text: inline.text.slice(0, inline.text.length - text.length) });
      if (text === '') continue;
      first = { type: 'text', text };
      break;
    } else break;
  }
  const middle = row.slice(start, end);
  if (first) middle[0] = first;
  for (end = middle.length; end > 0; end--) {
    const inline = middle[end - 1];
    if (inline?.type === 'break') after.unshift(inline);
    else if (inline?.type === 'text') {
      const text = inline.text.trimEnd();
      after.unshift({ type: 'text', text: inline.text.slice(text.length) });
      if (text === '') continue;
      middle[end - 1] = { type: 'text', text };
      break;
    } else break;
  }
  middle.length = end;
  return { before, middle, after };
}

/** Drops white space around line ends, and line ends beside breaks. */
function tidyLines(row: Inline[]): Inline[] {
  const tidy: Inline[] = [];
  for (const [index, inline] of row.entries()) {
    if (inline.type !== 'text') {
      tidy.push(inline);
      continue;
    }
    let text = /[\r\n]/.test(inline.text) ? tidyText(inline.text) : inline.text;
    if (row[index - 1]?.type === 'break') text = text.trimStart();
    if (row[index + 1]?.type === 'break') text = text.trimEnd();
    if (text !== '') tidy.push({ type: 'text', text });
  }
  return tidy;
}

function tidyText(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  return lines
    .map((line, index) => {
      const start = index > 0 ? line.trimStart() : line;
      return index < lines.length - 1 ? start.trimEnd() : start;
    })
    .filter((line, index) => line !== '' || index === 0 || index === lines.length - 1)
    .join('\n');
}
