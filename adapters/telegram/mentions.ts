/**
 * Words that are not ours must not ping anybody (rules 37, 84), and Telegram makes a mention of every `@name` in a
 * text. Pure.
 */

/** Where Telegram's servers see a mention: tdlib MessageEntity.cpp, `match_mentions`. */
const mention = /(?<![\p{L}\p{N}_])@(?=[A-Za-z0-9_])/gu;
/** What Telegram reads as one address up to an `@` in its path, where it sees no mention. */
const address = /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?\/[\w\-.~%/+=&?#@]*$/i;
const addressCharsMax = 2048;

/**
 * Offsets in `text` where an invisible character has to stand to break a mention, in order. Code (ranges in order,
 * apart from each other) is left alone: Telegram sees no mention there, and code survives byte for byte.
 */
export function mentionBreaks(text: string, code: readonly { start: number; end: number }[]): number[] {
  const places: number[] = [];
  let nextCode = 0;
  let scheme = -1;
  let nextScheme = text.indexOf('://');
  for (const { index: at } of text.matchAll(mention)) {
    while (nextCode < code.length && code[nextCode]!.end <= at) nextCode++;
    if (nextCode < code.length && code[nextCode]!.start <= at) continue;
    while (nextScheme !== -1 && nextScheme < at) {
      scheme = nextScheme;
      nextScheme = text.indexOf('://', nextScheme + 1);
    }
    if (scheme !== -1 && at - scheme <= addressCharsMax && isAddress(text, scheme, at)) continue;
    places.push(at + 1);
  }
  return places;
}

function isAddress(text: string, scheme: number, at: number): boolean {
  const name = text.slice(scheme - 5, scheme).toLowerCase() === 'https' ? 5 : 4;
  return scheme >= name && address.test(text.slice(scheme - name, at));
}

/** How many of the ordered `places` lie before `offset`. */
export function countBefore(places: readonly number[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
