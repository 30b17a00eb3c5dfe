import type http from 'node:http';
import { systemClock } from '../../../src/base/clock.ts';
import type { EmulatorOptions, TelegramEmulator, Visible } from './api.ts';
import { createChanges } from './changes.ts';
import { createChats } from './chats.ts';
import { createDelivery } from './delivery.ts';
import { createFaults } from './faults.ts';
import { chatMethods } from './methods_chat.ts';
import { editMethods } from './methods_edit.ts';
import { sendMethods } from './methods_send.ts';
import { updateMethods } from './methods_updates.ts';
import { createPeople } from './people.ts';
import { createPresses } from './presses.ts';
import { createRateLimits } from './rate.ts';
import { type Call, type CallMatch, createRecorder, matches } from './record.ts';
import { type Method, startServer } from './server.ts';
import { createState } from './state.ts';
import { createUpdateQueue } from './updates.ts';
import { visibleIn, visibleOf } from './visible.ts';
import { createWebhook } from './webhook.ts';
import { ApiError, type Chat, type Update, type User } from './wire.ts';

export type * from './api.ts';
export type { Fault, FaultKind, FaultRule } from './faults.ts';
export type { Call, CallMatch } from './record.ts';
export type { Button, Chat, Entity, Message, Update, User } from './wire.ts';

const botDefault: User = {
  id: 900000001,
  is_bot: true,
  first_name: 'Gate',
  username: 'gate_bot',
  can_join_groups: true,
  can_read_all_group_messages: false,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
};
const countedMessagesKept = 100;

export interface StartOptions extends EmulatorOptions {
  /** Answers requests outside of the Bot API (main.ts); true when it did. */
  other?: (request: http.IncomingMessage, response: http.ServerResponse) => boolean;
}

/** A Bot API server on loopback with real limits and error texts, and the people on the other side of it. */
export async function startTelegramEmulator(options: StartOptions = {}): Promise<TelegramEmulator> {
  const clock = options.clock ?? systemClock;
  const privacy = options.privacy ?? true;
  const keep = options.record !== 'counts';
  const account: User = { ...botDefault, can_read_all_group_messages: !privacy, ...options.bot };
  const { id, is_bot, first_name, username } = account;
  const bot: User = { id, is_bot, first_name, username };
  const token = options.token ?? `${bot.id}:emulator-token`;
  const changes = createChanges();
  const state = createState({
    clock,
    changes,
    token,
    bot,
    account,
    messagesKeptMax: keep ? Number.POSITIVE_INFINITY : countedMessagesKept,
  });
  const record = createRecorder({ clock, changes, mode: options.record ?? 'all' });
  const faults = createFaults();
  const rate = createRateLimits(state, options.limits ?? 'off');
  const presses = createPresses(state);
  const queue = createUpdateQueue({
    clock,
    changes,
    firstUpdateId: options.firstUpdateId ?? 500000001,
    keepLog: keep,
    pollThrottle: options.pollThrottle ?? true,
    onAdd: () => webhook.wake(),
  });
  const methods = new Map<string, { name: string; run: Method }>();
  const webhook = createWebhook({
    clock,
    changes,
    queue,
    keepAttempts: keep,
    execute(method, args) {
      const known = methods.get(method.toLowerCase());
      if (!known) return;
      const call = record.begin(known.name, args, []);
      try {
        call.result = known.run({ call, args, uploads: new Map(), onClose: () => {} });
        call.committed = true;
        call.status = 200;
      } catch (error) {
        call.status = error instanceof ApiError ? error.code : 500;
        call.error = String(error);
      } finally {
        record.end(call);
      }
    },
  });
  const tables = [sendMethods(state), editMethods(state), chatMethods(state, presses), updateMethods(queue, webhook)];
  for (const table of tables) {
    for (const [name, run] of Object.entries(table)) methods.set(name.toLowerCase(), { name, run });
  }
  const server = await startServer({
    token,
    clock,
    methods,
    record,
    faults,
    checkRate: rate.check,
    download(path) {
      for (const file of state.files.values()) if (file.path === path) return file.bytes;
      throw new ApiError(404, 'Not Found');
    },
    other: options.other,
    port: options.port ?? 0,
  });
  const delivery = createDelivery(state, queue, { privacy, privacyMentions: options.privacyMentions ?? true });
  const people = createPeople({ state, queue, delivery, presses });
  const chats = createChats({ state, queue, delivery, service: people.service });

  const idOf = (chat: Chat | number) => (typeof chat === 'number' ? chat : chat.id);
  const findCall = (match: CallMatch, after: number, ready: (call: Call) => boolean) => {
    if (!keep) throw new Error("Telegram emulator: record: 'counts' keeps no calls");
    return record.calls.find((call) => call.id > after && matches(match, call) && ready(call));
  };
  const describeCalls = () =>
    `Calls: ${
      record.calls
        .slice(-15)
        .map((call) => `${call.method} ${call.status ?? ''}`.trim())
        .join(', ') || 'none'
    }.`;
  const nameOf = (match: CallMatch) => (typeof match === 'string' ? match : 'the wanted call');

  return {
    url: server.url,
    token,
    bot,
    async close() {
      webhook.clear();
      queue.endPolls('the emulator is closing');
      await server.close();
    },
    ...chats,
    ...people,

    updates: queue.log,
    pushRaw(update) {
      const { update_id, ...rest } = update;
      const kind = Object.keys(rest)[0] ?? 'unknown';
      const id = typeof update_id === 'number' ? update_id : queue.nextUpdateId();
      return queue.addRaw(kind, { ...rest, update_id: id });
    },
    redeliver(what, { newId = false, concurrently = false } = {}) {
      const found = queue.log.findLast(({ update }) =>
        typeof what === 'number' ? update.update_id === what : isAbout(update, what.chat.id, what.message_id),
      );
      if (!found) throw new Error('Telegram emulator: there is no such update to deliver again');
      const key = concurrently ? state.nextId() * 2 ** 20 : typeof what === 'number' ? 0 : what.chat.id;
      return queue.again(found.update, key, newId);
    },
    get pending() {
      return queue.pending.length;
    },
    get pollsOpen() {
      return queue.pollsOpen;
    },
    webhook,

    messages: (chat) => visibleIn(state, idOf(chat)),
    visible: (chat, filter = {}) =>
      visibleIn(state, idOf(chat)).filter(
        (message) =>
          (filter.fromBot === undefined || message.fromBot === filter.fromBot) &&
          (filter.thread === undefined || message.thread === filter.thread),
      ),
    message(ref) {
      const room = state.room(ref.chat.id);
      const stored = room.stored.get(ref.message_id);
      return stored && visibleOf(state, room, stored);
    },
    drafts: (chat) => [...state.room(idOf(chat)).drafts],
    actions: (chat) => [...state.room(idOf(chat)).actions],
    get commandsMenu() {
      return state.commands.get('default::') ?? [];
    },
    warnings: state.warnings,

    calls: record.calls,
    counts: record.counts,
    call: (match, { after = 0, ...rest } = {}) =>
      changes.until(`an answered ${nameOf(match)}`, () => findCall(match, after, (call) => call.status !== undefined), {
        ...rest,
        describe: describeCalls,
      }),
    received: (match, { after = 0, ...rest } = {}) =>
      changes.until(nameOf(match), () => findCall(match, after, () => true), { ...rest, describe: describeCalls }),
    waitForMessage(chat, match, wait = {}) {
      const fits = (message: Visible) =>
        typeof match === 'function'
          ? match(message)
          : message.fromBot && (typeof match === 'string' ? message.text.includes(match) : match.test(message.text));
      const see = () => visibleIn(state, idOf(chat));
      return changes.until(
        `a message ${typeof match === 'function' ? '' : match} in ${idOf(chat)}`,
        () => see().find(fits),
        {
          ...wait,
          describe: () => `Visible: ${JSON.stringify(see().map((message) => message.text.slice(0, 80)))}.`,
        },
      );
    },
    idle: (wait) =>
      changes
        .until('idleness', () => queue.pending.length === 0 && record.open === 0, {
          ...wait,
          describe: () => `${queue.pending.length} updates wait, ${record.open} calls are open.`,
        })
        .then(() => {}),
    polling: (wait) => changes.until('an open long poll', () => queue.pollsOpen > 0, wait).then(() => {}),
    until: (what, ask, wait) => changes.until(what, ask, wait),
    flooded: rate.flooded,

    fault: faults.add,
    flood: (chat, seconds) => rate.flood(chat === 'all' ? 'all' : idOf(chat), seconds),
    before: faults.before,
    after: faults.after,
  };
}

/** Whether an update is the (newest) one of this message. */
function isAbout(update: Update, chat: number, messageId: number): boolean {
  for (const [kind, body] of Object.entries(update)) {
    if (kind === 'update_id' || typeof body !== 'object' || body === null) continue;
    const message = body as { message_id?: number; chat?: { id: number } };
    if (message.message_id === messageId && message.chat?.id === chat) return true;
  }
  return false;
}
