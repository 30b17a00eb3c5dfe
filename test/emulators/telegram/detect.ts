import type { Entity } from './wire.ts';

const patterns: [string, RegExp][] = [
  [
    'url',
    /\b(?:https?:\/\/[^\s<>"']+|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|me|ru|de|app|ai|md|sh)\b(?:\/[^\s<>"']*)?)/gi,
  ],
  ['email', /\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b/gi],
  ['mention', /(?<![\w@/])@[a-z][a-z0-9_]{2,31}\b/gi],
  ['bot_command', /(?<![\w/<>])\/[a-z0-9_]{1,64}(?:@[a-z0-9_]{3,32})?(?![\w/])/gi],
  ['hashtag', /(?<![\w#])#(?!\d+\b)[\p{L}\d_]+/giu],
  ['cashtag', /(?<![\w$])\$[A-Z]{3,8}\b/g],
];
const quick = /[@/#$.]/;

/** What Telegram makes live in any text by itself, outside the given entities' code, pre and links. */
export function detectEntities(text: string, taken: Entity[] = []): Entity[] {
  if (!quick.test(text)) return [];
  const blocked = taken.filter((entity) => /^(code|pre|text_link|text_mention)$/.test(entity.type));
  const found: Entity[] = [];
  for (const [type, pattern] of patterns) {
    for (const match of text.matchAll(pattern)) {
      const value = type === 'url' ? match[0].replace(/[.,!?;:)\]]+$/, '') : match[0];
      const entity: Entity = { type, offset: match.index, length: value.length };
      if (![...blocked, ...found].some((other) => overlaps(entity, other))) found.push(entity);
    }
  }
  return found.sort((a, b) => a.offset - b.offset);
}

function overlaps(a: Entity, b: Entity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}
