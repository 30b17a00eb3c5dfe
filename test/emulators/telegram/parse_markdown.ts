import { badRequest, type Entity } from './wire.ts';

const reserved = '_*[]()~`>#+-=|{}.!';
const solid = new Set(['code', 'pre']);

interface Open {
  type: string;
  name: string;
  offset: number;
  at: number;
  language?: string | undefined;
}

/**
 * MarkdownV2 as strictly as Telegram reads it (tdlib/td MessageEntity.cpp `parse_markdown_v2`): every reserved character
 * is escaped or part of an entity. Throws Telegram's own texts, offsets in bytes of the source.
 */
export function parseMarkdownV2(source: string): { text: string; entities: Entity[] } {
  let text = '';
  const entities: Entity[] = [];
  const open: Open[] = [];
  let quote: { offset: number } | null = null;
  const fail = (sentence: string) => badRequest(`can't parse entities: ${sentence}`);
  const bytes = (at: number) => Buffer.byteLength(source.slice(0, at));
  const reservedAt = (at: number) =>
    fail(`Character '${source[at]}' is reserved and must be escaped with the preceding '\\'`);
  const add = (entity: Entity) => {
    if (entity.length > 0) entities.push(entity);
  };
  const unclosed = (entry: Open) => fail(`Can't find end of ${entry.name} entity at byte offset ${bytes(entry.at)}`);
  const endQuote = (type: string) => {
    const last = open.at(-1);
    if (last) throw unclosed(last);
    add({ type, offset: quote!.offset, length: text.length - quote!.offset });
    quote = null;
  };

  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    const top = open.at(-1);
    const inSolid = top !== undefined && solid.has(top.type);
    const next = source[at + 1];
    if (char === '\\' && next !== undefined && next.charCodeAt(0) > 0 && next.charCodeAt(0) <= 126) {
      text += next;
      at += 2;
      continue;
    }
    if (char === '\n' && !inSolid && quote) {
      if (next === '>') {
        text += '\n';
        at += 2;
        continue;
      }
      endQuote('blockquote');
    }
    if (inSolid ? char !== '`' : !reserved.includes(char)) {
      text += char;
      at += 1;
      continue;
    }
    if (top && ends(top.type, source, at)) {
      open.pop();
      const entity: Entity = { type: top.type, offset: top.offset, length: text.length - top.offset };
      if (top.language) entity.language = top.language;
      at += markLength(top.type);
      if (top.type === 'text_link') {
        const link = readLink(source, at);
        if (link.at < 0) throw fail(`Can't find end of a URL at byte offset ${bytes(at + 1)}`);
        entity.url = link.url ?? text.slice(top.offset);
        at = link.at;
      }
      add(entity);
      continue;
    }
    if (char === '>' && !quote && open.length === 0 && (at === 0 || source[at - 1] === '\n')) {
      quote = { offset: text.length };
      at += 1;
      continue;
    }
    if (source.startsWith('||', at) && quote && open.length === 0 && isLineEnd(source[at + 2])) {
      endQuote('expandable_blockquote');
      at += 2;
      continue;
    }
    const begun = begin(source, at);
    if (!begun) throw reservedAt(at);
    open.push({ ...begun, offset: text.length, at });
    at = begun.after;
  }
  const left = open.at(-1);
  if (left) throw unclosed(left);
  if (quote) endQuote('blockquote');
  return { text, entities };
}

const isLineEnd = (char: string | undefined) => char === undefined || char === '\n';

function ends(type: string, source: string, at: number): boolean {
  switch (type) {
    case 'bold':
      return source[at] === '*';
    case 'italic':
      return source[at] === '_' && source[at + 1] !== '_';
    case 'underline':
      return source.startsWith('__', at);
    case 'strikethrough':
      return source[at] === '~';
    case 'spoiler':
      return source.startsWith('||', at);
    case 'code':
      return source[at] === '`';
    case 'pre':
      return source.startsWith('```', at);
    default:
      return source[at] === ']';
  }
}

function markLength(type: string): number {
  if (type === 'pre') return 3;
  return type === 'underline' || type === 'spoiler' ? 2 : 1;
}

function begin(
  source: string,
  at: number,
): { type: string; name: string; after: number; language?: string | undefined } | null {
  switch (source[at]) {
    case '_':
      return source[at + 1] === '_'
        ? { type: 'underline', name: 'Underline', after: at + 2 }
        : { type: 'italic', name: 'Italic', after: at + 1 };
    case '*':
      return { type: 'bold', name: 'Bold', after: at + 1 };
    case '~':
      return { type: 'strikethrough', name: 'Strikethrough', after: at + 1 };
    case '|':
      return source[at + 1] === '|' ? { type: 'spoiler', name: 'Spoiler', after: at + 2 } : null;
    case '[':
      return { type: 'text_link', name: 'TextUrl', after: at + 1 };
    case '!':
      return source[at + 1] === '[' ? { type: 'text_link', name: 'CustomEmoji', after: at + 2 } : null;
    case '`':
      return source.startsWith('```', at) ? beginPre(source, at) : { type: 'code', name: 'Code', after: at + 1 };
    default:
      return null;
  }
}

function beginPre(source: string, at: number) {
  let after = at + 3;
  let languageEnd = after;
  while (languageEnd < source.length && !/[\s`]/.test(source[languageEnd]!)) languageEnd += 1;
  let language: string | undefined;
  if (languageEnd > after && languageEnd < source.length && source[languageEnd] !== '`') {
    language = source.slice(after, languageEnd);
    after = languageEnd;
  }
  if (/^(\r\n|\n\r)/.test(source.slice(after, after + 2))) after += 2;
  else if (/[\r\n]/.test(source[after] ?? '')) after += 1;
  return { type: 'pre', name: language ? 'PreCode' : 'Pre', after, language };
}

/** `(url)` after the text; without one the text itself is the address. `at` -1: not closed. */
function readLink(source: string, at: number): { url: string | null; at: number } {
  if (source[at] !== '(') return { url: null, at };
  let url = '';
  for (let next = at + 1; next < source.length; next += 1) {
    const char = source[next]!;
    if (char === ')') return { url, at: next + 1 };
    if (char === '\\' && next + 1 < source.length) next += 1;
    url += source[next];
  }
  return { url: null, at: -1 };
}
