import type { Room, State } from './state.ts';
import type { UpdateQueue } from './updates.ts';
import type { Message, User } from './wire.ts';

export const anonymousAdmin: User = {
  id: 1087968824,
  is_bot: true,
  first_name: 'Group',
  username: 'GroupAnonymousBot',
};
export const channelIdentity: User = { id: 136817688, is_bot: true, first_name: 'Channel', username: 'Channel_Bot' };
export const telegramItself: User = { id: 777000, is_bot: false, first_name: 'Telegram' };

export interface Delivery {
  /** Makes the update of a message people wrote, if the bot gets to see it. */
  message(room: Room, message: Message, kind: 'message' | 'edited_message', service?: boolean): void;
}

export function createDelivery(
  state: State,
  queue: UpdateQueue,
  options: { privacy: boolean; privacyMentions: boolean },
): Delivery {
  const name = `@${state.bot.username ?? ''}`.toLowerCase();

  /** Privacy mode: commands, replies to the bot, mentions of it, service messages (core.telegram.org/bots/features). */
  const reaches = (room: Room, message: Message): boolean => {
    if (message.reply_to_message?.from?.id === state.bot.id) return true;
    const text = message.text ?? message.caption ?? '';
    for (const entity of message.entities ?? message.caption_entities ?? []) {
      const part = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
      if (entity.type === 'bot_command') {
        if (part.includes('@') ? part.endsWith(name) : room.lastBot === null || room.lastBot === state.bot.id)
          return true;
      }
      if (!options.privacyMentions) continue;
      if (entity.type === 'mention' && part === name) return true;
      if (entity.type === 'text_mention' && entity.user?.id === state.bot.id) return true;
    }
    return false;
  };

  return {
    message(room, message, kind, service = false) {
      if (room.bot !== 'member' && room.bot !== 'administrator' && room.bot !== 'creator') return;
      const { from, chat } = message;
      const isChannel = chat.type === 'channel';
      const standIn = from?.id === anonymousAdmin.id || from?.id === channelIdentity.id;
      if (from?.is_bot && !standIn && !service) return;
      const isGroup = chat.type === 'group' || chat.type === 'supergroup';
      if (isGroup && options.privacy && room.bot === 'member' && !service && !reaches(room, message)) return;
      const name = isChannel ? kind.replace('message', 'channel_post') : kind;
      queue.add(name, message, { queue: chat.id, date: message.edit_date ?? message.date });
    },
  };
}
