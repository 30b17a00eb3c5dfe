/**
 * Whom a message is for, read from Telegram's own entities and never from matching text (rule 10). Pure. Entity
 * offsets are UTF-16 units, which is what JavaScript strings count. Source: Bot API, "MessageEntity".
 */
import { type Fields, fieldsOf, textOf } from './content.ts';

/** The bot's own account, as `getMe` tells. */
export interface Me {
  id: number;
  /** Without `@`. */
  username: string;
}

export interface Addressing {
  mentionsBot: boolean;
  /** Set when the words begin with a mention of the bot: what follows it. */
  addressedText?: string;
  command?: { name: string; args: string };
  /** The words begin with a command for another bot. */
  forOtherBot?: boolean;
}

interface Entity {
  type: string;
  offset: number;
  end: number;
  /** The words it covers. */
  words: string;
  userId?: number;
}

/** `entities` is what the platform sent beside `text`; whatever is not a well-formed entity of it is left out. */
export function addressingOf(text: string, entities: unknown, me: Me): Addressing {
  const found = readEntities(text, entities);
  const isOurs = (entity: Entity) =>
    (entity.type === 'mention' && entity.words.toLowerCase() === `@${me.username.toLowerCase()}`) ||
    (entity.type === 'text_mention' && entity.userId === me.id);
  const commandTarget = (entity: Entity) =>
    entity.type === 'bot_command' ? (entity.words.split('@')[1]?.toLowerCase() ?? '') : undefined;

  const mentionsBot = found.some((entity) => isOurs(entity) || commandTarget(entity) === me.username.toLowerCase());
  const addressing: Addressing = { mentionsBot };

  const start = text.length - text.trimStart().length;
  const mention = found.find((entity) => entity.offset === start && isOurs(entity));
  let begin = start;
  if (mention) {
    const rest = text.slice(mention.end);
    const words = rest.replace(/^[\s,:]+/, '');
    addressing.addressedText = words;
    begin = mention.end + rest.length - words.length;
  }
  const command = found.find((entity) => entity.offset === begin && entity.type === 'bot_command');
  if (command) {
    const target = commandTarget(command);
    if (target === '' || target === me.username.toLowerCase())
      addressing.command = {
        name: command.words.slice(1).split('@')[0]!.toLowerCase(),
        args: text.slice(command.end).trim(),
      };
    else addressing.forOtherBot = true;
  }
  return addressing;
}

function readEntities(text: string, value: unknown): Entity[] {
  if (!Array.isArray(value)) return [];
  const entities: Entity[] = [];
  for (const item of value) {
    const fields: Fields = fieldsOf(item) ?? {};
    const offset = fields.offset;
    const length = fields.length;
    if (typeof offset !== 'number' || typeof length !== 'number') continue;
    const end = offset + length;
    if (offset < 0 || length <= 0 || end > text.length) continue;
    const userId = fieldsOf(fields.user)?.id;
    entities.push({
      type: textOf(fields.type),
      offset,
      end,
      words: text.slice(offset, end),
      ...(typeof userId === 'number' ? { userId } : {}),
    });
  }
  return entities;
}
