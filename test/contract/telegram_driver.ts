/** Telegram for the contract suite: the Bot API emulator behind a line that can be cut. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adapter as plugin } from '../../adapters/telegram/index.ts';
import type { Adapter, AdapterPlugin } from '../../src/types/adapter.ts';
import { type Chat, startTelegramEmulator, type TelegramEmulator, type User } from '../emulators/telegram/index.ts';
import type { Driver, Platform, Said, Seen, Spot } from './driver.ts';
import { createLine } from './line.ts';

const token = '900000001:AAH-not-a-real-token-0123456789abcdef';
const webhookSecret = 'a-secret-of-the-webhook-0123456789';
const wait = { timeoutMs: 15_000 };
/** How long Telegram clients show that somebody types. */
const typingMs = 5_000;

export function telegramDriver(mode: 'polling' | 'webhook'): Driver {
  return {
    plugin: plugin as unknown as AdapterPlugin,
    cannot: {
      'R4: a deleted message is told': 'the Bot API has no update for deleted messages',
      'R84: tabs in code survive': 'Telegram makes a space of every tab',
      'D3: after an unknown send there is exactly one message':
        'a bot can neither mark its messages nor read a chat: sends are at least once (README)',
    },
    async open(clock) {
      const telegram = await startTelegramEmulator({ token, clock, privacy: false });
      const line = await createLine(telegram.url);
      const server = mode === 'webhook' ? await startWebhookServer() : null;
      const platform = createPlatform(telegram, clock);
      const config = { token, mode, webhook_secret: server ? webhookSecret : null, api_url: line.url };
      return {
        ...platform,
        config,
        publicUrl: server?.url ?? null,
        secrets: ['AAH-not-a-real-token', webhookSecret],
        ...(server ? { attach: server.attach } : {}),
        down: line.down,
        up: line.up,
        cut: line.cut,
        wrong: { config: { ...config, token: `${token.slice(0, -3)}xyz` }, reason: /channels\.helper\.token/ },
        async close() {
          await server?.close();
          await line.close();
          await telegram.close();
        },
      };
    },
  };
}

type People = Omit<Platform, 'config' | 'publicUrl' | 'secrets' | 'close' | 'wrong'>;

function createPlatform(telegram: TelegramEmulator, clock: { now(): number }): People {
  const users = new Map<string, User>();
  const chats = new Map<string, Chat>();
  const userOf = (person: string) => users.get(person)!;
  const chatOf = (spot: Spot) => chats.get(spot.chat)!;
  const refIn = (spot: Spot, messageId: string) => ({ message_id: Number(messageId), chat: chatOf(spot) });
  const spotOf = (chat: Chat): Spot => {
    chats.set(String(chat.id), chat);
    return { chat: String(chat.id) };
  };
  /** Of the update made last. */
  const saidOf = (spot: Spot, messageId: number): Said => {
    const updateId = telegram.updates.at(-1)!.update.update_id;
    const isAcknowledged = () =>
      telegram.webhook.attempts.some(({ update, status }) => update.update_id === updateId && status === 200) ||
      telegram.calls.some(({ method, args }) => method === 'getUpdates' && Number(args.offset) > updateId);
    return {
      spot,
      messageId: String(messageId),
      isAcknowledged,
      acknowledged: async () => void (await telegram.until(`update ${updateId} is taken`, isAcknowledged, wait)),
    };
  };
  const platform: People = {
    person(name) {
      const user = telegram.user({ name });
      users.set(String(user.id), user);
      return String(user.id);
    },
    direct: (person) => spotOf(telegram.privateChat(userOf(person))),
    group: (people) => spotOf(telegram.group({ type: 'supergroup', members: people.map(userOf) })),
    thread(people) {
      const group = telegram.group({ type: 'supergroup', forum: true, members: people.map(userOf) });
      return { ...spotOf(group), thread: String(telegram.topic(group, userOf(people[0]!), 'a topic')) };
    },
    say(spot, person, text, { mention, replyTo, forwarded, file } = {}) {
      const message = telegram.say(chatOf(spot), userOf(person), mention ? `@${telegram.bot.username} ${text}` : text, {
        ...(spot.thread === undefined ? {} : { thread: Number(spot.thread) }),
        ...(replyTo === undefined ? {} : { replyTo: refIn(spot, replyTo) }),
        ...(forwarded ? { forwarded: 'Somebody' } : {}),
        ...(file ? { document: file } : {}),
      });
      return saidOf(spot, message.message_id);
    },
    command(spot, person, name, args, other) {
      const text = `/${name}${other ? '@other_bot' : ''} ${args}`.trim();
      return saidOf(spot, telegram.say(chatOf(spot), userOf(person), text).message_id);
    },
    sendLarge(spot, person, size) {
      const message = telegram.say(chatOf(spot), userOf(person), '', { document: { size, name: 'large.bin' } });
      return saidOf(spot, message.message_id);
    },
    press(spot, person, ref, label) {
      const press = telegram.press(userOf(person), refIn(spot, ref), label);
      return {
        told: async () => (await press.answered(wait)).text || null,
        again: () => void telegram.redeliver(press.update_id, { newId: true }),
      };
    },
    buttons: async (spot, ref) =>
      telegram
        .message(refIn(spot, ref))!
        .buttons.flat()
        .map(({ text }) => text),
    edit: (said, text) => void telegram.editMessage(refIn(said.spot, said.messageId), text),
    remove: (said) => telegram.deleteMessage(refIn(said.spot, said.messageId)),
    redeliver: (said) => void telegram.redeliver(refIn(said.spot, said.messageId), { newId: true }),
    sayAs(who, spot, text) {
      const from = who === 'self' ? telegram.bot : telegram.user({ name: 'Robot', bot: true });
      const date = Math.floor(clock.now() / 1000);
      telegram.pushRaw({ message: { message_id: nextRawId++, from, chat: chatOf(spot), date, text } });
    },
    disturb(spot, person) {
      const message = { message_id: 1, date: 1, chat: chatOf(spot), from: userOf(person), text: 'strange' };
      const strange: Record<string, unknown>[] = [
        {},
        { message: null },
        { message: 'words' },
        { message: [] },
        { message: { ...message, chat: undefined } },
        { message: { ...message, chat: { id: 'many', type: 'private' } } },
        { message: { ...message, message_id: 1e300 } },
        { message: { ...message, date: 'today' } },
        { message: { ...message, from: { id: null } } },
        { edited_message: 7 },
        { my_chat_member: { chat: message.chat, date: 1, from: message.from } },
        { an_update_of_the_future: { chat: message.chat } },
      ];
      for (const update of strange) telegram.pushRaw(update);
    },
    seen: async (spot) =>
      telegram
        .visible(chatOf(spot), { fromBot: true, thread: spot.thread === undefined ? null : Number(spot.thread) })
        .map(seenOf),
    async status(spot, shown) {
      const isShown = () => {
        const last = telegram.actions(chatOf(spot)).at(-1);
        const answered = telegram.visible(chatOf(spot), { fromBot: true }).at(-1);
        // It goes with the next message or by itself.
        return last !== undefined && !answered && clock.now() - last.at < typingMs;
      };
      await telegram.until(shown ? 'typing is shown' : 'typing is gone', () => isShown() === shown, wait);
    },
    async preview(spot, text) {
      const shown = () => telegram.drafts(chatOf(spot)).at(-1)?.text ?? null;
      await telegram.until(`the draft ${text}`, () => shown() === text, wait);
    },
    reactions: (spot, messageId) => telegram.message(refIn(spot, messageId))!.reactions,
    loseAnswer: () => void telegram.fault({ method: 'sendMessage', do: 'close_after' }),
    async hang() {
      telegram.fault({ method: 'sendMessage', do: 'hang_after' });
      await telegram.call(({ method, fault }) => method === 'sendMessage' && fault === 'hang_after', wait);
    },
    limit: (spot, seconds) => telegram.flood(chatOf(spot), seconds),
    forbid: (spot) => telegram.block(userOf(spot.chat)),
    takeAway: (spot, ref) => telegram.deleteMessage(refIn(spot, ref)),
  };
  let nextRawId = 700_001;
  return platform;
}

function seenOf(message: ReturnType<TelegramEmulator['visible']>[number]): Seen {
  const { text, entities, detected, replyTo } = message;
  const covered = (type: string) =>
    entities
      .filter((entity) => entity.type === type)
      .map((entity) => text.slice(entity.offset, entity.offset + entity.length));
  const pings = [...entities, ...detected].filter(({ type }) => type === 'mention' || type === 'text_mention');
  return {
    text,
    bold: covered('bold'),
    italic: covered('italic').filter((words) => !covered('text_link').some((label) => label.includes(words))),
    strike: covered('strikethrough'),
    code: covered('code'),
    blocks: covered('pre'),
    links: entities
      .filter(({ type }) => type === 'text_link')
      .map(({ offset, length, url }) => ({ label: text.slice(offset, offset + length), url: url ?? '' })),
    pings: pings.map(({ offset, length }) => text.slice(offset, offset + length)),
    replyTo: replyTo === null ? null : String(replyTo),
  };
}

/** The gateway's side of a webhook: hands every request to the adapter of the moment. */
async function startWebhookServer() {
  let adapter: Adapter | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request(`http://gateway${incoming.url}`, {
      method: 'POST',
      headers: incoming.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    const answer = await adapter?.http?.({ request, path: '/', session: null });
    outgoing.writeHead(answer?.status ?? 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attach: (next: Adapter) => {
      adapter = next;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
