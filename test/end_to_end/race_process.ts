/**
 * A gateway in a process of its own on a platform that is a pipe: its parent (`approval_race.test.ts`) hands it what
 * people do, at the very moment it wants, and is told what people are shown.
 */
import { createLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins as shipped } from '../../src/plugins.ts';
import type { AdapterPlugin, Inbox, Receipt } from '../../src/types/adapter.ts';
import type { InboundEvent, OutgoingMessage } from '../../src/types/message.ts';
import { createLinesCapability } from '../crash/lines_capability.ts';
import { type ClockRate, createFastClock } from '../support/fast_clock.ts';

export interface RaceProcess {
  configFile: string;
  linesFile: string;
  rate: ClockRate;
}
/** `flush` is answered behind everything that was told before. */
export type ToRacer = { serial: number } & ({ accept: InboundEvent } | { flush: true });
export type FromRacer =
  | { ready: true }
  | { serial: number; receipt: Receipt | null }
  | { serial: number; error: string }
  | { shown: 'send' | 'edit'; ref: string; message: OutgoingMessage }
  /** A line of the log, warnings and worse. */
  | { log: string };

const { configFile, linesFile, rate } = JSON.parse(process.env.RACE_PROCESS ?? '') as RaceProcess;
const clock = createFastClock(rate);
const tell = (message: FromRacer) => void process.send?.(message);
const started = Promise.withResolvers<Inbox>();

const pipe: AdapterPlugin = {
  type: 'pipe',
  configSchema: { type: 'object', properties: {}, additionalProperties: false },
  defaultAccess: { direct: 'open', group: 'open' },
  groupsNeedAdmission: false,
  create: (_config, context) => ({
    features: {
      buttons: true,
      edits: true,
      streaming: false,
      threads: false,
      typing: false,
      reactions: false,
      files: false,
      history: false,
      directory: false,
      ephemeral: true,
      deletions: true,
      reconcile: 'idempotent',
    },
    limits: {
      textLength: 4_000,
      measure: (markdown) => markdown.trim().length,
      directPerSecond: 1_000,
      groupPerMinute: 60_000,
      accountPerSecond: 10_000,
      buttonsPerMessage: 50,
      buttonsPerRow: 5,
      buttonDataBytes: 64,
      fileBytesMax: 0,
    },
    async start(inbox) {
      context.report('up');
      started.resolve(inbox);
    },
    async send(message) {
      const ref = `shown:${message.id}`;
      tell({ shown: 'send', ref, message });
      return { ref, sentAt: clock.now() };
    },
    async edit(ref, message) {
      tell({ shown: 'edit', ref, message });
    },
    async stop() {},
    lookup: { isMember: async (chat) => chat.startsWith('near') },
  }),
};

const plugins = {
  adapters: [...shipped.adapters, pipe],
  capabilities: [...shipped.capabilities, createLinesCapability(linesFile, () => {})],
};
await startGateway({
  config: loadConfig(configFile, {}, plugins).config,
  plugins,
  log: createLog({ level: 'warn', format: 'json', secrets: () => [], write: (log) => tell({ log }) }),
  clock,
});
const inbox = await started.promise;
process.on('message', (order: ToRacer) => {
  const { serial } = order;
  if ('flush' in order) return tell({ serial, receipt: null });
  inbox.accept(order.accept).then(
    (receipt) => tell({ serial, receipt: receipt ?? null }),
    (error) => tell({ serial, error: String(error) }),
  );
});
// Whoever started us is gone.
process.on('disconnect', () => process.exit(1));
tell({ ready: true });
