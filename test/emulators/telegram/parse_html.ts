import { badRequest, type Entity } from './wire.ts';

const typeOf: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  a: 'text_link',
  'tg-emoji': 'custom_emoji',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};
const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface Open {
  tag: string;
  offset: number;
  attributes: Map<string, string>;
}

const fail = (sentence: string) => badRequest(`can't parse entities: ${sentence}`);
const isSpace = (char: string | undefined) => char !== undefined && ' \t\r\n\0\v'.includes(char);

/** HTML as Telegram reads it (tdlib/td MessageEntity.cpp `parse_html`), with its error texts and byte offsets. */
export function parseHtml(source: string): { text: string; entities: Entity[] } {
  let text = '';
  const entities: Entity[] = [];
  const open: Open[] = [];
  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    if (char === '&') {
      const decoded = decode(source, at);
      text += decoded.text;
      at = decoded.at;
    } else if (char !== '<') {
      text += char;
      at += 1;
    } else if (source[at + 1] === '/') {
      const top = open.pop();
      at = readEndTag(source, at, top);
      const entity = entityOf(top!, text, open, entities);
      if (entity) entities.push(entity);
    } else {
      const tag = readStartTag(source, at);
      open.push({ tag: tag.name, offset: text.length, attributes: tag.attributes });
      at = tag.at;
    }
  }
  const left = open.at(-1);
  if (left) throw fail(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities };
}

function entityOf(top: Open, text: string, open: Open[], entities: Entity[]): Entity | null {
  const entity: Entity = { type: typeOf[top.tag]!, offset: top.offset, length: text.length - top.offset };
  if (entity.length === 0) return null;
  if (top.tag === 'a') {
    entity.url = top.attributes.get('href') || text.slice(top.offset);
  } else if (top.tag === 'tg-emoji') {
    entity.custom_emoji_id = top.attributes.get('emoji-id');
  } else if (top.tag === 'blockquote' && top.attributes.has('expandable')) {
    entity.type = 'expandable_blockquote';
  } else if (top.tag === 'pre' || top.tag === 'code') {
    const other = top.tag === 'pre' ? 'code' : 'pre';
    const own = languageOf(top);
    const outer = open.at(-1);
    if (own && outer?.tag === other && top.tag === 'code') entity.language = own;
    const inner = entities.at(-1);
    if (inner?.type === other && inner.offset === entity.offset && inner.length === entity.length) {
      const language = top.tag === 'pre' ? inner.language : own;
      if (language) {
        entities.pop();
        return { ...entity, type: 'pre', language };
      }
    }
  }
  return entity;
}

const languageOf = (tag: Open) => /^language-(.+)$/.exec(tag.attributes.get('class') ?? '')?.[1];

function readEndTag(source: string, begin: number, top: Open | undefined): number {
  const where = Buffer.byteLength(source.slice(0, begin));
  if (!top) throw fail(`Unexpected end tag at byte offset ${where}`);
  let at = begin + 2;
  while (at < source.length && !isSpace(source[at]) && source[at] !== '>') at += 1;
  const name = source.slice(begin + 2, at).toLowerCase();
  while (isSpace(source[at])) at += 1;
  if (source[at] !== '>') throw fail(`Unclosed end tag at byte offset ${where}`);
  if (name !== '' && name !== top.tag) {
    throw fail(`Unmatched end tag at byte offset ${where}, expected "</${top.tag}>", found "</${name}>"`);
  }
  return at + 1;
}

function readStartTag(source: string, begin: number): { name: string; attributes: Map<string, string>; at: number } {
  const bytes = (at: number) => Buffer.byteLength(source.slice(0, at));
  const end = source.length;
  let at = begin + 1;
  while (at < end && !isSpace(source[at]) && source[at] !== '>') at += 1;
  if (at === end) throw fail(`Unclosed start tag at byte offset ${bytes(begin)}`);
  const name = source.slice(begin + 1, at).toLowerCase();
  if (!(name in typeOf)) throw fail(`Unsupported start tag "${name}" at byte offset ${bytes(begin)}`);
  const attributes = new Map<string, string>();
  while (source[at] !== '>') {
    while (isSpace(source[at])) at += 1;
    if (source[at] === '>') break;
    const nameBegin = at;
    while (at < end && !isSpace(source[at]) && source[at] !== '=' && source[at] !== '>') at += 1;
    const attribute = source.slice(nameBegin, at).toLowerCase();
    if (at === end) throw fail(`Unclosed start tag "${name}" at byte offset ${bytes(begin)}`);
    if (attribute === '') throw fail(`Empty attribute name in the tag "${name}" at byte offset ${bytes(begin)}`);
    while (isSpace(source[at])) at += 1;
    if (source[at] !== '=') {
      attributes.set(attribute, '');
      continue;
    }
    at += 1;
    while (isSpace(source[at])) at += 1;
    if (at === end) throw fail(`Unclosed start tag "${name}" at byte offset ${bytes(begin)}`);
    const value = readValue(source, at, begin);
    attributes.set(attribute, value.text);
    at = value.at;
  }
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler') {
    throw fail(`Tag "span" must have class "tg-spoiler" at byte offset ${bytes(begin)}`);
  }
  return { name, attributes, at: at + 1 };
}

function readValue(source: string, begin: number, tagBegin: number): { text: string; at: number } {
  const bytes = (at: number) => Buffer.byteLength(source.slice(0, at));
  const mark = source[begin];
  let at = begin;
  if (mark !== '"' && mark !== "'") {
    while (/[A-Za-z0-9.-]/.test(source[at] ?? '')) at += 1;
    if (!isSpace(source[at]) && source[at] !== '>') {
      throw fail(`Unexpected end of name token at byte offset ${bytes(begin)}`);
    }
    return { text: source.slice(begin, at).toLowerCase(), at };
  }
  let text = '';
  at += 1;
  while (at < source.length && source[at] !== mark) {
    const piece = source[at] === '&' ? decode(source, at) : { text: source[at]!, at: at + 1 };
    text += piece.text;
    at = piece.at;
  }
  if (at >= source.length) throw fail(`Unclosed start tag at byte offset ${bytes(tagBegin)}`);
  return { text, at: at + 1 };
}

/** An unknown or wrong character reference stays as it is. */
function decode(source: string, at: number): { text: string; at: number } {
  const found = /^&(?:#(\d{1,8})|#x([0-9a-f]{1,7})|([a-z]+));?/i.exec(source.slice(at, at + 12));
  if (found) {
    const code = found[1] ? Number(found[1]) : found[2] ? Number.parseInt(found[2], 16) : 0;
    const text = found[3] ? named[found[3]] : validCode(code);
    if (text) return { text, at: at + found[0].length };
  }
  return { text: '&', at: at + 1 };
}

const validCode = (code: number) =>
  code > 0 && code < 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : undefined;
