import { flag, integer, structure, text } from './arguments.ts';
import { downloadBytesMax } from './media.ts';
import type { Presses } from './presses.ts';
import type { Request } from './server.ts';
import { type Room, roomToRead, roomToWrite, type State } from './state.ts';
import { ApiError, badRequest, forbidden, type User } from './wire.ts';

export function chatMethods(state: State, presses: Presses): Record<string, (request: Request) => unknown> {
  const memberOf = (_room: Room, user: User, status: string) =>
    status === 'creator' ? { user, status, is_anonymous: false } : { user, status };

  /** Reading needs membership in groups; a private chat only has to exist. */
  const readable = (chatId: unknown): Room => {
    const room = roomToRead(state, chatId);
    return room.chat.type === 'private' ? room : roomToWrite(state, chatId);
  };

  return {
    getMe: () => state.account,
    logOut: () => true,
    close: () => {
      throw new ApiError(429, 'Too Many Requests: retry after 600', { retry_after: 600 });
    },

    setMyCommands({ args }) {
      const commands = structure<{ command: string; description: string }[]>(args, 'commands', 'commands') ?? [];
      if (commands.length > 100) throw badRequest('BOT_COMMANDS_TOO_MUCH');
      for (const { command, description } of commands) {
        if (!/^\/?[a-z0-9_]{1,32}$/.test(String(command))) throw badRequest('BOT_COMMAND_INVALID');
        if (!description || description.length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
      }
      state.commands.set(scopeOf(args), commands);
      state.changes.changed();
      return true;
    },
    getMyCommands: ({ args }) => state.commands.get(scopeOf(args)) ?? [],
    deleteMyCommands({ args }) {
      state.commands.delete(scopeOf(args));
      return true;
    },

    answerCallbackQuery({ args }) {
      const answer = text(args, 'text');
      if ([...answer].length > 200) throw badRequest('MESSAGE_TOO_LONG');
      presses.answer(text(args, 'callback_query_id'), answer, flag(args, 'show_alert'));
      return true;
    },

    getFile({ args }) {
      const id = text(args, 'file_id');
      if (id === '') throw badRequest('file_id not specified');
      const file = state.files.get(id) ?? state.files.get(id.replace(/s$/, ''));
      if (!file) throw badRequest('wrong file_id or the file is temporarily unavailable');
      if (file.size > downloadBytesMax) throw badRequest('file is too big');
      return { file_id: id, file_unique_id: file.uniqueId, file_size: file.size, file_path: file.path };
    },

    getChat({ args }) {
      const { chat } = readable(args.chat_id);
      return { ...chat, accent_color_id: 0, max_reaction_count: 11 };
    },
    getChatAdministrators({ args }) {
      const room = readable(args.chat_id);
      if (room.chat.type === 'private') throw badRequest('there are no administrators in the private chat');
      const people = [...room.members.values()].filter(
        ({ user, status }) => !user.is_bot && (status === 'creator' || status === 'administrator'),
      );
      const own = room.bot === 'administrator' ? [memberOf(room, state.bot, 'administrator')] : [];
      return [...people.map(({ user, status }) => memberOf(room, user, status)), ...own];
    },
    getChatMemberCount({ args }) {
      const room = readable(args.chat_id);
      if (room.chat.type === 'private') return 2;
      return 1 + [...room.members.values()].filter(({ status }) => status !== 'left' && status !== 'kicked').length;
    },
    getChatMember({ args }) {
      const room = readable(args.chat_id);
      const id = integer(args, 'user_id') ?? 0;
      if (id === state.bot.id) return memberOf(room, state.bot, room.bot);
      const member = room.members.get(id);
      if (member) return memberOf(room, member.user, member.status);
      const user = state.users.get(id);
      if (!user) throw badRequest('PARTICIPANT_ID_INVALID');
      return room.chat.type === 'private' && room.chat.id === id
        ? memberOf(room, user, 'member')
        : memberOf(room, user, 'left');
    },
    leaveChat({ args }) {
      const room = roomToWrite(state, args.chat_id);
      if (room.chat.type === 'private') throw forbidden("bot can't leave private chats");
      room.bot = 'left';
      state.changes.changed();
      return true;
    },
  };
}

function scopeOf(args: Record<string, unknown>): string {
  const scope = structure<{ type: string; chat_id?: number }>(args, 'scope', 'scope') ?? { type: 'default' };
  return `${scope.type}:${scope.chat_id ?? ''}:${text(args, 'language_code')}`;
}
