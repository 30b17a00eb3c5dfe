/**
 * Builds Telegram text with its entities: plain words and, beside them, ranges in UTF-16 units. What Telegram demands
 * of ranges holds for everything built here: they nest or stand apart, code holds nothing and is held by nothing but
 * a quote, quotes do not nest, no range is empty or begins or ends with white space (code excepted).
 * Source: Bot API "Formatting options"; tdlib MessageEntity.cpp, `fix_entities`.
 */
import type { MessageEntity } from 'grammy/types';
import { countBefore, mentionBreaks } from './mentions.ts';

export interface Formatted {
  text: string;
  entities: MessageEntity[];
}

export type Style = 'bold' | 'italic' | 'strikethrough';
/** What a range is, apart from where. */
type Mark =
  | { type: Style | 'code' | 'blockquote' }
  | { type: 'pre'; language?: string }
  | { type: 'text_link'; url: string };
interface Range {
  mark: Mark;
  start: number;
  end: number;
}

export interface Writer {
  words(text: string): void;
  /** Ends the line and leaves `blank` empty ones; nothing at the very beginning. */
  newLine(blank?: number): void;
  styled(style: Style, write: () => void): void;
  quoted(write: () => void): void;
  /** `url` must be one Telegram accepts. */
  linked(url: string, write: () => void): void;
  code(text: string): void;
  codeBlock(text: string, language: string | null): void;
  /** Lines begun inside get `indent` in front, code blocks excepted. */
  indented(indent: string, write: () => void): void;
  finish(): Formatted;
}

export function createWriter(): Writer {
  let text = '';
  let indent = '';
  /** Line ends that are written with the next words, so that what shows nothing leaves no gap. */
  let pendingEnds = 0;
  let inQuote = false;
  let inLink = false;
  const ranges: Range[] = [];
  /** Styles that are on, with where their current range began. */
  const open = new Map<Style, number>();

  const add = (mark: Mark, start: number, end: number) => {
    const range = mark.type === 'code' || mark.type === 'pre' ? { start, end } : trimmed(text, start, end);
    if (text.slice(range.start, range.end).trim() !== '') ranges.push({ mark, ...range });
  };
  const beginLine = (lineIndent: string) => {
    if (pendingEnds === 0) return;
    text += '\n'.repeat(pendingEnds) + lineIndent;
    pendingEnds = 0;
  };
  const put = (part: string) => {
    if (part === '') return;
    beginLine(indent);
    text += part;
  };
  const newLine = (blank = 0) => {
    if (text !== '') pendingEnds = Math.max(pendingEnds, 1 + blank);
  };
  /** Code cannot stand inside a style: the styles that are on end before it and go on behind it. */
  const apart = (write: () => void) => {
    for (const [style, start] of open) add({ type: style }, start, text.length);
    write();
    for (const style of open.keys()) open.set(style, text.length);
  };

  return {
    words(part) {
      const lines = part.split('\n');
      lines.forEach((line, index) => {
        if (index > 0) newLine();
        put(line);
      });
    },
    newLine,
    styled(style, write) {
      if (open.has(style)) return write();
      open.set(style, text.length);
      write();
      const start = open.get(style)!;
      open.delete(style);
      add({ type: style }, start, text.length);
    },
    quoted(write) {
      if (inQuote) return write();
      inQuote = true;
      const start = text.length;
      write();
      // White space that belongs to code in the quote belongs to the quote.
      const held = ranges.filter((range) => range.start >= start);
      const { start: first, end: last } = trimmed(text, start, text.length);
      const mark = { type: 'blockquote' } as const;
      if (first < last)
        ranges.push({
          mark,
          start: held.reduce((least, range) => Math.min(least, range.start), first),
          end: held.reduce((most, range) => Math.max(most, range.end), last),
        });
      inQuote = false;
    },
    linked(url, write) {
      if (inLink) return write();
      inLink = true;
      const start = text.length;
      write();
      add({ type: 'text_link', url }, start, text.length);
      inLink = false;
    },
    code(part) {
      if (inLink) return put(part);
      beginLine(indent);
      apart(() => {
        const start = text.length;
        text += part;
        add({ type: 'code' }, start, text.length);
      });
    },
    codeBlock(part, language) {
      if (part.trim() === '') return;
      apart(() => {
        // Byte for byte: the lines of code get no indent.
        beginLine('');
        const start = text.length;
        text += part;
        add(language === null ? { type: 'pre' } : { type: 'pre', language }, start, text.length);
      });
    },
    indented(more, write) {
      const before = indent;
      indent += more;
      write();
      indent = before;
    },
    finish: () => finished(text, ranges),
  };
}

function trimmed(text: string, start: number, end: number): { start: number; end: number } {
  while (start < end && /\s/.test(text[start]!)) start++;
  while (end > start && /\s/.test(text[end - 1]!)) end--;
  return { start, end };
}

/**
 * Telegram cuts white space off the end of a message itself and then counts ranges against what is left. At the
 * beginning it keeps what a range covers (the indentation of code).
 */
function finished(source: string, ranges: Range[]): Formatted {
  // A lone surrogate would make the whole request invalid; its replacement is one UTF-16 unit too.
  const whole = source.toWellFormed();
  const text = whole.trimEnd();
  const kept = ranges
    .map((range) => ({ ...range, end: Math.min(range.end, text.length) }))
    .filter((range) => range.start < range.end);
  const leading = text.length - text.trimStart().length;
  const cut = kept.reduce((least, range) => Math.min(least, range.start), leading);
  const moved = kept.map((range) => ({ ...range, start: range.start - cut, end: range.end - cut }));
  return defused(text.slice(cut), moved);
}

/** An invisible character that breaks a name without a gap. */
const wordJoiner = '\u2060';

function defused(text: string, ranges: Range[]): Formatted {
  const code = ranges.filter((range) => range.mark.type === 'code' || range.mark.type === 'pre');
  const places = mentionBreaks(text, code);
  let out = '';
  let from = 0;
  for (const place of places) {
    out += text.slice(from, place) + wordJoiner;
    from = place;
  }
  out += text.slice(from);
  const entities = ranges
    .map(({ mark, start, end }) => {
      // A joiner right before a range stays outside of it.
      const offset = start + countBefore(places, start + 1);
      return { ...mark, offset, length: end + countBefore(places, end) - offset } as MessageEntity;
    })
    // Outer ranges first: the order in which Telegram returns them.
    .sort((left, right) => left.offset - right.offset || right.length - left.length);
  return { text: out, entities };
}
