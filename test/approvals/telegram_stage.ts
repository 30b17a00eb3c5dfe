/** The suite's stage on Telegram's emulator, with a direct chat and with a group. */
import type { TestContext } from 'node:test';
import type { Tool } from '../../src/types/tool.ts';
import type { Chat, Press, Visible } from '../emulators/telegram/index.ts';
import { passTime } from '../end_to_end/world.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { actsCapability, actTools, capabilityId } from './acts.ts';
import { answerOf } from './asking.ts';
import { letEnd } from './passing.ts';
import { quietRows } from './quiet.ts';
import type { ApprovalStage, Match, Ran, Scene, SceneOptions, Shown, Wait, Where, Who, Written } from './stage.ts';

const roomId = -1001000000042;
const ids: Record<Who, number> = { requester: 7001, member: 7002, admin: 7003, stranger: 7004 };
const names: Record<Who, string> = { requester: 'Rita', member: 'Mo', admin: 'Ada', stranger: 'Sten' };
const everybody = ['requester', 'member', 'admin', 'stranger'] as const;

export const telegramStage: ApprovalStage = {
  places: ['direct', 'room'],
  cannot: {},
  open: openScene,
};

async function openScene(t: TestContext, where: Where, options: SceneOptions): Promise<Scene> {
  const clock = options.timed ? createFakeClock() : undefined;
  const settle = <T>(wanted: Promise<T>): Promise<T> => (clock ? passTime(clock, wanted) : wanted);
  const ended = clock ? letEnd(t, clock) : () => {};
  const ran: Ran[] = [];
  let tools: Tool[] = (options.tools ?? actTools)(ran);
  const world: TestGateway = await settle(
    startTestGateway(t, {
      ...(options.hooks ? { hooks: options.hooks } : {}),
      ...(clock ? { clock } : {}),
      telegram: { privacy: false, ...(clock ? { clock } : {}) },
      capabilities: [actsCapability(() => tools)],
      config: configOf(options) ?? {},
    }),
  );
  t.after(ended);
  world.model.respond(answerOf);
  const { telegram, model } = world;
  const users = Object.fromEntries(
    everybody.map((who) => [
      who,
      telegram.user({
        id: ids[who],
        name: names[who],
        ...(options.language ? { language: options.language } : {}),
      }),
    ]),
  ) as Record<Who, ReturnType<typeof telegram.user>>;
  const chats = Object.fromEntries(everybody.map((who) => [who, telegram.privateChat(users[who])])) as Record<
    Who,
    Chat
  >;
  const room = telegram.group({
    id: roomId,
    type: 'supergroup',
    members: [users.requester, users.member],
    admins: [users.admin],
  });
  const place = where === 'direct' ? chats.requester : room;
  const chatOf = (wait?: Wait) => (wait?.of === undefined ? place : chats[wait.of]);
  const shownOf = (visible: Visible): Shown => ({
    id: String(visible.id),
    chat: String(visible.chat),
    text: visible.text,
    buttons: visible.buttons.flat().map(({ text }) => text),
    data(label) {
      const found = visible.buttons.flat().find(({ text }) => text === label);
      if (found?.callback_data === undefined) throw new Error(`there is no button ${label} on: ${visible.text}`);
      return found.callback_data;
    },
    edits: visible.versions.length - 1,
  });
  const refOf = (shown: Shown) => ({ message_id: Number(shown.id), chat: { id: Number(shown.chat) } });
  const see = (match: (message: Visible) => boolean, wait?: Wait) =>
    settle(telegram.waitForMessage(chatOf(wait), (message) => message.fromBot && match(message))).then(shownOf);
  const fits = (text: string, match: Match) => {
    if (typeof match === 'function') return match(text);
    return typeof match === 'string' ? text.includes(match) : match.test(text);
  };
  const now = (shown: Shown): Shown => {
    const visible = telegram.message(refOf(shown));
    if (!visible) throw new Error(`message ${shown.id} is gone`);
    return shownOf(visible);
  };
  const told = async (press: Press) => (await settle(press.answered())).text;

  const scene: Scene = {
    model,
    ran,
    where,
    replies: true,
    account: (who) => `tg:${ids[who]}`,
    name: (who) => names[who],
    ask(text) {
      const words = where === 'room' ? `@gate_bot ${text}` : text;
      return { written: telegram.say(place, users.requester, words) };
    },
    say(who, text, { to, forwarded, agoMs, own, anonymous } = {}) {
      const seconds = agoMs === undefined ? undefined : Math.floor(((clock?.now() ?? Date.now()) - agoMs) / 1000);
      return {
        written: telegram.say(own ? chats[who] : place, users[who], text, {
          ...(to ? { replyTo: refOf(to) } : {}),
          ...(forwarded ? { forwarded: users.member } : {}),
          ...(seconds === undefined ? {} : { date: seconds }),
          ...(anonymous ? { as: 'anonymous_admin' as const } : {}),
        }),
      };
    },
    edit({ written }: Written, text) {
      telegram.editMessage(written as Parameters<typeof telegram.editMessage>[0], text);
    },
    card: (match = '', wait) => see((message) => message.buttons.length > 0 && fits(message.text, match), wait),
    sees: (match, wait) => see((message) => fits(message.text, match), wait),
    now,
    closed: (shown) =>
      settle(telegram.until('a card without buttons', () => now(shown).buttons.length === 0)).then(() => now(shown)),
    becomes: (shown, match) =>
      settle(telegram.until(`a card with ${match}`, () => match.test(now(shown).text))).then(() => now(shown)),
    texts: (wait) => telegram.visible(chatOf(wait), { fromBot: true }).map(({ text }) => text),
    live(shown) {
      const visible = telegram.message(refOf(shown));
      const marks = [...(visible?.entities ?? []), ...(visible?.detected ?? [])];
      return marks.map(({ type }) => type).filter((type) => !['bold', 'italic', 'code', 'pre'].includes(type));
    },
    refusedMessages: () =>
      telegram.calls.filter(({ method, status }) => method === 'sendMessage' && status !== 200).length,
    press: (who, shown, label) => told(telegram.press(users[who], refOf(shown), label)),
    pressData: (who, on, data, { inChatOf } = {}) =>
      told(telegram.pressStale(users[who], refOf(on), data, inChatOf === undefined ? {} : { chat: chats[inChatOf] })),
    pressForwarded(who, shown, label) {
      const copy = telegram.forward(users[who], refOf(shown), chats[who]);
      telegram.pressStale(users[who], copy, shown.data(label));
    },
    pressTogether: (presses, shown) =>
      Promise.all(
        presses
          .map(([who, label]) => telegram.pressStale(users[who], refOf(shown), shown.data(label)))
          .map((press) => told(press)),
      ),
    setMember: (who, stands) => telegram.setMember(room, users[who], stands ? 'member' : 'left'),
    hideMembers() {
      telegram.fault({
        method: 'getChatMember',
        do: 'error',
        code: 400,
        description: 'Bad Request: CHAT_ADMIN_REQUIRED',
        times: Number.POSITIVE_INFINITY,
      });
    },
    refuseMessages(times) {
      telegram.fault({
        method: 'sendMessage',
        do: 'error',
        code: 400,
        description: 'Bad Request: not enough rights to send text messages to the chat',
        times,
      });
    },
    quiet: () =>
      settle(
        quietRows(
          () => world.gateway.db,
          () => telegram.idle(),
        ),
      ),
    async restart(changes, downMs = 0) {
      if (downMs > 0) {
        await settle(world.stop());
        await clock?.advance(downMs);
      }
      await settle(world.restart(changes));
    },
    reload: (changes) => settle(world.reload(changes)),
    setTools(make) {
      tools = make(ran);
    },
    async later(ms) {
      if (!clock) throw new Error('only a timed scene has time to pass');
      await clock.advance(ms);
    },
    change: async (sql) => {
      await world.gateway.db.run(sql);
    },
    rows: (sql) => world.gateway.db.all(sql),
  };
  // Known to the bot, and where they can be told something alone.
  for (const who of ['member', 'admin'] as const) {
    telegram.say(chats[who], users[who], '/whoami');
    await settle(telegram.waitForMessage(chats[who], names[who]));
  }
  return scene;
}

function configOf({ approvals, config = {}, noAdmin }: SceneOptions): TestGatewayOptions['config'] {
  return {
    ...config,
    ...(noAdmin ? {} : { admins: [`tg:${ids.admin}`] }),
    agent: { capabilities: [{ id: capabilityId }], ...config.agent },
    binding: {
      where: { chats: [roomId], direct: true },
      scope: 'channel',
      access: { direct: 'open', rate_limit: 'off' },
      stream: false,
      ...(approvals ? { approvals } : {}),
      ...config.binding,
    },
  };
}
