import type { TelegramEmulator } from './api.ts';
import { anonymousAdmin, type Delivery } from './delivery.ts';
import { createRoom, type MemberStatus, type Room, type State } from './state.ts';
import type { UpdateQueue } from './updates.ts';
import type { Chat, Message, User } from './wire.ts';

type Chats = Pick<
  TelegramEmulator,
  | 'user'
  | 'privateChat'
  | 'group'
  | 'channel'
  | 'topic'
  | 'setTopic'
  | 'setMember'
  | 'addBot'
  | 'removeBot'
  | 'join'
  | 'leave'
  | 'block'
  | 'unblock'
  | 'migrate'
>;

/** People, chats, topics and membership, with the updates that changes of them make. */
export function createChats(parts: {
  state: State;
  queue: UpdateQueue;
  delivery: Delivery;
  service: TelegramEmulator['service'];
}): Chats {
  const { state, queue, delivery, service } = parts;
  let userSerial = 100_000_000;
  let groupSerial = 4_000_000;
  let supergroupSerial = 1_234_567_889;

  const supergroupId = () => {
    supergroupSerial += 1;
    return Number(`-100${supergroupSerial}`);
  };

  /** Changes the bot's own standing and tells the bot so. */
  const botBecomes = (room: Room, by: User, status: MemberStatus) => {
    const visible = room.bot === 'blocked' ? 'kicked' : room.bot === 'unstarted' ? 'left' : room.bot;
    const old_chat_member = { user: state.bot, status: visible };
    room.bot = status === 'kicked' && room.chat.type === 'private' ? 'blocked' : status;
    const new_chat_member = { user: state.bot, status };
    const body = { chat: room.chat, from: by, date: state.unix(), old_chat_member, new_chat_member };
    queue.add('my_chat_member', body, { queue: room.chat.id });
    state.changes.changed();
  };

  return {
    user(options = {}) {
      userSerial += 1;
      const id = options.id ?? userSerial;
      const user: User = { id, is_bot: options.bot ?? false, first_name: options.name ?? `Person ${id}` };
      if (options.username) user.username = options.username;
      if (!options.bot) user.language_code = options.language ?? 'en';
      state.users.set(id, user);
      return user;
    },
    privateChat(user, options = {}) {
      const known = state.rooms.get(user.id);
      if (known) return known.chat;
      const chat: Chat = { id: user.id, type: 'private', first_name: user.first_name };
      if (user.username) chat.username = user.username;
      if (options.topics) state.account.has_topics_enabled = true;
      state.rooms.set(chat.id, createRoom(chat, options.started === false ? 'unstarted' : 'member'));
      return chat;
    },
    group(options = {}) {
      const type = options.type ?? (options.forum ? 'supergroup' : 'group');
      if (type === 'group') groupSerial += 1;
      const id = options.id ?? (type === 'group' ? -groupSerial : supergroupId());
      const chat: Chat = { id, title: options.title ?? 'Group', type };
      if (options.forum) chat.is_forum = true;
      const room = createRoom(chat, options.bot ?? (options.botIsAdmin ? 'administrator' : 'member'));
      for (const user of options.members ?? []) room.members.set(user.id, { user, status: 'member' });
      for (const [index, user] of (options.admins ?? []).entries()) {
        room.members.set(user.id, { user, status: index === 0 ? 'creator' : 'administrator' });
      }
      state.rooms.set(id, room);
      return chat;
    },
    channel(options = {}) {
      const chat: Chat = { id: options.id ?? supergroupId(), title: options.title ?? 'Channel', type: 'channel' };
      if (options.username) chat.username = options.username;
      state.rooms.set(chat.id, createRoom(chat, 'administrator'));
      return chat;
    },

    topic(chat, by, name) {
      const room = state.room(chat.id);
      const message_id = state.nextMessageId(room);
      const place = { message_thread_id: message_id, is_topic_message: true as const };
      const forum_topic_created = { name, icon_color: 7322096 };
      const created: Message = {
        message_id,
        from: by,
        chat: room.chat,
        date: state.unix(),
        ...place,
        forum_topic_created,
      };
      state.keep(room, created, { ours: false, formatting: [] });
      room.topics.set(message_id, { id: message_id, name, state: 'open', created });
      delivery.message(room, created, 'message', true);
      return message_id;
    },
    setTopic(chat, thread, next) {
      const topic = state.room(chat.id).topics.get(thread);
      if (!topic) throw new Error(`Telegram emulator: chat ${chat.id} has no topic ${thread}`);
      topic.state = next;
    },
    setMember(chat, user, status) {
      const room = state.room(chat.id);
      if (user.id === state.bot.id) room.bot = status;
      else room.members.set(user.id, { user, status });
    },

    addBot(chat, by, options = {}) {
      const room = state.room(chat.id);
      botBecomes(room, by, options.admin ? 'administrator' : 'member');
      if (!room.members.has(by.id)) room.members.set(by.id, { user: by, status: 'administrator' });
      service(chat, by, { new_chat_participant: state.bot, new_chat_member: state.bot, new_chat_members: [state.bot] });
    },
    removeBot: (chat, by) => botBecomes(state.room(chat.id), by, 'kicked'),
    join(chat, user) {
      state.room(chat.id).members.set(user.id, { user, status: 'member' });
      service(chat, user, { new_chat_members: [user] });
    },
    leave(chat, user) {
      state.room(chat.id).members.set(user.id, { user, status: 'left' });
      service(chat, user, { left_chat_member: user });
    },
    block: (user) => botBecomes(state.room(user.id), user, 'kicked'),
    unblock: (user) => botBecomes(state.room(user.id), user, 'member'),

    migrate(chat, by, options = {}) {
      const old = state.room(chat.id);
      if (old.chat.type !== 'group') throw new Error('Telegram emulator: only a basic group can become a supergroup');
      const next: Chat = { ...old.chat, id: supergroupId(), type: 'supergroup' };
      const room = createRoom(next, old.bot);
      for (const [id, member] of old.members) room.members.set(id, member);
      state.rooms.set(next.id, room);
      old.migratedTo = next.id;
      const tell = {
        to: () => service(old.chat, by, { migrate_to_chat_id: next.id }),
        from: () => service(next, anonymousAdmin, { sender_chat: next, migrate_from_chat_id: old.chat.id }),
      };
      const order = options.announce ?? 'to_then_from';
      if (order !== 'none') for (const step of order.split('_then_') as ('to' | 'from')[]) tell[step]();
      return next;
    },
  };
}
