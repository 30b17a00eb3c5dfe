/** One platform, its adapter, and a core in small around it: an inbox that a case holds in its hands, a real store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { DeliveryError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { createChannelState } from '../../src/store/channel_state.ts';
import { createJournal } from '../../src/store/journal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Adapter, AdapterPlugin, ChannelState, Receipt } from '../../src/types/adapter.ts';
import type { Decision, InboundEvent, IncomingMessage, OutgoingMessage, SentMessage } from '../../src/types/message.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { createWatch } from '../support/watch.ts';
import type { Driver, Platform, Said, Spot } from './driver.ts';

export interface Stage {
  platform: Platform;
  plugin: AdapterPlugin;
  adapter: Adapter;
  clock: Clock;
  /** What the inbox has stored, in order. */
  stored: InboundEvent[];
  messages(): IncomingMessage[];
  decisions(): Decision[];
  /** Called before an event is stored; a rejection refuses it. */
  onAccept: (event: InboundEvent) => Promise<void> | void;
  /** What the sender of a stored event is told at once. */
  tell: (event: InboundEvent) => Receipt | undefined;
  reports: { state: ChannelState; reason: string }[];
  /** Starts the adapter and waits until it is up. */
  start(): Promise<void>;
  /** Another adapter over the same platform and store, as after a restart. The old one must be stopped. */
  replace(config?: Record<string, unknown>): Promise<void>;
  /** Resolves when `ask` is truthy; asked after every event, report and log line. */
  until<T>(what: string, ask: () => T | undefined | false | null): Promise<T>;
  /** The n-th message, counted from 1. */
  message(number: number): Promise<IncomingMessage>;
  send(spot: Spot, markdown: string, more?: Partial<OutgoingMessage>): Promise<SentMessage>;
  outgoing(spot: Spot, markdown: string, more?: Partial<OutgoingMessage>): OutgoingMessage;
}

const channel = 'helper';
const fastSpeed = 20;
const sendMs = 15_000;

export async function openStage(t: TestContext, driver: Driver, options: { fast: boolean }): Promise<Stage> {
  const clock = options.fast ? createFastClock({ since: Date.now(), speed: fastSpeed }) : systemClock;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-contract-'));
  const db = await openStore(`sqlite:${join(folder, 'gatehouse.db')}`);
  const platform = await driver.open(clock, db);
  const lines: string[] = [];
  const said = () => [...lines, JSON.stringify(stage.reports)].join('\n');
  const { changed, until } = createWatch(said);
  const log = createLog({
    level: 'debug',
    format: 'json',
    secrets: () => [],
    write(line) {
      lines.push(line);
      changed();
    },
  });

  function create(config: Record<string, unknown>): Adapter {
    const context = {
      channel,
      log,
      clock,
      publicUrl: platform.publicUrl,
      journal: createJournal(db, clock, channel),
      state: createChannelState(db, channel),
      report(state: ChannelState, reason = '') {
        stage.reports.push({ state, reason });
        changed();
      },
      count: () => {},
    };
    const adapter = driver.plugin.create(config, platform.wrap?.(context) ?? context);
    platform.attach?.(adapter);
    return adapter;
  }

  let serial = 0;
  const stage: Stage = {
    platform,
    plugin: driver.plugin,
    clock,
    adapter: undefined as unknown as Adapter,
    stored: [],
    messages: () => stage.stored.filter((event) => event.kind === 'message'),
    decisions: () => stage.stored.filter((event) => event.kind === 'decision'),
    onAccept: () => {},
    tell: () => undefined,
    reports: [],
    async start() {
      await stage.adapter.start({
        async accept(event) {
          const accepting = stage.onAccept(event);
          changed();
          await accepting;
          stage.stored.push(event);
          changed();
          return stage.tell(event);
        },
      });
    },
    async replace(config = platform.config) {
      await stage.adapter.close?.();
      stage.adapter = create(config);
    },
    until,
    message: (number) => stage.until(`message ${number}`, () => stage.messages()[number - 1]),
    outgoing(spot, markdown, more = {}) {
      serial += 1;
      return { id: `out-${serial}`, place: { channel, ...spot }, markdown, ...more };
    },
    send: (spot, markdown, more) =>
      stage.adapter.send(stage.outgoing(spot, markdown, more), AbortSignal.timeout(sendMs)),
  };
  stage.adapter = create(platform.config);
  t.after(async () => {
    await stage.adapter.stop();
    await stage.adapter.close?.();
    await platform.close();
    await db.close();
    rmSync(folder, { recursive: true, force: true });
    for (const secret of platform.secrets) assert.ok(!said().includes(secret), 'R90: a secret was said');
  });
  return stage;
}

/** A part of the driver that this case cannot do without. */
export function need<T>(part: T | undefined, name: string): T {
  assert.ok(part !== undefined, `the driver has no ${name}: write it, or list this case in cannot`);
  return part;
}

export async function deliveryError(sending: Promise<unknown>): Promise<DeliveryError> {
  const error = await sending.then(
    () => assert.fail('it succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeliveryError, `not a DeliveryError: ${error}`);
  return error;
}

export interface Held {
  said: Said;
  /** Lets it be stored, or with an error refuses it. */
  release(error?: Error): void;
}

/** Starts the adapter and resolves when a message of Alice has reached the inbox, which does not store it yet. */
export async function holdMessage(stage: Stage): Promise<Held> {
  const { platform } = stage;
  const hold = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  stage.onAccept = () => {
    reached.resolve();
    return hold.promise;
  };
  await stage.start();
  const alice = platform.person('Alice');
  const said = platform.say(platform.direct(alice), alice, 'hello');
  await reached.promise;
  return { said, release: (error) => (error ? hold.reject(error) : hold.resolve()) };
}
