/** Markdown as a small tree of our own (rule 84). It is read once and rendered by each platform in its own way. */
import { limits } from './limits.ts';
import { normalizeInlines, normalizeLine, plainWords } from './markdown_normal.ts';
import { readTokens, type Token, unescapeMarkdown } from './markdown_tokens.ts';
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
  const tokens = readTokens(text);
  const used = new Set<unknown>();
  for (const token of tokens) addUsedLabels(token, used);
  const cursor: Cursor = { tokens, at: 0, used };
  return readBlocks(cursor);
}

interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
  /** Labels of link definitions that a link refers to: these are not shown. */
  readonly used: ReadonlySet<unknown>;
}

function addUsedLabels(token: Token, used: Set<unknown>): void {
  for (const child of token.children ?? []) {
    if (child.meta?.label !== undefined) used.add(child.meta.label);
    addUsedLabels(child, used);
  }
}

/** The blocks up to the end of the container that the cursor is in; the cursor moves behind it. */
function readBlocks(cursor: Cursor): Block[] {
  const blocks: Block[] = [];
  for (let token = cursor.tokens[cursor.at++]; token; token = cursor.tokens[cursor.at++]) {
    if (token.type === 'blockquote_close' || token.type === 'list_item_close') break;
    const block = readBlock(token, cursor);
    if (block) blocks.push(block);
  }
  return blocks;
}

function readBlock(token: Token, cursor: Cursor): Block | null {
  switch (token.type) {
    case 'hr':
      return { type: 'rule' };
    case 'fence':
    case 'code_block':
      return { type: 'code', language: languageOf(token.info), text: token.content.replace(/\n$/, '') };
    case 'blockquote_open': {
      const children = readBlocks(cursor);
      return children.length > 0 ? { type: 'quote', children } : null;
    }
    case 'bullet_list_open':
    case 'ordered_list_open':
      return readList(token, cursor);
    case 'table_open':
      return readTable(cursor);
    case 'heading_open': {
      const children = normalizeLine(readInlines(cursor.tokens[cursor.at]));
      const level = Number(token.tag.slice(1)) as HeadingLevel;
      return children.length > 0 ? { type: 'heading', level, children } : null;
    }
    case 'paragraph_open': {
      const children = normalizeInlines(readInlines(cursor.tokens[cursor.at]));
      const isUsed = token.meta !== null && cursor.used.has(token.meta.definition);
      return children.length > 0 && !isUsed ? { type: 'paragraph', children } : null;
    }
    default:
      return null;
  }
}

function readList(open: Token, cursor: Cursor): Block {
  const items: ListItem[] = [];
  for (let token = cursor.tokens[cursor.at++]; token?.type === 'list_item_open'; token = cursor.tokens[cursor.at++]) {
    const checked = typeof token.meta?.checked === 'boolean' ? token.meta.checked : null;
    items.push({ checked, children: readBlocks(cursor) });
  }
  const ordered = open.type === 'ordered_list_open';
  return { type: 'list', ordered, start: Number(open.attrGet('start') ?? 1), items };
}

function readTable(cursor: Cursor): Table {
  const rows: Inline[][][] = [];
  const align: TableAlign[] = [];
  for (let token = cursor.tokens[cursor.at++]; token?.type !== 'table_close'; token = cursor.tokens[cursor.at++]) {
    if (token?.type === 'tr_open') rows.push([]);
    else if (token?.type === 'inline') rows.at(-1)?.push(normalizeLine(readInlines(token)));
    else if (token?.type === 'th_open') {
      const style = /^text-align:(left|right|center)$/.exec(String(token.attrGet('style')));
      align.push((style?.[1] as TableAlign | undefined) ?? null);
    }
  }
  const [header = [], ...others] = rows;
  return { type: 'table', header, align, rows: others };
}

type Marked = Extract<Inline, { children: Inline[] }>;

/** The words of an inline token. Marks inside marks of their kind are left out here, so that the tree is never deep. */
function readInlines(token: Token | undefined): Inline[] {
  const inlines: Inline[] = [];
  /** Around the next token, outermost first: where its words go, and text that follows at the end. */
  const open: { type: string | null; row: Inline[]; after: string }[] = [];
  for (const child of token?.children ?? []) {
    const row = open.at(-1)?.row ?? inlines;
    if (child.nesting > 0) {
      const marked = readMarked(child);
      // `<std::string>` is an address to the library.
      const isPlain = !marked && child.markup === 'autolink';
      if (isPlain) row.push({ type: 'text', text: '<' });
      const isNew = marked !== null && !open.some(({ type }) => type === marked.type);
      if (isNew) row.push(marked);
      open.push({ type: marked?.type ?? null, row: isNew ? marked.children : row, after: isPlain ? '>' : '' });
    } else if (child.nesting < 0) {
      const text = open.pop()?.after ?? '';
      (open.at(-1)?.row ?? inlines).push({ type: 'text', text });
    } else row.push(readWords(child));
  }
  return inlines;
}

function readMarked(token: Token): Marked | null {
  switch (token.type) {
    case 'strong_open':
      return { type: 'strong', children: [] };
    case 'em_open':
      return { type: 'emphasis', children: [] };
    case 's_open':
      return { type: 'strike', children: [] };
    default: {
      const href = String(token.attrGet('href') ?? '');
      return href === '' ? null : { type: 'link', href, children: [] };
    }
  }
}

function readWords(token: Token): Inline {
  switch (token.type) {
    case 'code_inline':
      return { type: 'code', text: token.content };
    case 'hardbreak':
      return { type: 'break' };
    case 'softbreak':
      return { type: 'text', text: '\n' };
    case 'image': {
      const alt = plainWords(readInlines(token)).replace(/\s+/g, ' ').trim();
      const href = String(token.attrGet('src') ?? '');
      return href === '' ? { type: 'text', text: alt } : { type: 'image', href, alt };
    }
    default:
      return { type: 'text', text: token.content };
  }
}

/** The first word of a code block's info string, where it is one that a language could have. */
function languageOf(info: string): string | null {
  return /^[\p{L}\p{N}_+#.:/-]{1,50}(?=$|[\s,{])/u.exec(unescapeMarkdown(info).trim())?.[0] ?? null;
}

/** The source as it is, one paragraph of text per paragraph. */
function plainBlocks(source: string): Block[] {
  return source
    .split(/\n[ \t]*\n+/)
    .filter((part) => part.trim() !== '')
    .map((part) => ({ type: 'paragraph', children: normalizeInlines([{ type: 'text', text: part }]) }));
}
