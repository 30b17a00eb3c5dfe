/** Long answers in parts, cut on the tree (rule 84). */
import { type Block, type Inline, type ListItem, parseMarkdown, type Table } from './markdown.ts';
import { cutCode, cutInlines, largest, unitsUpTo } from './markdown_cut.ts';
import { normalizeInlines } from './markdown_normal.ts';
import { renderMarkdown } from './markdown_render.ts';
import { inlineText } from './markdown_text.ts';

/** What has so many times the words that the part before held will not fit, and is not measured. */
const shrinkMax = 8;

/** A part filled so far ends before a block that would fit the next one whole. */
const fullShare = 1 / 3;

/** Measures blocks as they would stand in the part that is being filled. */
interface Space {
  limit: number;
  /** How many characters of words a part is expected to hold. */
  guess: number;
  size(blocks: readonly Block[]): number;
  /** As `size`, in a part of their own. */
  alone(blocks: readonly Block[]): number;
}

interface Taken {
  head: Block[];
  rest: Block[];
}

/**
 * Parts of `source`, each of at most `limit` as `measure` tells for Markdown (the platform's length of what is rendered;
 * 0 = nothing visible). A source that fits is returned as it is; nothing visible gives no part. Cuts between blocks,
 * then between list items, table rows (the header is repeated), lines of code (the fence is closed and opened again),
 * sentences, words, characters. Always makes progress: under a limit that not even one character fits, a part holds one.
 */
export function splitMarkdown(source: string, limit: number, measure: (markdown: string) => number): string[] {
  if (source.trim() === '') return [];
  const whole = measure(source);
  if (whole <= limit) return whole === 0 ? [] : [source];
  const parts: string[] = [];
  let rest = parseMarkdown(source);
  let guess = limit;
  /** Of the part that is being filled; the same pieces are asked about again and again. */
  const measured = new Map<string, number>();
  const size = (blocks: readonly Block[]): number => {
    if (weightOf(blocks, guess * shrinkMax) > guess * shrinkMax) return Infinity;
    const markdown = renderMarkdown(blocks);
    const length = measured.get(markdown) ?? measure(markdown);
    measured.set(markdown, length);
    return length;
  };
  while (rest.length > 0) {
    const taken = takePart(rest, { limit, guess, size, alone: size });
    const markdown = renderMarkdown(taken.head);
    const length = measured.get(markdown) ?? measure(markdown);
    measured.clear();
    if (length > 0) {
      parts.push(markdown);
      guess = Math.max(1, Math.ceil((limit * weightOf(taken.head, limit * shrinkMax)) / length));
    }
    rest = taken.rest;
  }
  return parts;
}

/** A longer source is cut by lines first: the tree's cost grows faster than the text. */
const wholeCharsMax = 60_000;
const pieceCharsMax = 15_000;
const fenceLine = /^ {0,3}(`{3,}|~{3,})/;

/** Cheap pieces of a very long source, cut between lines, fences closed and opened again; one piece of any other. */
export function roughPieces(source: string): string[] {
  if (source.length <= wholeCharsMax) return [source];
  const pieces: string[] = [];
  let lines: string[] = [];
  let length = 0;
  let fence: { opening: string; mark: string } | null = null;
  for (const line of source.split('\n').flatMap(shortLines)) {
    if (length + line.length > pieceCharsMax && length > 0) {
      pieces.push([...lines, ...(fence ? [fence.mark] : [])].join('\n'));
      lines = fence ? [fence.opening] : [];
      length = 0;
    }
    lines.push(line);
    length += line.length + 1;
    const mark = fenceLine.exec(line)?.[1];
    if (mark && !fence) fence = { opening: line.slice(0, 100), mark };
    else if (mark && fence && mark.startsWith(fence.mark) && line.trim() === mark) fence = null;
  }
  return [...pieces, lines.join('\n')];
}

function shortLines(line: string): string[] {
  if (line.length <= pieceCharsMax) return [line];
  const parts: string[] = [];
  for (let at = 0; at < line.length; ) {
    let end = Math.min(line.length, at + pieceCharsMax);
    if (end < line.length && line.codePointAt(end - 1)! > 0xffff) end -= 1;
    parts.push(line.slice(at, end));
    at = end;
  }
  return parts;
}

function takePart(blocks: readonly Block[], space: Space): Taken {
  let left = blocks;
  for (;;) {
    const taken = takeBlocks(left, space);
    if (taken) return headingsTogether(taken);
    const first = left[0];
    const others = left.slice(1);
    const simpler = first ? simplify(first) : null;
    if (!simpler) return { head: [], rest: others };
    if (first && simpler[0] === first) return forceCharacter(first, others);
    left = [...simpler, ...others];
    if (left.length === 0) return { head: [], rest: [] };
  }
}

/** As many of the blocks as fit, the last one cut where that is right; null when nothing fits. */
function takeBlocks(blocks: readonly Block[], space: Space): Taken | null {
  const { limit, size, alone } = space;
  const guess = countByWeight(blocks, space.guess, (block) => weightOf([block], limit));
  const count = largest(blocks.length, guess, limit, (most) => size(blocks.slice(0, most)));
  const head = blocks.slice(0, count);
  const next = blocks[count];
  if (!next) return { head, rest: [] };
  const between = { head, rest: blocks.slice(count) };
  if (count > 0 && alone([next]) <= limit) {
    const oneThing = next.type === 'code' || next.type === 'table';
    if (oneThing || size(head) >= limit * fullShare) return between;
  }
  const cut = cutBlock(next, { ...space, size: (pieces) => size([...head, ...pieces]) });
  if (cut) return { head: [...head, cut.head], rest: [...cut.rest, ...blocks.slice(count + 1)] };
  return count > 0 ? between : null;
}

function cutBlock(block: Block, space: Space): { head: Block; rest: Block[] } | null {
  const { limit, guess, size } = space;
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const piece = (children: Inline[]): Block => ({ ...block, children });
      const cut = cutInlines(block.children, guess, limit, (children) => size([piece(children)]));
      return cut && { head: piece(cut.first), rest: cut.rest.length > 0 ? [piece(cut.rest)] : [] };
    }
    case 'code': {
      const piece = (text: string): Block => ({ ...block, text });
      const cut = cutCode(block.text, guess, limit, (text) => size([piece(text)]));
      return cut && { head: piece(cut.first), rest: cut.rest.trim() === '' ? [] : [piece(cut.rest)] };
    }
    case 'quote': {
      const piece = (children: Block[]): Block => ({ ...block, children });
      const taken = takeBlocks(block.children, { ...space, size: (children) => size([piece([...children])]) });
      return taken && { head: piece(taken.head), rest: taken.rest.length > 0 ? [piece(taken.rest)] : [] };
    }
    case 'list':
      return cutList(block, space);
    case 'table':
      return cutTable(block, space);
    case 'rule':
      return null;
  }
}

/** Cuts between items. An item that no part can hold is cut itself; what is left of it goes on without its bullet. */
function cutList(list: Block & { type: 'list' }, space: Space): { head: Block; rest: Block[] } | null {
  const { limit, size, alone } = space;
  const piece = (items: ListItem[], from = 0): Block => ({ ...list, start: list.start + from, items });
  const guess = countByWeight(list.items, space.guess, (item) => weightOf(item.children, limit));
  const count = largest(list.items.length, guess, limit, (most) => size([piece(list.items.slice(0, most))]));
  const items = list.items.slice(0, count);
  const next = list.items[count];
  if (!next) return { head: list, rest: [] };
  const after = list.items.slice(count + 1);
  if (alone([piece([next], count)]) > limit) {
    const extended = (children: readonly Block[]) => [...items, { ...next, children: [...children] }];
    const taken = takeBlocks(next.children, { ...space, size: (children) => size([piece(extended(children))]) });
    if (taken) {
      const rest = after.length > 0 ? [...taken.rest, piece(after, count + 1)] : taken.rest;
      return { head: piece(extended(taken.head)), rest };
    }
  }
  return count > 0 ? { head: piece(items), rest: [piece([next, ...after], count)] } : null;
}

function cutTable(table: Table, space: Space): { head: Block; rest: Block[] } | null {
  const { limit, size } = space;
  const weigh = (row: Inline[][]) => weightOf([{ ...table, header: row, rows: [] }], limit);
  const guess = countByWeight(table.rows, space.guess - weigh(table.header), weigh);
  const count = largest(table.rows.length, guess, limit, (most) =>
    size([{ ...table, rows: table.rows.slice(0, most) }]),
  );
  if (count === 0) return null;
  const rest: Block[] = count < table.rows.length ? [{ ...table, rows: table.rows.slice(count) }] : [];
  return { head: { ...table, rows: table.rows.slice(0, count) }, rest };
}

/** A heading belongs to what follows it. */
function headingsTogether({ head, rest }: Taken): Taken {
  let end = head.length;
  while (end > 1 && head[end - 1]?.type === 'heading') end--;
  return rest.length > 0 && end < head.length && head[end - 1]?.type !== 'heading'
    ? { head: head.slice(0, end), rest: [...head.slice(end), ...rest] }
    : { head, rest };
}

/**
 * The same words with less around them, for a block of which not even the beginning fits; the block itself when there is
 * nothing left to take away, null when it has no words.
 */
function simplify(block: Block): Block[] | null {
  switch (block.type) {
    case 'rule':
      return null;
    case 'heading':
      return [{ type: 'paragraph', children: block.children }];
    case 'code':
      if (block.language !== null) return [{ ...block, language: null }];
      return block.text.trim() === '' ? null : [textParagraph(block.text)];
    case 'quote':
      return block.children;
    case 'list': {
      const [item, ...items] = block.items;
      const rest: Block[] = items.length > 0 ? [{ ...block, start: block.start + 1, items }] : [];
      return [...(item?.children ?? []), ...rest];
    }
    case 'table': {
      const rows = [block.header, ...block.rows].map((row) => row.map(inlineText).filter((cell) => cell !== ''));
      return rows.filter((row) => row.length > 0).map((row) => textParagraph(row.join(' | ')));
    }
    case 'paragraph': {
      const [first, ...others] = block.children;
      if (!first || first.type === 'text') return [block];
      const text: Inline = { type: 'text', text: inlineText([first]) };
      return [{ ...block, children: normalizeInlines([text, ...others]) }];
    }
  }
}

function textParagraph(text: string): Block {
  return { type: 'paragraph', children: normalizeInlines([{ type: 'text', text }]) };
}

function forceCharacter(block: Block, others: Block[]): Taken {
  if (block.type !== 'paragraph') return { head: [block], rest: others };
  const cut = cutInlines(block.children, 2, 2, (children) => inlineText(children).length);
  if (!cut) return { head: [block], rest: others };
  const rest: Block[] = cut.rest.length > 0 ? [{ ...block, children: cut.rest }] : [];
  return { head: [{ ...block, children: cut.first }], rest: [...rest, ...others] };
}

/** How many of the first parts weigh about `most`, at least one. */
function countByWeight<Part>(parts: readonly Part[], most: number, weigh: (part: Part) => number): number {
  let weight = 0;
  for (const [index, part] of parts.entries()) {
    weight += weigh(part) + 1;
    if (weight > most) return Math.max(1, index);
  }
  return parts.length;
}

/** Characters of the words in the blocks; stops counting beyond `max`. */
function weightOf(blocks: readonly Block[], max: number): number {
  let weight = 0;
  for (const block of blocks) {
    if (weight > max) break;
    weight += weightOfBlock(block, max - weight);
  }
  return weight;
}

function weightOfBlock(block: Block, max: number): number {
  let weight = 0;
  switch (block.type) {
    case 'rule':
      return 0;
    case 'code':
      return block.text.length;
    case 'quote':
      return weightOf(block.children, max);
    case 'list':
      for (const item of block.items) {
        if (weight > max) break;
        weight += weightOf(item.children, max - weight);
      }
      return weight;
    case 'table':
      for (const row of [block.header, ...block.rows]) {
        if (weight > max) break;
        for (const cell of row) weight += unitsUpTo(cell, max);
      }
      return weight;
    default:
      return unitsUpTo(block.children, max);
  }
}
