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
  /** A quotation lasts over lines that begin with `>`; what opens inside must close inside. */
  let quote: { offset: number; depth: number; type: string } | null = null;
  let lineBegins = true;
  const unclosed = (entry: Open) =>
    fail(`Can't find end of ${entry.name} entity at byte offset ${bytes(source, entry.at)}`);
  const add = (entity: Entity) => {
    if (entity.length > 0) entities.push(entity);
  };
  const endQuote = ({ offset, depth, type }: NonNullable<typeof quote>) => {
    if (open.length > depth) throw unclosed(open.at(-1)!);
    add({ type, offset, length: text.length - offset });
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
      lineBegins = false;
    } else if (inSolid ? char !== '`' : !reserved.includes(char)) {
      text += char;
      at += 1;
      lineBegins = char === '\n' || char === '\r';
      if (char === '\n' && quote && !inSolid) {
        if (source[at] === '>' && quote.type === 'blockquote') at += 1;
        else endQuote(quote);
      }
    } else if (top && ends(top.type, source, at)) {
      open.pop();
      const entity: Entity = { type: top.type, offset: top.offset, length: text.length - top.offset };
      if (top.language) entity.language = top.language;
      at = endOf(source, at, entity, text);
      add(entity);
    } else if (char === '>' && lineBegins && !quote) {
      quote = { offset: text.length, depth: open.length, type: 'blockquote' };
      at += 1;
      lineBegins = false;
    } else if (quote && open.length === quote.depth && /^\|\|(\r?\n|$)/.test(source.slice(at, at + 4))) {
      quote.type = 'expandable_blockquote';
      at += 2;
    } else {
      const begun = begin(source, at);
      if (!begun) throw fail(`Character '${char}' is reserved and must be escaped with the preceding '\\'`);
      open.push({ ...begun, offset: text.length, at });
      at = begun.after;
    }
  }
  if (quote) endQuote(quote);
  const left = open.at(-1);
  if (left) throw unclosed(left);
  return { text, entities };
}

const fail = (sentence: string) => badRequest(`can't parse entities: ${sentence}`);
const bytes = (source: string, at: number) => Buffer.byteLength(source.slice(0, at));

/** Reads the closing mark, with the address of links and custom emoji; returns the position behind it. */
function endOf(source: string, at: number, entity: Entity, text: string): number {
  const after = at + markLength(entity.type);
  if (entity.type !== 'text_link' && entity.type !== 'custom_emoji') return after;
  const isEmoji = entity.type === 'custom_emoji';
  if (isEmoji && source[after] !== '(') throw fail('Custom emoji entity must contain a tg://emoji URL');
  const link = readLink(source, after);
  if (link.at < 0) {
    throw fail(`Can't find end of a ${isEmoji ? 'custom emoji ' : ''}URL at byte offset ${bytes(source, after + 1)}`);
  }
  if (isEmoji) {
    const id = /^tg:(?:\/\/)?emoji\/?\?(?:.*&)?id=([1-9]\d*)/i.exec(link.url ?? '')?.[1];
    if (!id) throw fail('Invalid custom emoji identifier specified');
    entity.custom_emoji_id = id;
  } else entity.url = link.url ?? text.slice(entity.offset);
  return link.at;
}

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
      return source[at + 1] === '[' ? { type: 'custom_emoji', name: 'CustomEmoji', after: at + 2 } : null;
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
