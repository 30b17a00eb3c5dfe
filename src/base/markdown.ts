/** Markdown as a small tree of our own (rule 84). It is read once and rendered by each platform in its own way. */
import { limits } from './limits.ts';
import { type RawBlock, readBlocks } from './markdown_blocks.ts';
import { parseInlines } from './markdown_inline.ts';
import { normalizeInlines, normalizeLine } from './markdown_normal.ts';
import type { References } from './markdown_targets.ts';
import { wellFormed } from './safe_text.ts';

/** Words in a line. `text` never holds markup, and `\n` in it is a line end of the source; a `break` is a forced one. */
export type Inline =
  | { type: 'text'; text: string }
  | { type: 'strong'; children: Inline[] }
  | { type: 'emphasis'; children: Inline[] }
  | { type: 'strike'; children: Inline[] }
  | { type: 'code'; text: string }
  /** `href` is http, https, mailto or tel; anything else arrives as its text. */
  | { type: 'link'; href: string; children: Inline[] }
  /** `href` as for links. Renderers show it as a plain link (rule 37). */
  | { type: 'image'; href: string; alt: string }
  | { type: 'break' };

export type HeadingLevel = 1 | 2 | 3 | 4 | 5 | 6;

/** `checked` is null unless the item is a task. */
export type ListItem = { checked: boolean | null; children: Block[] };

export type TableAlign = 'left' | 'right' | 'center' | null;

export type Table = { type: 'table'; header: Inline[][]; align: TableAlign[]; rows: Inline[][][] };

export type Block =
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'heading'; level: HeadingLevel; children: Inline[] }
  /** `text` byte for byte, without the newline before the closing fence. */
  | { type: 'code'; language: string | null; text: string }
  | { type: 'quote'; children: Block[] }
  | { type: 'list'; ordered: boolean; start: number; items: ListItem[] }
  | Table
  | { type: 'rule' };

/**
 * Reads GitHub-flavoured Markdown into a small tree in normal form (see markdown_normal.ts). Never throws, and takes
 * time proportional to the source. Raw HTML is text. What is too long, or cannot be read, becomes one paragraph of
 * plain text per paragraph of the source.
 */
export function parseMarkdown(source: string): Block[] {
  const text = wellFormed(source).replace(/\r\n?/g, '\n');
  if (text.length > limits.answerCharsMax) return plainBlocks(text);
  try {
    const blocks = readTree(text);
    return blocks.length > 0 ? blocks : plainBlocks(text);
  } catch {
    return plainBlocks(text);
  }
}

function readTree(text: string): Block[] {
  const { blocks, hrefs } = readBlocks(text);
  const references: References = { hrefs, used: new Set() };
  /** Definitions shown as text for now, by label; those that are used go away at the end. */
  const definitions = new Map<Block, string>();
  const tree = toBlocks(blocks, references, definitions);
  return references.used.size > 0
    ? withoutUsed(tree, (block) => references.used.has(definitions.get(block) ?? ''))
    : tree;
}

function toBlocks(raw: readonly RawBlock[], references: References, definitions: Map<Block, string>): Block[] {
  return raw.flatMap((block) => toBlock(block, references, definitions));
}

function toBlock(block: RawBlock, references: References, definitions: Map<Block, string>): Block[] {
  switch (block.type) {
    case 'rule':
    case 'code':
      return [block];
    case 'quote': {
      const children = toBlocks(block.children, references, definitions);
      return children.length > 0 ? [{ type: 'quote', children }] : [];
    }
    case 'list': {
      const items = block.items.map((item) => toItem(item, references, definitions));
      return [{ type: 'list', ordered: block.ordered, start: block.start, items }];
    }
    case 'table': {
      const row = (cells: string[]) => cells.map((cell) => normalizeLine(parseInlines(cell, references)));
      return [{ type: 'table', header: row(block.header), align: block.align, rows: block.rows.map(row) }];
    }
    case 'heading': {
      const children = normalizeLine(parseInlines(block.text, references));
      return children.length > 0 ? [{ type: 'heading', level: block.level as HeadingLevel, children }] : [];
    }
    case 'paragraph':
    case 'definition': {
      // A definition that is shown refers to nothing, least of all to itself.
      const known = block.type === 'definition' ? { hrefs: new Map(), used: new Set<string>() } : references;
      const children = parseInlines(block.text, known);
      if (children.length === 0) return [];
      const paragraph: Block = { type: 'paragraph', children };
      if (block.type === 'definition') definitions.set(paragraph, block.label);
      return [paragraph];
    }
  }
}

function toItem(raw: readonly RawBlock[], references: References, definitions: Map<Block, string>): ListItem {
  const first = raw[0];
  const box = first?.type === 'paragraph' ? /^\[([ xX])\][ \t\n]+(?=\S)/.exec(first.text) : null;
  if (first?.type !== 'paragraph' || !box) return { checked: null, children: toBlocks(raw, references, definitions) };
  const rest = [{ ...first, text: first.text.slice(box[0].length) }, ...raw.slice(1)];
  return { checked: box[1] !== ' ', children: toBlocks(rest, references, definitions) };
}

function withoutUsed(blocks: readonly Block[], isUsed: (block: Block) => boolean): Block[] {
  return blocks.flatMap((block): Block[] => {
    if (isUsed(block)) return [];
    if (block.type === 'quote') {
      const children = withoutUsed(block.children, isUsed);
      return children.length > 0 ? [{ ...block, children }] : [];
    }
    if (block.type !== 'list') return [block];
    const items = block.items.map((item) => ({ ...item, children: withoutUsed(item.children, isUsed) }));
    return [{ ...block, items }];
  });
}

/** The source as it is, one paragraph of text per paragraph. */
function plainBlocks(source: string): Block[] {
  return source
    .split(/\n[ \t]*\n+/)
    .filter((part) => part.trim() !== '')
    .map((part) => ({ type: 'paragraph', children: normalizeInlines([{ type: 'text', text: part }]) }));
}
