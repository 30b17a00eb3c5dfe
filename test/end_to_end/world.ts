/** What the field-report tests share: one person in a private chat, time that passes when a test says so, tools. */
import type { TestContext } from 'node:test';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { Tool } from '../../src/types/tool.ts';
import type { SeenRequest } from '../emulators/model_server.ts';
import type { Call, Chat, TelegramEmulator, User, Visible } from '../emulators/telegram/index.ts';
import { createFakeClock, type FakeClock } from '../support/fake_clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';

/** No test here takes longer; one that hangs is a failure. */
export const bounded = { timeout: 60_000 } as const;

export interface World extends TestGateway {
  world: TestGateway;
  alice: User;
  /** Her private chat with the bot. */
  chat: Chat;
}

export async function startWorld(t: TestContext, options: TestGatewayOptions = {}): Promise<World> {
  const world = await startTestGateway(t, options);
  const alice = world.telegram.user({ name: 'Alice' });
  return { ...world, world, alice, chat: world.telegram.privateChat(alice) };
}

export interface TimedWorld extends World {
  clock: FakeClock;
  /** Lets time pass until the promise is settled. */
  pass<T>(wanted: Promise<T>): Promise<T>;
}

/** Gateway and Telegram on one clock that stands still until `pass`. */
export async function startTimedWorld(t: TestContext, options: TestGatewayOptions = {}): Promise<TimedWorld> {
  const clock = createFakeClock();
  // The end of the test needs time too, for what a failed test left hanging.
  let ended = false;
  t.after(() => {
    const until = performance.now() + endingMsMax;
    void passUntil(clock, () => ended || performance.now() > until);
  });
  const world = await passTime(clock, startWorld(t, { ...options, clock, telegram: { ...options.telegram, clock } }));
  t.after(() => {
    ended = true;
  });
  return { ...world, clock, pass: (wanted) => passTime(clock, wanted) };
}

/** Real traffic takes a few turns of the event loop, each of which is a step of time here: a latency of some 100 ms. */
const stepMs = 20;
const passedMsMax = 3_600_000;
/** Of real time. */
const endingMsMax = 15_000;

export async function passTime<T>(clock: FakeClock, wanted: Promise<T>): Promise<T> {
  let open = true;
  const settled = wanted.finally(() => {
    open = false;
  });
  settled.catch(() => {});
  const until = clock.now() + passedMsMax;
  await passUntil(clock, () => !open || clock.now() >= until);
  return settled;
}

async function passUntil(clock: FakeClock, enough: () => boolean): Promise<void> {
  while (!enough()) await clock.advance(stepMs);
}

/** Everything the gateway asked of Telegram but updates. */
export function callsOf(telegram: TelegramEmulator, method?: string): Call[] {
  return telegram.calls.filter((call) =>
    method === undefined ? call.method !== 'getUpdates' : call.method === method,
  );
}

/** What the bot wrote into a chat, as it stands there now. */
export function said(telegram: TelegramEmulator, chat: Chat | number): string[] {
  return telegram.visible(chat, { fromBot: true }).map((message: Visible) => message.text);
}

/** Roles and words of a model request. */
export function words(request: SeenRequest | undefined): [string, string][] {
  return (request?.messages ?? []).map((message) => [message.role, message.text]);
}

/** The words of the last message of a model request. */
export function lastWords(request: SeenRequest | undefined): string {
  return request?.messages.at(-1)?.text ?? '';
}

export const room = (chats: number[], over: Record<string, unknown> = {}) => ({
  where: { chats, direct: true },
  access: { direct: 'open', rate_limit: 'off' },
  ...over,
});

/** A capability with one tool of the same id. */
export function capabilityOf(id: string, over: Partial<Tool>): CapabilityPlugin {
  const tool: Tool = {
    id,
    effect: 'safe',
    name: id,
    description: `Does ${id}.`,
    returns: 'text',
    inputSchema: { type: 'object', properties: {}, additionalProperties: true },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    call: async () => ({ content: 'ok' }),
    ...over,
  };
  return {
    id,
    name: id,
    category: 'test',
    description: id,
    configSchema: { type: 'object', properties: {}, additionalProperties: false },
    tools: [tool],
    attach: (run) => run.tool(tool),
  };
}
