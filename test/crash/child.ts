/**
 * A whole gateway in a process of its own that kills itself where it is told to. Its parent is `gateway_process.ts`;
 * they talk over Node's IPC channel.
 */
import { flushCompileCache } from 'node:module';
import { createLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins as shipped } from '../../src/plugins.ts';
import type { Db } from '../../src/store/db.ts';
import { type ClockRate, createFastClock } from '../support/fast_clock.ts';
import { type Counts, createTrigger, type KillPoint } from './kill_point.ts';
import { createLinesCapability } from './lines_capability.ts';

export interface ChildOptions {
  configFile: string;
  linesFile: string;
  rate: ClockRate;
  /** Where this process dies if nothing else is said; null = nowhere. */
  point: KillPoint | null;
}

export type Question =
  | { ask: 'arm'; point: KillPoint | null }
  | { ask: 'counts' }
  /** Answered when no row waits for anything: no message, no run, nothing to send. */
  | { ask: 'settled' }
  | { ask: 'sign_in'; name: string };
export type Reply = null | Counts | string;
export type FromChild = { ready: true } | { serial: number; reply: Reply };
export type ToChild = { serial: number } & Question;

const openRows = `select (select count(*) from inbox where state in ('waiting', 'taken'))
  + (select count(*) from runs where state in ('queued', 'running', 'awaiting_approval'))
  + (select count(*) from outbox where state in ('pending', 'sending')) as n`;

const options = JSON.parse(process.env.CRASH_CHILD ?? '') as ChildOptions;
const trigger = createTrigger();
trigger.arm(options.point);
let onCommit = () => {};

function happened(event: string): void {
  if (trigger.happened(event)) process.kill(process.pid, 'SIGKILL');
}

function tell(message: FromChild): void {
  process.send?.(message);
}

async function settled(db: Db): Promise<void> {
  for (;;) {
    const committed = new Promise<void>((resolve) => {
      onCommit = resolve;
    });
    const row = await db.get<{ n: number }>(openRows);
    if (row?.n === 0) return;
    await committed;
  }
}

const plugins = {
  adapters: shipped.adapters,
  capabilities: [...shipped.capabilities, createLinesCapability(options.linesFile, happened)],
};
const gateway = await startGateway({
  config: loadConfig(options.configFile, {}, plugins).config,
  plugins,
  log: createLog({ level: 'warn', format: 'json', secrets: () => [] }),
  clock: createFastClock(options.rate),
  hooks: {
    beforeCommit: () => happened('commit.before'),
    afterCommit: () => {
      happened('commit.after');
      onCommit();
    },
  },
});

async function answer(question: Question): Promise<Reply> {
  if (question.ask === 'arm') {
    trigger.arm(question.point);
    return null;
  }
  if (question.ask === 'counts') return trigger.counts();
  if (question.ask === 'sign_in') return gateway.signInLink(question.name);
  await settled(gateway.db);
  return null;
}

process.on('message', (message: ToChild) => {
  answer(message).then((reply) => tell({ serial: message.serial, reply }));
});
// Whoever started us is gone.
process.on('disconnect', () => process.exit(1));
// A process that is killed writes no compile cache by itself.
flushCompileCache();
tell({ ready: true });
