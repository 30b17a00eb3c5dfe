/** Long answers in parts, cut on the tree (rule 84). */
import { type Block, type Inline, type ListItem, parseMarkdown, type Table } from './markdown.ts';
import { cutCode, cutInlines, largest } from './markdown_cut.ts';
import { normalizeInlines } from './markdown_normal.ts';
import { renderMarkdown } from './markdown_render.ts';
import { inlineText } from './markdown_text.ts';

/** A rendered part is never this many times shorter than its words, so what is longer need not be measured. */
const shrinkMax = 8;

/** Measures blocks as they would stand in the part that is being filled. */
interface Space {
  limit: number;
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
  const size = (blocks: readonly Block[]): number => {
    return weightOf(blocks, limit * shrinkMax) > limit * shrinkMax ? Infinity : measure(renderMarkdown(blocks));
  };
  const space: Space = { limit, size, alone: size };
  const parts: string[] = [];
  let rest = parseMarkdown(source);
  while (rest.length > 0) {
    const taken = takePart(rest, space);
    const markdown = renderMarkdown(taken.head);
    if (taken.head.length > 0 && measure(markdown) > 0) parts.push(markdown);
    rest = taken.rest;
  }
  return parts;
}

function takePart(blocks: readonly Block[], space: Space): Taken {
  let [first, ...others] = blocks as [Block, ...Block[]];
  for (;;) {
    const taken = takeBlocks([first, ...others], space);
    if (taken) return headingsTogether(taken);
    const simpler = simplify(first);
    if (!simpler) return { head: [], rest: others };
    if (simpler.length === 1 && simpler[0] === first) return forceCharacter(first, others);
    const [next, ...more] = simpler;
    if (!next) return { head: [], rest: others };
    first = next;
    others = [...more, ...others];
  }
}

/** As many of the blocks as fit, the last one cut where that is right; null when nothing fits. */
function takeBlocks(blocks: readonly Block[], space: Space): Taken | null {
  const { limit, size, alone } = space;
  const guess = countByWeight(blocks, limit);
  const count = largest(blocks.length, guess, limit, (most) => size(blocks.slice(0, most)));
  const head = blocks.slice(0, count);
  const next = blocks[count];
  if (!next) return { head, rest: [] };
  const between = { head, rest: blocks.slice(count) };
  if (count > 0 && alone([next]) <= limit) {
    const oneThing = next.type === 'code' || next.type === 'table';
    if (oneThing || size(head) >= limit / 2) return between;
  }
  const cut = cutBlock(next, { limit, alone, size: (pieces) => size([...head, ...pieces]) });
  if (cut) return { head: [...head, cut.head], rest: [...cut.rest, ...blocks.slice(count + 1)] };
  return count > 0 ? between : null;
}

function cutBlock(block: Block, space: Space): { head: Block; rest: Block[] } | null {
  const { limit, size } = space;
  switch (block.type) {
    case 'paragraph':
    case 'heading': {
      const piece = (children: Inline[]): Block => ({ ...block, children });
      const cut = cutInlines(block.children, limit, (children) => size([piece(children)]));
      return cut && { head: piece(cut.first), rest: cut.rest.length > 0 ? [piece(cut.rest)] : [] };
    }
    case 'code': {
      const piece = (text: string): Block => ({ ...block, text });
      const cut = cutCode(block.text, limit, (text) => size([piece(text)]));
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
  const guess = countByWeight(
    list.items.map((item) => ({ type: 'quote', children: item.children })),
    limit,
  );
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
  const guess = Math.max(1, Math.floor((table.rows.length * limit) / (weightOf([table], limit * shrinkMax) + 1)));
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
  const cut = cutInlines(block.children, 2, (children) => inlineText(children).length);
  if (!cut) return { head: [block], rest: others };
  const rest: Block[] = cut.rest.length > 0 ? [{ ...block, children: cut.rest }] : [];
  return { head: [{ ...block, children: cut.first }], rest: [...rest, ...others] };
}

/** How many of the first blocks have about `limit` characters, at least one. */
function countByWeight(blocks: readonly Block[], limit: number): number {
  let weight = 0;
  for (const [index, block] of blocks.entries()) {
    weight += weightOf([block], limit) + 1;
    if (weight > limit) return Math.max(1, index);
  }
  return blocks.length;
}

/** Characters of the words in the blocks; stops counting beyond `max`. */
function weightOf(blocks: readonly Block[], max: number): number {
  let weight = 0;
  const inlines = (row: readonly Inline[]): void => {
    for (const inline of row) {
      if (weight > max) return;
      if ('children' in inline) inlines(inline.children);
      else if (inline.type === 'text' || inline.type === 'code') weight += inline.text.length;
      else weight += 1;
    }
  };
  const each = (block: Block): void => {
    if (weight > max) return;
    if (block.type === 'code') weight += block.text.length;
    else if (block.type === 'quote') for (const child of block.children) each(child);
    else if (block.type === 'list') for (const item of block.items) for (const child of item.children) each(child);
    else if (block.type === 'table') for (const row of [block.header, ...block.rows]) row.forEach(inlines);
    else if (block.type !== 'rule') inlines(block.children);
  };
  for (const block of blocks) each(block);
  return weight;
}
