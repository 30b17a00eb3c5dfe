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
