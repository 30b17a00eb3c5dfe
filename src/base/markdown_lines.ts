/** Reading one line of Markdown by columns: what CommonMark says about tabs, and the marks that begin blocks. */

export interface Indent {
  /** Columns of white space at the cursor. */
  columns: number;
  /** Where in the line the first other character stands. */
  next: number;
  blank: boolean;
}

/** A cursor in a line. A tab may be taken in part: `spare` columns of it are still to come. */
export interface LineCursor {
  readonly line: string;
  indent(): Indent;
  /** Takes `columns` columns of white space, or what there is of them. */
  skipColumns(columns: number): void;
  /** Moves to a character of the line found by `indent`. */
  moveTo(next: number): void;
  /** What is left of the line, a tab taken in part as spaces. */
  rest(): string;
}

const tabColumns = 4;

export function createCursor(line: string): LineCursor {
  let offset = 0;
  let column = 0;
  let spare = 0;

  const isTab = () => line[offset] === '\t';

  function skipColumns(columns: number): void {
    let left = columns;
    while (left > 0 && (line[offset] === ' ' || isTab())) {
      const width = spare > 0 ? spare : isTab() ? tabColumns - (column % tabColumns) : 1;
      const taken = Math.min(width, left);
      column += taken;
      left -= taken;
      spare = width - taken;
      if (spare === 0) offset++;
    }
  }

  return {
    line,
    skipColumns,
    indent() {
      let next = offset;
      let columns = 0;
      for (; line[next] === ' ' || line[next] === '\t'; next++) {
        if (next === offset && spare > 0) columns += spare;
        else columns += line[next] === '\t' ? tabColumns - ((column + columns) % tabColumns) : 1;
      }
      return { columns, next, blank: next >= line.length };
    },
    moveTo(next) {
      while (offset < next) {
        if (line[offset] === ' ' || isTab()) skipColumns(1);
        else {
          offset++;
          column++;
        }
      }
    },
    rest: () => (spare > 0 ? ' '.repeat(spare) + line.slice(offset + 1) : line.slice(offset)),
  };
}

/** `***`, `- - -`, `___`. */
export function isRule(text: string): boolean {
  const mark = text[0];
  if (mark !== '*' && mark !== '-' && mark !== '_') return false;
  let count = 0;
  for (const character of text) {
    if (character === mark) count++;
    else if (character !== ' ' && character !== '\t') return false;
  }
  return count >= 3;
}

/** `## Words ##` gives level 2 and `Words`. */
export function readHeading(text: string): { level: number; text: string } | null {
  const level = /^#{1,6}(?=[ \t]|$)/.exec(text)?.[0].length;
  if (level === undefined) return null;
  const words = text.slice(level).trim();
  let end = words.length;
  while (words[end - 1] === '#') end--;
  const closed = end < words.length && (end === 0 || /[ \t]/.test(words[end - 1] ?? ''));
  return { level, text: closed ? words.slice(0, end).trim() : words };
}

export interface Marker {
  /** Characters of the marker itself. */
  length: number;
  ordered: boolean;
  start: number;
  /** Items of one list share it: the bullet, or the character after the number. */
  mark: string;
  /** Nothing follows on the line. */
  blank: boolean;
}

/** The list marker `text` begins with. */
export function readMarker(text: string): Marker | null {
  const match = /^(?:[-+*]|(\d{1,9})([.)]))(?=[ \t]|$)/.exec(text);
  if (!match) return null;
  const length = match[0].length;
  const ordered = match[1] !== undefined;
  const mark = ordered ? (match[2] ?? '') : match[0];
  return { length, ordered, start: ordered ? Number(match[1]) : 1, mark, blank: !/[^ \t]/.test(text.slice(length)) };
}

export interface Fence {
  character: string;
  length: number;
  info: string;
}

export function readFence(text: string): Fence | null {
  const run = /^(?:`{3,}|~{3,})/.exec(text)?.[0];
  if (run === undefined) return null;
  const info = text.slice(run.length).trim();
  const character = run[0] ?? '';
  return character === '`' && info.includes('`') ? null : { character, length: run.length, info };
}

export function closesFence(text: string, fence: Fence): boolean {
  let end = 0;
  while (text[end] === fence.character) end++;
  return end >= fence.length && !/[^ \t]/.test(text.slice(end));
}
