/** Which addresses may become links, and where bare ones begin and end in text. */

/** As CommonMark defines what may stand between `<` and `>`. */
export const emailAddress =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]*\.)+[a-zA-Z0-9-]*[a-zA-Z0-9]$/;
export const absoluteAddress = /^[a-zA-Z][a-zA-Z0-9.+-]{1,31}:[^\s<>]*$/;

const allowed = /^(?:https?:\/\/[^/?#]|mailto:.|tel:.)/i;

/** Never literal in an address: spaces, controls, direction marks, and what would end or change Markdown around it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const unsafe = /[\s\x00-\x20\x7f-\x9f<>"\\^`{|}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** The address as it may be shown as a link, or null: only http, https, mailto and tel, percent-encoded where needed. */
export function safeHref(href: string): string | null {
  const trimmed = href.trim();
  return allowed.test(trimmed) ? trimmed.replace(unsafe, encodeURIComponent) : null;
}

/** Stops at quotes, brackets and East Asian punctuation as well as at spaces: text often goes on without a space. */
const bareUrl =
  /(?:https?:\/\/|www\.)[\p{L}\p{N}_][^\s<>[\]"`|\\^{}«»“”„‘’\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]*/iuy;

/** The bare http, https or www address that begins at `at`, without punctuation that belongs to the sentence. */
export function bareUrlAt(source: string, at: number): string | null {
  bareUrl.lastIndex = at;
  const run = bareUrl.exec(source)?.[0];
  if (run === undefined) return null;
  let closing = 0;
  for (const character of run) closing += character === ')' ? 1 : character === '(' ? -1 : 0;
  let end = run.length;
  while (end > 0) {
    const last = run[end - 1] ?? '';
    if (last === ')' && closing > 0) closing--;
    else if (!/[?!.,:;*_~']/.test(last)) break;
    end--;
  }
  const url = run.slice(0, end);
  return /^(?:https?:\/\/|www\.)./i.test(url) ? url : null;
}

const localPart = /[a-zA-Z0-9.+_-]/;
const hostPart = /[a-zA-Z0-9.-]/;

/** Bare e-mail addresses in Markdown source, in order, as [start, end). A backslash before the `@` makes it text. */
export function bareEmails(source: string): [number, number][] {
  const found: [number, number][] = [];
  let from = 0;
  for (let at = source.indexOf('@'); at !== -1; at = source.indexOf('@', at + 1)) {
    let start = at;
    while (start > from && localPart.test(source[start - 1] ?? '')) start--;
    while (start < at && /[._+-]/.test(source[start] ?? '')) start++;
    let end = at + 1;
    while (end < source.length && hostPart.test(source[end] ?? '')) end++;
    while (end > at + 1 && /[.-]/.test(source[end - 1] ?? '')) end--;
    if (end - start <= 254 && emailAddress.test(source.slice(start, end))) {
      found.push([start, end]);
      from = end;
    } else from = at + 1;
  }
  return found;
}
