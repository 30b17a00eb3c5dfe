/**
 * The block structure of Markdown, line by line as CommonMark and GitHub describe it, in time proportional to the
 * source. Containers nest `depthMax` deep; what is deeper is text. Raw HTML has no meaning here: it is text.
 */
import type { TableAlign } from './markdown.ts';
import { unescapeMarkdown } from './markdown_entities.ts';
import {
  closesFence,
  createCursor,
  type Fence,
  isRule,
  type LineCursor,
  type Marker,
  readFence,
  readHeading,
  readMarker,
} from './markdown_lines.ts';
import { fitRow, readAligns, splitRow } from './markdown_table.ts';
import { readDefinition } from './markdown_targets.ts';

/** Quotes and list items around a block, at most. */
export const depthMax = 20;

/** A block whose words have not been read yet. */
export type RawBlock =
  | { type: 'paragraph'; text: string }
  | { type: 'heading'; level: number; text: string }
  | { type: 'code'; language: string | null; text: string }
  | { type: 'quote'; children: RawBlock[] }
  | { type: 'list'; ordered: boolean; start: number; mark: string; items: RawBlock[][] }
  | { type: 'table'; header: string[]; align: TableAlign[]; rows: string[][] }
  | { type: 'rule' }
  /** A link definition; shown as its text when nothing refers to it. */
  | { type: 'definition'; label: string; text: string };

interface Container {
  kind: 'document' | 'quote' | 'item';
  children: RawBlock[];
  /** Columns that the content of an item is indented by. */
  indent: number;
}

/** The block that takes further lines; always inside the innermost container. */
type Leaf =
  | { kind: 'paragraph'; lines: string[]; block: RawBlock & { type: 'paragraph' } }
  | { kind: 'fence'; fence: Fence; indent: number; lines: string[]; block: RawBlock & { type: 'code' } }
  | { kind: 'indented'; lines: string[]; block: RawBlock & { type: 'code' } }
  | { kind: 'table'; block: RawBlock & { type: 'table' } };

/** The blocks of a document, and its link definitions: href by normalized label, the first one wins. */
export function readBlocks(source: string): { blocks: RawBlock[]; hrefs: Map<string, string> } {
  const hrefs = new Map<string, string>();
  const ground: Container = { kind: 'document', children: [], indent: 0 };
  const open: Container[] = [ground];
  let leaf: Leaf | null = null;

  const innermost = () => open.at(-1) ?? ground;

  function closeLeaf(): void {
    const closing = leaf;
    leaf = null;
    if (!closing || closing.kind === 'table') return;
    if (closing.kind === 'paragraph') {
      closing.block.text = closing.lines.join('\n');
      takeDefinitions(closing.block);
      return;
    }
    if (closing.kind === 'indented') while (closing.lines.at(-1)?.trim() === '') closing.lines.pop();
    closing.block.text = closing.lines.join('\n');
  }

  /** Link definitions at the beginning of a paragraph become blocks of their own before it. */
  function takeDefinitions(paragraph: RawBlock & { type: 'paragraph' }): void {
    const { children } = innermost();
    for (;;) {
      const found = readDefinition(paragraph.text);
      if (!found) return;
      const text = paragraph.text.slice(0, found.length).trim();
      paragraph.text = paragraph.text.slice(found.length);
      if (!hrefs.has(found.label)) hrefs.set(found.label, found.href);
      children.splice(-1, 0, { type: 'definition', label: found.label, text });
      if (paragraph.text.trim() === '') {
        children.pop();
        return;
      }
    }
  }

  function closeUnmatched(matched: number): void {
    if (matched === open.length) return;
    closeLeaf();
    open.length = matched;
  }

  function add<Block extends RawBlock>(block: Block): Block {
    innermost().children.push(block);
    return block;
  }

  /** How many open containers the line continues; the cursor moves behind their marks. */
  function matchContainers(cursor: LineCursor): number {
    let matched = 1;
    for (; matched < open.length; matched++) {
      const container = open[matched];
      const { columns, next, blank } = cursor.indent();
      if (container?.kind === 'quote') {
        if (columns > 3 || cursor.line[next] !== '>') break;
        cursor.moveTo(next + 1);
        cursor.skipColumns(1);
      } else if (container && (blank ? container.children.length > 0 : columns >= container.indent)) {
        cursor.skipColumns(container.indent);
      } else break;
    }
    return matched;
  }

  /** A line inside code; false when the code ends before it. */
  function continueCode(code: Leaf & { kind: 'fence' | 'indented' }, cursor: LineCursor): boolean {
    const { columns, next, blank } = cursor.indent();
    if (code.kind === 'fence') {
      if (columns <= 3 && closesFence(cursor.line.slice(next), code.fence)) {
        closeLeaf();
        return true;
      }
      cursor.skipColumns(code.indent);
    } else if (columns < 4 && !blank) {
      closeLeaf();
      return false;
    } else cursor.skipColumns(4);
    code.lines.push(cursor.rest());
    return true;
  }

  function openItem(marker: Marker, cursor: LineCursor, columns: number, next: number): void {
    cursor.moveTo(next + marker.length);
    const space = cursor.indent().columns;
    const padding = marker.blank || space > 4 ? 1 : space;
    cursor.skipColumns(padding);
    const last = innermost().children.at(-1);
    const item: RawBlock[] = [];
    if (last?.type === 'list' && last.ordered === marker.ordered && last.mark === marker.mark) last.items.push(item);
    else add({ type: 'list', ordered: marker.ordered, start: marker.start, mark: marker.mark, items: [item] });
    open.push({ kind: 'item', children: item, indent: columns + marker.length + padding });
  }

  /** Turns the open paragraph into a heading or a table when this line underlines it. */
  function underline(paragraph: Leaf & { kind: 'paragraph' }, text: string): boolean {
    const underlined = /^(?:=+|-+)[ \t]*$/.test(text);
    const align = underlined ? null : readAligns(text);
    if (!underlined && !align) return false;
    const header = align && splitRow(paragraph.lines.at(-1) ?? '');
    if (align && header?.length !== align.length) return false;
    if (align && header) paragraph.lines.pop();
    closeLeaf();
    const { children } = innermost();
    // A paragraph that was nothing but definitions is gone.
    const stays = children.at(-1) === paragraph.block;
    if (align && header) {
      if (stays && paragraph.block.text === '') children.pop();
      leaf = { kind: 'table', block: add({ type: 'table', header, align, rows: [] }) };
      return true;
    }
    if (!stays) return false;
    children.pop();
    add({ type: 'heading', level: text[0] === '=' ? 1 : 2, text: paragraph.block.text });
    return true;
  }

  /** A block that begins and, for all but fences, ends on this line. */
  function openLeaf(text: string, columns: number): boolean {
    const heading = readHeading(text);
    const fence = heading ? null : readFence(text);
    if (!heading && !fence && !isRule(text)) return false;
    closeLeaf();
    if (heading) add({ type: 'heading', ...heading });
    else if (fence) {
      const block = add<RawBlock & { type: 'code' }>({ type: 'code', language: languageOf(fence.info), text: '' });
      leaf = { kind: 'fence', fence, indent: columns, lines: [], block };
    } else add({ type: 'rule' });
    return true;
  }

  function readLine(line: string): void {
    const cursor = createCursor(line);
    let matched = matchContainers(cursor);
    const current = leaf as Leaf | null;
    if (current && matched === open.length && (current.kind === 'fence' || current.kind === 'indented')) {
      if (continueCode(current, cursor)) return;
    }
    for (;;) {
      const { columns, next, blank } = cursor.indent();
      if (blank) break;
      const paragraph = (leaf as Leaf | null)?.kind === 'paragraph' ? (leaf as Leaf & { kind: 'paragraph' }) : null;
      if (columns >= 4) {
        if (paragraph) break;
        closeUnmatched(matched);
        closeLeaf();
        cursor.skipColumns(4);
        const block = add<RawBlock & { type: 'code' }>({ type: 'code', language: null, text: '' });
        leaf = { kind: 'indented', lines: [cursor.rest()], block };
        return;
      }
      const text = line.slice(next);
      const interrupts = paragraph !== null && matched === open.length;
      if (interrupts && underline(paragraph, text)) return;
      const marker = matched <= depthMax && !isRule(text) ? readMarker(text) : null;
      if (matched <= depthMax && text.startsWith('>')) {
        closeUnmatched(matched);
        closeLeaf();
        cursor.moveTo(next + 1);
        cursor.skipColumns(1);
        open.push({
          kind: 'quote',
          children: add<RawBlock & { type: 'quote' }>({ type: 'quote', children: [] }).children,
          indent: 0,
        });
      } else if (marker && !(interrupts && (marker.blank || (marker.ordered && marker.start !== 1)))) {
        closeUnmatched(matched);
        closeLeaf();
        openItem(marker, cursor, columns, next);
      } else {
        if (!/^[#`~*_-]/.test(text)) break;
        if (matched < open.length && !startsLeaf(text)) break;
        closeUnmatched(matched);
        if (openLeaf(text, columns)) return;
        break;
      }
      matched = open.length;
    }
    readText(cursor, matched);
  }

  function readText(cursor: LineCursor, matched: number): void {
    const { blank } = cursor.indent();
    const lazy = matched < open.length && !blank && leaf?.kind === 'paragraph';
    if (!lazy) closeUnmatched(matched);
    const current = leaf as Leaf | null;
    if (blank) {
      if (current && current.kind !== 'fence') closeLeaf();
      return;
    }
    const text = cursor.rest();
    if (current?.kind === 'paragraph') current.lines.push(text.trimStart());
    else if (current?.kind === 'table') current.block.rows.push(fitRow(splitRow(text), current.block.header.length));
    else {
      const block = add<RawBlock & { type: 'paragraph' }>({ type: 'paragraph', text: '' });
      leaf = { kind: 'paragraph', lines: [text.trimStart()], block };
    }
  }

  for (const line of source.split('\n')) readLine(line);
  closeLeaf();
  return { blocks: ground.children, hrefs };
}

function startsLeaf(text: string): boolean {
  return readHeading(text) !== null || readFence(text) !== null || isRule(text);
}

/** The first word of a code block's info string, where it is one that a language could have. */
function languageOf(info: string): string | null {
  return /^[\p{L}\p{N}_+#.:/-]{1,50}(?=$|[\s,{])/u.exec(unescapeMarkdown(info))?.[0] ?? null;
}
