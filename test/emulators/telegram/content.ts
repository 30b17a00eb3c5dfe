import { flag, structure, text } from './arguments.ts';
import { detectEntities } from './detect.ts';
import { fixFormatted, readEntities } from './entities.ts';
import { parseHtml } from './parse_html.ts';
import { parseMarkdownV2 } from './parse_markdown.ts';
import type { State } from './state.ts';
import { type Arguments, badRequest, type Entity } from './wire.ts';

/** Raw text before parsing (Client.cpp `get_formatted_text`). */
const rawBytesMax = 32_768;
/** After parsing, in code points (td MessageContent.cpp). */
const textCharsMax = 4_096;
const captionCharsMax = 1_024;

export interface Content {
  text: string;
  /** As sent, after Telegram's repairs. */
  formatting: Entity[];
  /** `formatting` and what Telegram detects, as answered on the wire. */
  entities: Entity[];
}

/** `text` with `entities` or `parse_mode`, checked; empty text is refused unless `mayBeEmpty`. */
export function readText(state: State, args: Arguments, mayBeEmpty = false): Content {
  const content = read(state, args, 'text', 'entities');
  if (content.text === '' && !mayBeEmpty) throw badRequest('message text is empty');
  if (codePoints(content.text) > textCharsMax) throw badRequest('message is too long');
  return content;
}

export function readCaption(state: State, args: Arguments): Content {
  const content = read(state, args, 'caption', 'caption_entities');
  if (codePoints(content.text) > captionCharsMax) throw badRequest('message caption is too long');
  return content;
}

function read(state: State, args: Arguments, textField: string, entitiesField: string): Content {
  const source = text(args, textField);
  if (Buffer.byteLength(source) > rawBytesMax) throw badRequest('text is too long');
  const mode = text(args, 'parse_mode').toLowerCase();
  let parsed: { text: string; entities: Entity[] };
  if (mode === 'markdownv2') parsed = parseMarkdownV2(source);
  else if (mode === 'html') parsed = parseHtml(source);
  else if (mode === '' || mode === 'none') {
    const entities = readEntities(structure(args, entitiesField, 'entities'));
    parsed = { text: source, entities };
  } else throw badRequest(mode === 'markdown' ? 'the emulator has no legacy Markdown' : 'unsupported parse_mode');
  const fixed = fixFormatted(parsed.text, parsed.entities, (what) => state.warnings.push(what));
  const detected = flag(args, 'skip_entity_detection') ? [] : detectEntities(fixed.text, fixed.entities);
  const entities = detected.length === 0 ? fixed.entities : [...fixed.entities, ...detected];
  if (detected.length > 0) entities.sort((a, b) => a.offset - b.offset);
  return { text: fixed.text, formatting: fixed.entities, entities };
}

/** Code points, not UTF-16 units; the first test is the quick way for what cannot be too long. */
function codePoints(value: string): number {
  if (value.length <= captionCharsMax) return value.length;
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
