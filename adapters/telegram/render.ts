/**
 * Markdown as the model wrote it becomes Telegram text with entities rather than markup: there is nothing to escape and
 * nothing that Telegram could fail to parse (rule 84). Pure.
 */
import { type Block, type Inline, type ListItem, parseMarkdown } from '../../src/base/markdown.ts';
import { tableText, toPlainText } from '../../src/base/markdown_text.ts';
import { createWriter, type Formatted, type Writer } from './formatted.ts';

/** Code points after parsing, by Telegram's count; we count UTF-16 units, which are never fewer. */
export const textLengthMax = 4096;
/** Telegram drops what is beyond: MTProto "Styled text with message entities". */
const entitiesMax = 100;
const ruleLine = '──────────';

export function render(markdown: string): Formatted {
  const writer = createWriter();
  writeBlocks(writer, parseMarkdown(markdown));
  return writer.finish();
}

/**
 * Length of a rendered part; 0 when nothing would be visible. A part with more ranges than Telegram keeps counts as
 * too long, so that it is cut rather than shown half formatted.
 */
export function measure(markdown: string): number {
  const { text, entities } = render(markdown);
  if (entities.length <= entitiesMax) return text.length;
  return Math.max(text.length, Math.ceil((entities.length * textLengthMax) / entitiesMax));
}

/** The same words without any entity, for a server that refuses ours; cut to what a message holds. */
export function renderPlain(markdown: string): Formatted {
  const writer = createWriter();
  writer.words(toPlainText(parseMarkdown(markdown)));
  const plain = writer.finish().text;
  const text = plain.length <= textLengthMax ? plain : render(markdown).text;
  return { text: text.slice(0, textLengthMax).toWellFormed(), entities: [] };
}

/** Cuts what is shown of an unfinished answer to one message. */
export function clip({ text, entities }: Formatted, max: number): Formatted {
  if (text.length <= max) return { text, entities };
  const cut = text.slice(0, max).trimEnd();
  return {
    // Half a surrogate pair at the cut would make the request invalid.
    text: cut.toWellFormed(),
    entities: entities
      .filter((entity) => entity.offset < cut.length)
      .map((entity) => ({ ...entity, length: Math.min(entity.length, cut.length - entity.offset) })),
  };
}

function writeBlocks(writer: Writer, blocks: Block[], tight = false): void {
  blocks.forEach((block, index) => {
    const before = blocks[index - 1];
    if (before) writer.newLine(tight || before.type === 'heading' ? 0 : 1);
    writeBlock(writer, block);
  });
}

function writeBlock(writer: Writer, block: Block): void {
  if (block.type === 'paragraph') writeInlines(writer, block.children);
  else if (block.type === 'heading') writer.styled('bold', () => writeInlines(writer, block.children));
  else if (block.type === 'code') writer.codeBlock(block.text, block.language);
  else if (block.type === 'quote') writer.quoted(() => writeBlocks(writer, block.children));
  else if (block.type === 'list') writeList(writer, block.items, block.ordered ? block.start : null);
  else if (block.type === 'table') writer.codeBlock(tableText(block), null);
  else writer.words(ruleLine);
}

/** `first` is the number of the first item, null for bullets. */
function writeList(writer: Writer, items: ListItem[], first: number | null): void {
  items.forEach((item, index) => {
    if (index > 0) writer.newLine();
    writeItem(writer, item, first === null ? '• ' : `${first + index}. `);
  });
}

function writeItem(writer: Writer, item: ListItem, bullet: string): void {
  const box = item.checked === null ? '' : item.checked ? '☑ ' : '☐ ';
  writer.words(bullet + box);
  writer.indented(' '.repeat(bullet.length), () => {
    // Code does not stand behind a bullet: its first line would be shifted against the others.
    if (item.children[0]?.type === 'code' || item.children[0]?.type === 'table') writer.newLine();
    writeBlocks(writer, item.children, true);
  });
}

function writeInlines(writer: Writer, inlines: Inline[]): void {
  for (const inline of inlines) writeInline(writer, inline);
}

const styles = { strong: 'bold', emphasis: 'italic', strike: 'strikethrough' } as const;

function writeInline(writer: Writer, inline: Inline): void {
  if (inline.type === 'text') writer.words(inline.text);
  else if (inline.type === 'code') writer.code(inline.text);
  else if (inline.type === 'break') writer.newLine();
  else if (inline.type === 'link') writeLink(writer, inline.href, inline.children);
  else if (inline.type === 'image')
    writeLink(writer, inline.href, inline.alt === '' ? [] : [{ type: 'text', text: inline.alt }]);
  else writer.styled(styles[inline.type], () => writeInlines(writer, inline.children));
}

function writeLink(writer: Writer, href: string, children: Inline[]): void {
  const address = href.replace(/^(?:mailto|tel):/, '');
  const label = toPlainText([{ type: 'paragraph', children }]).trim();
  // Telegram makes a bare address a link by itself.
  const isBare =
    label === '' || children.every((child) => child.type === 'text' && [href, address].includes(child.text));
  const url = acceptedUrl(href);
  if (isBare) writer.words(label || address);
  else if (url !== null) writer.linked(url, () => writeInlines(writer, children));
  else {
    writeInlines(writer, children);
    writer.words(` (${address})`);
  }
}

/** Telegram takes no link to a host without a dot or with a name before it: tdlib LinkManager.cpp, `check_link`. */
function acceptedUrl(href: string): string | null {
  if (!URL.canParse(href)) return null;
  const { protocol, hostname, username, password, href: url } = new URL(href);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  const isHost = /\.[^.]{2,}$|^\d+(?:\.\d+){3}$/.test(hostname);
  return isWeb && isHost && username === '' && password === '' ? url : null;
}
