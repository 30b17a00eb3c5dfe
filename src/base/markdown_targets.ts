/** Where links lead: inline targets, reference labels and their definitions, addresses in angle brackets. */
import type { Inline } from './markdown.ts';
import { isAsciiPunctuation, unescapeMarkdown } from './markdown_entities.ts';
import { absoluteAddress, emailAddress, safeHref } from './markdown_links.ts';

const parenthesesMax = 32;
const labelCharsMax = 999;

/** Link definitions of the document by normalized label; `used` collects the labels that a link referred to. */
export interface References {
  hrefs: Map<string, string>;
  used: Set<string>;
}

export function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();
}

const angleHere = /<([^\s<>]+)>/y;

/** `<https://…>` or `<name@host>`. */
export function angleAddress(source: string, at: number): { inline: Inline; end: number } | null {
  angleHere.lastIndex = at;
  const address = angleHere.exec(source)?.[1];
  if (address === undefined) return null;
  const email = emailAddress.test(address);
  if (!email && !absoluteAddress.test(address)) return null;
  const href = safeHref(email ? `mailto:${address}` : address);
  if (href === null) return null;
  return { inline: { type: 'link', href, children: [{ type: 'text', text: address }] }, end: at + address.length + 2 };
}

/** Bounded, so that a missing end costs no more than this. */
const titleHere =
  /[ \t]*\n?[ \t]*(?:"(?:[^"\\]|\\[\s\S]){0,999}"|'(?:[^'\\]|\\[\s\S]){0,999}'|\((?:[^()\\]|\\[\s\S]){0,999}\))/y;
const pointyHere = /<((?:[^<>\n\\]|\\.){0,4000})>/y;
const labelHere = /\[((?:[^[\]\\]|\\[\s\S]){0,999})\]/y;
const spaceHere = /[ \t]*\n?[ \t]*/y;

/** `(destination "title")` after a label; the title is not kept. */
export function readTarget(source: string, at: number): { href: string; end: number } | null {
  if (source[at] !== '(') return null;
  let end = skip(spaceHere, source, at + 1);
  const destination = readDestination(source, end);
  if (!destination) return null;
  end = destination.end;
  const afterTitle = /[ \t\n]/.test(source[end] ?? '') ? skip(titleHere, source, end) : end;
  end = skip(spaceHere, source, afterTitle);
  return source[end] === ')' ? { href: destination.href, end: end + 1 } : null;
}

function readDestination(source: string, at: number): { href: string; end: number } | null {
  if (source[at] === '<') {
    pointyHere.lastIndex = at;
    const match = pointyHere.exec(source);
    return match && { href: unescapeMarkdown(match[1] ?? ''), end: at + match[0].length };
  }
  let open = 0;
  let end = at;
  for (; end < source.length; end++) {
    const character = source[end] ?? '';
    if (character <= ' ') break;
    if (character === '\\' && isAsciiPunctuation(source[end + 1] ?? '')) end++;
    else if (character === '(' && ++open > parenthesesMax) return null;
    else if (character === ')' && --open < 0) break;
  }
  return open > 0 ? null : { href: unescapeMarkdown(source.slice(at, end)), end };
}

/** `[text][label]`, `[label][]` or `[label]`, when the label is defined. */
export function readReferenceLink(
  source: string,
  textStart: number,
  at: number,
  references: References,
): { href: string; end: number } | null {
  if (references.hrefs.size === 0) return null;
  let end = at;
  let label = source.slice(textStart, Math.min(at - 1, textStart + labelCharsMax + 1));
  if (source[at] === '[') {
    labelHere.lastIndex = at;
    const match = labelHere.exec(source);
    if (match) end += match[0].length;
    if (match?.[1]) label = match[1];
  }
  if (label.length > labelCharsMax) return null;
  const key = normalizeLabel(label);
  const href = references.hrefs.get(key);
  if (href === undefined) return null;
  references.used.add(key);
  return { href, end };
}

function skip(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(source)?.[0].length ?? 0);
}

const definitionTitle =
  /^[ \t]+(?:"(?:[^"\\\n]|\\.){0,999}"|'(?:[^'\\\n]|\\.){0,999}'|\((?:[^()\\\n]|\\.){0,999}\))[ \t]*$/;

/**
 * The definition `[label]: address "title"` that `text` begins with. Only addresses that may be links define anything:
 * `[Anna]: hello` is something that Anna said.
 */
export function readDefinition(text: string): { label: string; href: string; length: number } | null {
  labelHere.lastIndex = 0;
  const label = text.startsWith('[') ? labelHere.exec(text) : null;
  const key = label && normalizeLabel(label[1] ?? '');
  if (!label || !key || text[label[0].length] !== ':') return null;
  const start = skip(spaceHere, text, label[0].length + 1);
  const destination = readDestination(text, start);
  const href = destination && safeHref(destination.href);
  if (!destination || !href) return null;
  const newline = text.indexOf('\n', destination.end);
  const end = newline === -1 ? text.length : newline;
  const after = text.slice(destination.end, end);
  if (after.trim() !== '' && !definitionTitle.test(after)) return null;
  return { label: key, href, length: Math.min(end + 1, text.length) };
}
