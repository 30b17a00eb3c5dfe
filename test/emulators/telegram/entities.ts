import { badRequest, type Entity } from './wire.ts';

const known = new Set(
  `mention hashtag cashtag bot_command url email phone_number bold italic underline strikethrough spoiler blockquote
  expandable_blockquote code pre text_link text_mention custom_emoji`.split(/\s+/),
);
/** Found again by Telegram itself, so sending them changes nothing. */
const detectedTypes = new Set('mention hashtag cashtag bot_command url email phone_number'.split(' '));
const splittable = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler']);
const priority: Record<string, number> = {
  blockquote: 0,
  expandable_blockquote: 0,
  pre: 10,
  code: 20,
  text_link: 49,
  text_mention: 49,
  bold: 90,
  italic: 91,
  underline: 92,
  strikethrough: 93,
  spoiler: 94,
  custom_emoji: 99,
};

/** Entities as sent, checked field by field. */
export function readEntities(value: unknown): Entity[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badRequest("can't parse entities: Expected an Array");
  return value.map((item: Entity) => {
    if (typeof item !== 'object' || item === null) throw badRequest("can't parse MessageEntity: Expected an Object");
    if (!known.has(item.type)) throw badRequest("can't parse MessageEntity: Unsupported type specified");
    for (const field of ['offset', 'length'] as const) {
      if (!Number.isInteger(Number(item[field])) || item[field] === undefined) {
        throw badRequest(`can't parse MessageEntity: Field "${field}" must be a valid Number`);
      }
    }
    if (item.type === 'text_link') checkLink(item.url);
    return { ...item, offset: Number(item.offset), length: Number(item.length) };
  });
}

function checkLink(url: unknown): void {
  if (typeof url !== 'string' || url === '') throw badRequest('entity URL is empty');
  if (!isLink(url)) throw badRequest(`entity URL '${url}' is invalid: Wrong HTTP URL`);
}

/** Telegram takes a scheme of its own list or a host with a dot. */
export function isLink(url: string): boolean {
  if (/\s/.test(url)) return false;
  if (/^(tg|ton|tonsite):/i.test(url)) return true;
  return /^(https?:\/\/)?([^/?#@:]+\.[^/?#@:.]{2,}|\d+(\.\d+){3}|\[[0-9a-f:]+\])(:\d+)?([/?#].*)?$/i.test(url);
}

/** A link to a person is a mention; other addresses come back complete: `example.org` as `http://example.org/`. */
function settleLink(entity: Entity): Entity {
  if (entity.type !== 'text_link' || !entity.url) return entity;
  const person = /^tg:(?:\/\/)?user\/?\?id=(\d+)$/i.exec(entity.url)?.[1];
  const { url, ...rest } = entity;
  if (person) return { ...rest, type: 'text_mention', user: { id: Number(person), is_bot: false, first_name: '' } };
  if (/^(tg|ton|tonsite):/i.test(url)) return entity;
  const [, scheme = '', host = '', tail = ''] = /^(https?:\/\/)?([^/?#]*)(.*)$/i.exec(url) ?? [];
  const path = tail.startsWith('/') ? tail : `/${tail}`;
  return { ...entity, url: `${scheme.toLowerCase() || 'http://'}${host.toLowerCase()}${path}` };
}

const compare = (a: Entity, b: Entity) =>
  a.offset - b.offset || b.length - a.length || (priority[a.type] ?? 50) - (priority[b.type] ?? 50);

/** What the server keeps of a message (MTProto, "Styled text with message entities"). */
const entitiesMax = 100;

/**
 * What td's `fix_formatted_text` does before a message is stored: refuses entities that leave the text or cut a
 * surrogate pair; cleans control characters; trims; splits what crosses; removes what cannot nest (nothing inside code
 * and pre). `changed` is told of everything that silently came out differently.
 */
export function fixFormatted(
  source: string,
  sent: Entity[],
  changed: (what: string) => void,
): { text: string; entities: Entity[] } {
  const cleaned = clean(
    source,
    sent.filter((entity) => entity.length !== 0),
  );
  const trimmed = trim(cleaned.text, cleaned.entities);
  const wanted = trimmed.entities.filter((entity) => !detectedTypes.has(entity.type)).map(settleLink);
  const nested = nest(trimmed.text, wanted, changed);
  if (nested.length > entitiesMax) changed(`${nested.length - entitiesMax} entities beyond ${entitiesMax} are dropped`);
  return { text: trimmed.text, entities: nested.slice(0, entitiesMax) };
}

function clean(source: string, sent: Entity[]): { text: string; entities: Entity[] } {
  for (const { offset, length } of sent) {
    if (offset < 0 || offset > 1_000_000) throw badRequest(`receive an entity with incorrect offset ${offset}`);
    if (length < 0 || length > 1_000_000) throw badRequest(`receive an entity with incorrect length ${length}`);
  }
  const entities = sent.map((entity) => ({ ...entity })).sort(compare);
  const simple = !/[\p{Cc}\u2028-\u202e]/u.test(source);
  if (entities.length === 0 && simple) return { text: source, entities };
  let open: { entity: Entity; removedBefore: number }[] = [];
  let next = 0;
  let text = '';
  let unit = 0;
  let byte = 0;
  let removed = 0;
  const close = () => {
    for (const { entity, removedBefore } of open.toReversed()) {
      const end = entity.offset + entity.length;
      if (unit < end) continue;
      if (unit !== end) {
        throw badRequest(
          `entity beginning at UTF-16 offset ${entity.offset} ends in a middle of a UTF-16 symbol at byte offset ${byte}`,
        );
      }
      entity.offset -= removedBefore;
      entity.length -= removed - removedBefore;
      open = open.filter((other) => other.entity !== entity);
    }
  };
  const step = () => {
    if (open.length > 0) close();
    for (let entity = entities[next]; entity && unit >= entity.offset; entity = entities[next]) {
      if (unit !== entity.offset) {
        throw badRequest(`entity begins in a middle of a UTF-16 symbol at byte offset ${byte}`);
      }
      open.push({ entity, removedBefore: removed });
      next += 1;
    }
  };
  for (const char of source) {
    step();
    const code = char.codePointAt(0)!;
    unit += char.length;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code === 13 || (code >= 0x2028 && code <= 0x202e)) removed += char.length;
    else text += code < 32 && code !== 10 ? ' ' : char;
  }
  step();
  const beyond = entities[next];
  if (beyond) throw badRequest(`entity begins after the end of the text at UTF-16 offset ${beyond.offset}`);
  const left = open.at(-1)?.entity;
  if (left) {
    throw badRequest(
      `entity beginning at UTF-16 offset ${left.offset} ends after the end of the text at UTF-16 offset ${left.offset + left.length}`,
    );
  }
  return { text, entities };
}

function trim(source: string, entities: Entity[]): { text: string; entities: Entity[] } {
  const end = source.trimEnd().length;
  const leading = source.length - source.trimStart().length;
  const first = entities[0]?.offset ?? source.length;
  const start = Math.min(leading, first, end);
  if (start === 0 && end === source.length) return { text: source, entities };
  const kept: Entity[] = [];
  for (const entity of entities) {
    const from = Math.max(entity.offset, start);
    const to = Math.min(entity.offset + entity.length, end);
    if (to > from) kept.push({ ...entity, offset: from - start, length: to - from });
  }
  return { text: source.slice(start, end), entities: kept };
}

function nest(text: string, entities: Entity[], changed: (what: string) => void): Entity[] {
  const solid: Entity[] = [];
  for (const entity of entities) {
    if (splittable.has(entity.type) || entity.type.endsWith('blockquote')) continue;
    if (entity.type === 'text_link' && !isLink(entity.url ?? '')) {
      changed(`a text_link to '${entity.url}' was dropped`);
      continue;
    }
    const last = solid.at(-1);
    if (last && entity.offset < last.offset + last.length) changed(`${entity.type} inside ${last.type} was dropped`);
    else solid.push(entity);
  }
  const result = [...solid, ...entities.filter((entity) => entity.type.endsWith('blockquote'))];
  const closed = solid.filter((entity) => entity.type === 'code' || entity.type === 'pre');
  for (const type of splittable) {
    for (const part of merged(entities.filter((entity) => entity.type === type))) {
      let pieces = [part];
      for (const hole of closed) pieces = pieces.flatMap((piece) => without(piece, hole));
      if (pieces.length !== 1 || pieces[0]!.length !== part.length) changed(`${type} was cut out of code`);
      for (const piece of pieces) {
        if (text.slice(piece.offset, piece.offset + piece.length).trim() === '') continue;
        const parts = split(piece, result);
        if (parts.length > 1) changed(`${type} crosses another entity and was split`);
        result.push(...parts);
      }
    }
  }
  return result.sort(compare);
}

function merged(entities: Entity[]): Entity[] {
  const result: Entity[] = [];
  for (const entity of entities) {
    const last = result.at(-1);
    if (last && entity.offset <= last.offset + last.length) {
      last.length = Math.max(last.offset + last.length, entity.offset + entity.length) - last.offset;
    } else result.push({ ...entity });
  }
  return result;
}

/** Cut where it would cross one of the others, so that every part lies inside or outside of each. */
function split(piece: Entity, others: Entity[]): Entity[] {
  const end = piece.offset + piece.length;
  for (const other of others) {
    const otherEnd = other.offset + other.length;
    const startsWithin = other.offset < piece.offset && piece.offset < otherEnd && otherEnd < end;
    const endsWithin = piece.offset < other.offset && other.offset < end && end < otherEnd;
    if (!startsWithin && !endsWithin) continue;
    const cut = startsWithin ? otherEnd : other.offset;
    const tail = { ...piece, offset: cut, length: end - cut };
    return [{ ...piece, length: cut - piece.offset }, ...split(tail, others)];
  }
  return [piece];
}

function without(piece: Entity, hole: Entity): Entity[] {
  const pieceEnd = piece.offset + piece.length;
  const holeEnd = hole.offset + hole.length;
  if (holeEnd <= piece.offset || hole.offset >= pieceEnd) return [piece];
  const parts: Entity[] = [];
  if (hole.offset > piece.offset) parts.push({ ...piece, length: hole.offset - piece.offset });
  if (holeEnd < pieceEnd) parts.push({ ...piece, offset: holeEnd, length: pieceEnd - holeEnd });
  return parts;
}
