/** The adapter with everything around it in memory: an inbox that can be made to fail, and all it says recorded. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { adapter as plugin, type TelegramConfig } from '../../../adapters/telegram/index.ts';
import { type Clock, sleepOn, systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import type { Adapter, AdapterContext, ChannelState, Inbox, Receipt } from '../../../src/types/adapter.ts';
import type { InboundEvent, OutgoingMessage, Place } from '../../../src/types/message.ts';
import { createFakeClock, type FakeClock } from '../../support/fake_clock.ts';
import { createWatch } from '../../support/watch.ts';

export const token = '900000001:AAH-not-a-real-token-0123456789abcdef';

export interface Harness {
  adapter: Adapter;
  /** Stored events in their order. */
  stored: InboundEvent[];
  /** Called before an event counts as stored; a rejection refuses it. */
  onAccept: (event: InboundEvent) => Promise<void> | void;
  /** What the sender of a stored event is told at once. */
  tell: (event: InboundEvent) => Receipt | undefined;
  reports: { state: ChannelState; reason: string | undefined }[];
  counts: Map<string, number>;
  state: Map<string, string>;
  lines: string[];
  start(): Promise<void>;
  /** Resolves when `ask` is truthy; asked after every event, report, count and log line. */
  until<T>(what: string, ask: () => T | undefined | false | null): Promise<T>;
  /** Everything the adapter said to anybody but Telegram. */
  said(): string;
}

export interface HarnessOptions {
  url: string;
  config?: Partial<TelegramConfig>;
  clock?: Clock;
  publicUrl?: string;
  state?: Map<string, string>;
}

/** The adapter is stopped after the test, and must never have said its token. */
export function createHarness(t: TestContext, options: HarnessOptions): Harness {
  const lines: string[] = [];
  const said = () => [...lines, JSON.stringify(harness.reports), JSON.stringify([...harness.counts])].join('\n');
  const { changed, until } = createWatch(said);
  const state = options.state ?? new Map<string, string>();
  const harness: Omit<Harness, 'adapter'> = {
    stored: [],
    onAccept: () => {},
    tell: () => undefined,
    reports: [],
    counts: new Map(),
    state,
    lines,
    start: () => adapter.start(sink),
    until,
    said,
  };
  const sink: Inbox = {
    async accept(event) {
      const accepting = harness.onAccept(event);
      changed();
      await accepting;
      harness.stored.push(event);
      changed();
      return harness.tell(event);
    },
  };
  const context: AdapterContext = {
    channel: 'helper',
    log: createLog({
      level: 'debug',
      format: 'json',
      secrets: () => [],
      write: (line) => {
        lines.push(line);
        changed();
      },
    }),
    clock: options.clock ?? systemClock,
    publicUrl: options.publicUrl ?? null,
    journal: undefined as never,
    state: {
      get: async (key) => state.get(key) ?? null,
      set: async (key, value) => void state.set(key, value),
    },
    report: (kind, reason) => {
      harness.reports.push({ state: kind, reason });
      changed();
    },
    count: (name) => {
      harness.counts.set(name, (harness.counts.get(name) ?? 0) + 1);
      changed();
    },
  };
  const adapter = plugin.create(
    { token, mode: 'polling', webhook_secret: null, api_url: options.url, ...options.config },
    context,
  );
  t.after(async () => {
    await adapter.stop();
    await adapter.close?.();
    assert.ok(!harness.said().includes('AAH-not-a-real-token'), 'the token was said');
  });
  return Object.assign(harness, { adapter });
}

/** A clock that moves only when told, and tells which waits are pending. */
export interface WatchedClock extends FakeClock {
  /** Resolves with the length of a pending wait between these bounds, as soon as there is one. */
  waiting(fromMs: number, toMs: number): Promise<number>;
}

export function createWatchedClock(): WatchedClock {
  const clock = createFakeClock();
  const pending = new Set<number[]>();
  const watch = createWatch(() => `pending are waits of ${[...pending]} ms`);
  const watched: WatchedClock = {
    ...clock,
    after(ms, callback) {
      const wait = [ms];
      pending.add(wait);
      const cancel = clock.after(ms, () => {
        pending.delete(wait);
        callback();
      });
      watch.changed();
      return () => {
        pending.delete(wait);
        cancel();
      };
    },
    sleep: (ms, signal) => sleepOn(watched, ms, signal),
    async waiting(fromMs, toMs) {
      const [found] = await watch.until(`a wait of ${fromMs} to ${toMs} ms`, () =>
        [...pending].find(([ms]) => ms! >= fromMs && ms! <= toMs),
      );
      return found!;
    },
  };
  return watched;
}

let outgoing = 0;
export function message(place: Place, markdown: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  outgoing += 1;
  return { id: `out-${outgoing}`, place, markdown, ...more };
}

export function placeOf(chat: { id: number }, thread?: number): Place {
  return { channel: 'helper', chat: String(chat.id), ...(thread === undefined ? {} : { thread: String(thread) }) };
}

/** The gateway's HTTP server in small: hands every request to the adapter. Closed after the test. */
export async function serve(t: TestContext, adapter: () => Adapter): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request(`http://gateway${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      ...(incoming.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
    });
    const path = (incoming.url ?? '').replace(/^\/telegram\/helper/, '') || '/';
    const response = await adapter().http!({ request, path, session: null });
    outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
