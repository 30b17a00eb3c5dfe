/** Cutting the words of one block in two: where people would, and never inside what they see as one character. */
import type { Inline } from './markdown.ts';
import { normalizeInlines } from './markdown_normal.ts';

/** The share of a piece that may stay unused to end it at a sentence or a line. */
const sentenceShare = 0.4;
const graphemes = new Intl.Segmenter();
/** Looked at on either side of a cut to find where a character begins; more than any has in sane text. */
const graphemeUnitsMax = 64;

/** Unused space up to this share of the limit is not worth another measurement. */
const slackShare = 0.02;
const guessesMax = 6;
/** A piece is sought among so many times the characters that are expected to fit. */
const lookAhead = 16;

/**
 * The largest number from 0 to `total` whose `size` is at most `limit`, or one that nearly fills it. Sizes grow with the
 * number; 0 has none. Asks about `guess` first and goes on in proportion, so that a few measurements do.
 */
export function largest(total: number, guess: number, limit: number, size: (count: number) => number): number {
  let [low, lowSize, high, highSize] = [0, 0, total + 1, Infinity];
  let probe = Math.min(Math.max(guess, 1), total);
  for (let asked = 1; high - low > 1; asked++) {
    const found = size(probe);
    if (found > limit) [high, highSize] = [probe, found];
    else [low, lowSize] = [probe, found];
    if (limit - lowSize <= limit * slackShare) break;
    const middle = (low + high) >> 1;
    if (asked > guessesMax) probe = middle;
    else if (highSize < Infinity) probe = low + Math.floor(((high - low) * (limit - lowSize)) / (highSize - lowSize));
    else if (high > total && lowSize > 0) probe = Math.floor((low * limit) / lowSize);
    else probe = high > total ? low * 2 : middle;
    probe = Math.min(Math.max(probe, low + 1), high - 1);
  }
  return low;
}

/** Cuts code at a line end, or inside a line when not even one fits; null when nothing does. */
export function cutCode(
  text: string,
  guess: number,
  limit: number,
  size: (text: string) => number,
): { first: string; rest: string } | null {
  const most = largest(Math.min(text.length - 1, guess * lookAhead), guess, limit, (count) =>
    size(text.slice(0, count)),
  );
  if (most === 0) return null;
  let lineEnd = text.lastIndexOf('\n', most);
  // Blank lines at the end stay with the last line that has something on it.
  if (lineEnd > 0 && text.slice(lineEnd).trim() === '') lineEnd = text.lastIndexOf('\n', text.trimEnd().length - 1);
  if (lineEnd > 0 && text.slice(0, lineEnd).trim() !== '') {
    return { first: text.slice(0, lineEnd), rest: text.slice(lineEnd + 1) };
  }
  const cut = characterStart(text, most);
  return { first: text.slice(0, cut), rest: text.slice(cut) };
}

/** Cuts a row of inlines; what is marked is marked on both sides. Null when not even one character fits. */
export function cutInlines(
  inlines: readonly Inline[],
  guess: number,
  limit: number,
  size: (inlines: Inline[]) => number,
): { first: Inline[]; rest: Inline[] } | null {
  const total = unitsUpTo(inlines, guess * lookAhead);
  let most = largest(total - 1, guess, limit, (count) => size(normalizeInlines(take(inlines, count))));
  while (most > 0) {
    const cut = boundary(inlines, most);
    const first = normalizeInlines(take(inlines, cut));
    if (first.length > 0 && size(first) <= limit) return { first, rest: trimFront(drop(inlines, cut)) };
    most = cut - 1;
  }
  return null;
}

function unitsOf(inline: Inline): number {
  if ('children' in inline) return inline.children.reduce((sum, child) => sum + unitsOf(child), 0);
  return inline.type === 'text' || inline.type === 'code' ? inline.text.length : 1;
}

/** Characters of the words, images and breaks as one; in all, or some number beyond `max`. */
export function unitsUpTo(inlines: readonly Inline[], max: number): number {
  let units = 0;
  for (const inline of inlines) {
    units += unitsOf(inline);
    if (units > max) break;
  }
  return units;
}

function take(inlines: readonly Inline[], count: number): Inline[] {
  const taken: Inline[] = [];
  let left = count;
  for (const inline of inlines) {
    if (left <= 0) break;
    const units = unitsOf(inline);
    if (units <= left) taken.push(inline);
    else if ('children' in inline) taken.push({ ...inline, children: take(inline.children, left) });
    else if ('text' in inline) taken.push({ ...inline, text: inline.text.slice(0, left) });
    left -= units;
  }
  return taken;
}

function drop(inlines: readonly Inline[], count: number): Inline[] {
  let left = count;
  for (const [index, inline] of inlines.entries()) {
    if (left <= 0) return inlines.slice(index);
    const units = unitsOf(inline);
    if (units > left) {
      const kept = inlines.slice(index);
      if ('children' in inline) kept[0] = { ...inline, children: drop(inline.children, left) };
      else if ('text' in inline) kept[0] = { ...inline, text: inline.text.slice(left) };
      return kept;
    }
    left -= units;
  }
  return [];
}

/** Normal form of what is left of a row in normal form: only its beginning can have changed. */
function trimFront(inlines: Inline[]): Inline[] {
  for (const [index, inline] of inlines.entries()) {
    if (inline.type === 'break') continue;
    const text = inline.type === 'text' ? inline.text.trimStart() : null;
    const first: Inline[] = text === null ? normalizeInlines([inline]) : [{ type: 'text', text }];
    if (text !== '' && first.length > 0) return [...first, ...inlines.slice(index + 1)];
  }
  return [];
}

/** Code, links and images are one word here: they are cut only when nothing else is left. */
const solid = '\u0000';

function boundary(inlines: readonly Inline[], most: number): number {
  const text = flat(inlines, most + 1, false);
  const before = text.slice(0, most);
  const lineEnd = before.lastIndexOf('\n') + 1;
  if (lineEnd > most * (1 - sentenceShare)) return lineEnd;
  const sentenceEnd = lastSentenceEnd(text, most);
  if (sentenceEnd > most * (1 - sentenceShare)) return sentenceEnd;
  if (/^\s$/.test(text[most] ?? '')) return most;
  for (let at = most; at > 1; at--) if (/^\s$/.test(text[at - 1] ?? '')) return at;
  if (text[most] === solid && text[most - 1] === solid) {
    let start = most;
    while (text[start - 1] === solid) start--;
    if (start > 0) return start;
  }
  return characterStart(flat(inlines, most + graphemeUnitsMax, true), most);
}

/** The position behind the last sentence that ends at or before `most`; 0 when there is none. */
function lastSentenceEnd(text: string, most: number): number {
  for (let at = most; at > 0; at--) {
    const [last, next] = [text[at - 1] ?? '', text[at] ?? ' '];
    if (/[。！？]/.test(last) || (/[.!?…]/.test(last) && /\s/.test(next))) return at;
  }
  return 0;
}

/** The first `max` units as one text; what must not be cut is hidden unless `whole`. */
function flat(inlines: readonly Inline[], max: number, whole: boolean): string {
  let text = '';
  for (const inline of inlines) {
    if (text.length >= max) break;
    if (inline.type === 'text' || (inline.type === 'code' && whole)) text += inline.text.slice(0, max - text.length);
    else if (inline.type === 'break') text += '\n';
    else if (inline.type === 'image' || inline.type === 'code' || (inline.type === 'link' && !whole)) {
      text += solid.repeat(Math.min(max - text.length, unitsOf(inline)));
    } else text += flat(inline.children, max - text.length, whole);
  }
  return text;
}

/** The last position up to `at`, but never 0, where a character as people see it begins. */
function characterStart(text: string, at: number): number {
  const from = Math.max(0, at - graphemeUnitsMax);
  const window = text.slice(from, at + graphemeUnitsMax);
  const start = graphemes.segment(window).containing(at - from)?.index ?? at - from;
  if (start > 0) return from + start;
  const low = text.charCodeAt(at);
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? at - 1 : at;
}
