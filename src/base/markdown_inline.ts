/**
 * The words inside one block: CommonMark's delimiter algorithm in time proportional to the source, because the source
 * is untrusted. Raw HTML is text. Emphasis nests `depthMax` deep; what is deeper loses its emphasis and keeps its words.
 */
import type { Inline } from './markdown.ts';
import { isAsciiPunctuation, readReference } from './markdown_entities.ts';
import { bareEmails, bareUrlAt, safeHref } from './markdown_links.ts';
import { normalizeInlines, plainWords } from './markdown_normal.ts';
import { angleAddress, type References, readReferenceLink, readTarget } from './markdown_targets.ts';

/** Links cannot hold links, so only emphasis nests. */
const depthMax = 12;

/** One node in a row of siblings that is still being put together. */
interface Piece {
  inline: Inline;
  previous: Piece | null;
  next: Piece | null;
  /** First and last piece inside, for nodes made of a range of pieces. */
  inside: { first: Piece; last: Piece } | null;
}

/** A run of `*`, `_` or `~` that may open or close emphasis. */
interface Delimiter {
  piece: Piece;
  character: string;
  length: number;
  /** The run's length at first, for CommonMark's rule of three. */
  original: number;
  opens: boolean;
  closes: boolean;
  previous: Delimiter | null;
  next: Delimiter | null;
  /** Where it stands in the source. */
  at: number;
  /** Deepest emphasis between this delimiter and the next one. */
  depth: number;
}

interface Bracket {
  piece: Piece;
  image: boolean;
  /** Where the text after the bracket begins. */
  start: number;
  delimiter: Delimiter | null;
}

const plainRun = /[^\\`*_~[\]!<&\nhHwW]+/y;
const letter = /[^\s\p{P}\p{S}]/u;

/** Reads the inline content of a paragraph, heading or cell. */
export function parseInlines(source: string, references: References): Inline[] {
  return normalizeInlines(readPieces(source, references));
}

function readPieces(source: string, references: References): Inline[] {
  const head: Piece = { inline: { type: 'text', text: '' }, previous: null, next: null, inside: null };
  let tail = head;
  let lastDelimiter: Delimiter | null = null;
  const brackets: Bracket[] = [];
  /** Link brackets below this index lie around a link and cannot become one. */
  let inactiveBelow = 0;
  let codeRuns: Map<number, number[]> | null = null;
  let at = 0;
  const emails = bareEmails(source);

  function append(inline: Inline): Piece {
    const piece: Piece = { inline, previous: tail, next: null, inside: null };
    tail.next = piece;
    tail = piece;
    return piece;
  }

  const addText = (text: string) => append({ type: 'text', text });

  /** Replaces the pieces from `first` to `last` by one node that holds them. */
  function wrap(first: Piece, last: Piece, inline: Inline): Piece {
    const piece: Piece = { inline, previous: first.previous, next: last.next, inside: { first, last } };
    if (first.previous) first.previous.next = piece;
    if (last.next) last.next.previous = piece;
    else tail = piece;
    first.previous = null;
    last.next = null;
    return piece;
  }

  function removeDelimiter(delimiter: Delimiter): void {
    if (delimiter.previous) {
      delimiter.previous.depth = Math.max(delimiter.previous.depth, delimiter.depth);
      delimiter.previous.next = delimiter.next;
    }
    if (delimiter.next) delimiter.next.previous = delimiter.previous;
    else lastDelimiter = delimiter.previous;
  }

  function readDelimiters(character: string): void {
    let end = at + 1;
    while (source[end] === character) end++;
    const before = characterBefore(source, at);
    const after = source.codePointAt(end) === undefined ? ' ' : String.fromCodePoint(source.codePointAt(end) ?? 32);
    const [spaceBefore, spaceAfter] = [/\s/.test(before), /\s/.test(after)];
    const [letterBefore, letterAfter] = [letter.test(before), letter.test(after)];
    const left = !spaceAfter && (letterAfter || !letterBefore);
    const right = !spaceBefore && (letterBefore || !letterAfter);
    const length = end - at;
    const piece = addText(source.slice(at, end));
    const start = at;
    at = end;
    const tooLong = character === '~' && length > 2;
    const opens = left && !tooLong && (character !== '_' || !right || !letterBefore);
    const closes = right && !tooLong && (character !== '_' || !left || !letterAfter);
    if (!opens && !closes) return;
    const delimiter: Delimiter = {
      ...{ piece, character, length, original: length, opens, closes },
      ...{ previous: lastDelimiter, next: null, at: start, depth: 0 },
    };
    if (lastDelimiter) lastDelimiter.next = delimiter;
    lastDelimiter = delimiter;
  }

  /** Pairs the delimiters above `bottom` and forgets them. */
  function pairDelimiters(bottom: Delimiter | null): void {
    /** By kind of closer, where in the source openers for it may begin: keeps the search linear. */
    const openersFrom = new Map<string, number>();
    let closer = bottom ? bottom.next : firstDelimiter(lastDelimiter);
    while (closer) {
      if (!closer.closes) {
        closer = closer.next;
        continue;
      }
      const strike = closer.character === '~';
      const kind = `${closer.character}${strike ? closer.length : closer.original % 3}${closer.opens}`;
      const from = openersFrom.get(kind) ?? 0;
      let opener = closer.previous;
      while (opener && opener !== bottom && opener.at >= from && !pairs(opener, closer)) opener = opener.previous;
      if (opener && opener !== bottom && opener.at >= from) {
        closer = join(opener, closer);
        continue;
      }
      openersFrom.set(kind, closer.at);
      const next: Delimiter | null = closer.next;
      if (!closer.opens) removeDelimiter(closer);
      closer = next;
    }
    while (lastDelimiter && lastDelimiter !== bottom) removeDelimiter(lastDelimiter);
  }

  /** Makes one emphasis of a pair; returns the closer to go on with. */
  function join(opener: Delimiter, closer: Delimiter): Delimiter | null {
    while (closer.previous && closer.previous !== opener) removeDelimiter(closer.previous);
    const strike = closer.character === '~';
    const used = strike ? closer.length : opener.length >= 2 && closer.length >= 2 ? 2 : 1;
    shorten(opener, used);
    shorten(closer, used);
    const first = opener.piece.next;
    const last = closer.piece.previous;
    if (first && last && first !== closer.piece && opener.depth < depthMax) {
      wrap(first, last, { type: strike ? 'strike' : used === 2 ? 'strong' : 'emphasis', children: [] });
      opener.depth++;
    }
    if (opener.length === 0) removeDelimiter(opener);
    if (closer.length > 0) return closer;
    const next = closer.next;
    removeDelimiter(closer);
    return next;
  }

  function closeBracket(): void {
    const bracket = brackets.pop();
    at++;
    if (!bracket) {
      addText(']');
      return;
    }
    const active = bracket.image || brackets.length >= inactiveBelow;
    inactiveBelow = Math.min(inactiveBelow, brackets.length);
    const target = active ? (readTarget(source, at) ?? readReferenceLink(source, bracket.start, at, references)) : null;
    if (!target) {
      addText(']');
      return;
    }
    at = target.end;
    pairDelimiters(bracket.delimiter);
    const first = bracket.piece.next;
    bracket.piece.inline = { type: 'text', text: '' };
    const href = safeHref(target.href);
    if (!bracket.image) inactiveBelow = brackets.length;
    if (bracket.image) {
      const alt = first ? plainWords(unfold(first)).replace(/\s+/g, ' ').trim() : '';
      tail = bracket.piece;
      tail.next = null;
      append(href === null ? { type: 'text', text: alt } : { type: 'image', href, alt });
    } else if (href !== null && first) wrap(first, tail, { type: 'link', href, children: [] });
    else if (href !== null) append({ type: 'link', href, children: [] });
  }

  function readCode(): void {
    let end = at + 1;
    while (source[end] === '`') end++;
    const length = end - at;
    codeRuns ??= backtickRuns(source);
    const starts = codeRuns.get(length) ?? [];
    while (starts.length > 0 && (starts.at(-1) ?? 0) < end) starts.pop();
    const close = starts.at(-1);
    if (close === undefined) {
      addText(source.slice(at, end));
      at = end;
      return;
    }
    const text = source.slice(end, close).replaceAll('\n', ' ');
    const padded = text.startsWith(' ') && text.endsWith(' ') && /[^ ]/.test(text);
    append({ type: 'code', text: padded ? text.slice(1, -1) : text });
    at = close + length;
  }

  function readAngle(): boolean {
    const found = angleAddress(source, at);
    if (!found) return false;
    append(found.inline);
    at = found.end;
    return true;
  }

  function readUrl(): boolean {
    if (letter.test(characterBefore(source, at))) return false;
    const url = bareUrlAt(source, at);
    const href = url && safeHref(/^www/i.test(url) ? `http://${url}` : url);
    if (!url || !href) return false;
    append({ type: 'link', href, children: [{ type: 'text', text: url }] });
    at += url.length;
    return true;
  }

  function openBracket(image: boolean): void {
    const piece = addText(image ? '![' : '[');
    at += image ? 2 : 1;
    brackets.push({ piece, image, start: at, delimiter: lastDelimiter });
  }

  /** Takes the bare e-mail address that begins here. */
  function readEmail(): boolean {
    while (emails[0] && emails[0][0] < at) emails.shift();
    if (emails[0]?.[0] !== at) return false;
    const text = source.slice(at, emails[0][1]);
    append({ type: 'link', href: `mailto:${text}`, children: [{ type: 'text', text }] });
    at += text.length;
    return true;
  }

  while (at < source.length) {
    if (readEmail()) continue;
    plainRun.lastIndex = at;
    const run = plainRun.exec(source)?.[0].slice(0, emails[0] && emails[0][0] - at);
    if (run !== undefined) {
      addText(run);
      at += run.length;
      continue;
    }
    const character = source[at] ?? '';
    if (character === '*' || character === '_' || character === '~') readDelimiters(character);
    else if (character === '`') readCode();
    else if (character === '[') openBracket(false);
    else if (character === '!' && source[at + 1] === '[') openBracket(true);
    else if (character === ']') closeBracket();
    else if (character === '\n') {
      append(lastText(tail).endsWith('  ') ? { type: 'break' } : { type: 'text', text: '\n' });
      at++;
    } else if (character === '\\' && source[at + 1] === '\n') {
      append({ type: 'break' });
      at += 2;
    } else if (character === '\\' && isAsciiPunctuation(source[at + 1] ?? '')) {
      addText(source[at + 1] ?? '');
      at += 2;
    } else if (character === '<' && readAngle()) continue;
    else if (/[hw]/i.test(character) && readUrl()) continue;
    else {
      const found = character === '&' ? readReference(source, at) : null;
      addText(found ? found.character : character);
      at += found ? found.length : 1;
    }
  }
  pairDelimiters(null);
  return head.next ? unfold(head.next) : [];
}

function pairs(opener: Delimiter, closer: Delimiter): boolean {
  if (!opener.opens || opener.character !== closer.character) return false;
  if (closer.character === '~') return opener.length === closer.length;
  const either = opener.closes || closer.opens;
  return !either || closer.original % 3 === 0 || (opener.original + closer.original) % 3 !== 0;
}

function shorten(delimiter: Delimiter, used: number): void {
  delimiter.length -= used;
  delimiter.piece.inline = { type: 'text', text: delimiter.character.repeat(delimiter.length) };
}

function firstDelimiter(last: Delimiter | null): Delimiter | null {
  let first = last;
  while (first?.previous) first = first.previous;
  return first;
}

/** The nodes of a row of pieces, children filled in. */
function unfold(first: Piece): Inline[] {
  const inlines: Inline[] = [];
  for (let piece: Piece | null = first; piece; piece = piece.next) {
    const { inline, inside } = piece;
    inlines.push(inside && 'children' in inline ? { ...inline, children: unfold(inside.first) } : inline);
  }
  return inlines;
}

function lastText(piece: Piece): string {
  return piece.inline.type === 'text' ? piece.inline.text : '';
}

function characterBefore(source: string, at: number): string {
  if (at === 0) return ' ';
  const unit = source.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff ? source.slice(at - 2, at) : (source[at - 1] ?? ' ');
}

/** Where backtick runs of each length begin, last one first. */
function backtickRuns(source: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const match of source.matchAll(/`+/g)) {
    const starts = runs.get(match[0].length);
    if (starts) starts.push(match.index);
    else runs.set(match[0].length, [match.index]);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}
