/** What the invariants promise, counted (rule 92). */
import { Counter, Gauge, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import { countPending } from '../store/approvals.ts';
import type { Db } from '../store/db.ts';
import { outboxBacklog } from '../store/outbox.ts';
import { countActiveRuns } from '../store/runs.ts';

const counters = {
  inbox_messages: 'Messages taken for the bot.',
  inbox_duplicates: 'Redelivered events that were dropped.',
  inbox_ignored: 'Events that were not for the bot.',
  inbox_refused: 'Messages refused: no access, queue full.',
  runs_completed: 'Runs that answered.',
  runs_failed: 'Runs that ended by an error.',
  runs_cancelled: 'Runs that were stopped.',
  runs_over_budget: 'Runs that would have passed a spending cap.',
  tool_calls: 'Tool calls that ran.',
  tool_calls_refused: 'Tool calls that were refused or had wrong arguments.',
  approvals_asked: 'Times people were asked about the calls of a step.',
  approvals_decided: 'Questions that people decided.',
  approvals_expired: 'Questions that nobody decided in time.',
  approvals_withdrawn: 'Questions that were taken back.',
  outbox_sent: 'Messages and edits the platforms took.',
  outbox_retries: 'Sends that will be repeated.',
  outbox_unknown: 'Sends whose outcome was unknown.',
  outbox_failed: 'Messages given up.',
  outbox_rate_limited: 'Answers "too many requests" of platforms.',
} as const;

export type CounterName = keyof typeof counters;

export interface Metrics {
  count(name: CounterName): void;
  /** Counts an adapter's own events, such as reconnects. */
  countChannel(channel: string, name: string): void;
  /** Prometheus text; `channels` as they are now. */
  text(channels: readonly { name: string; state: string; since: number }[]): Promise<string>;
}

export function createMetrics(db: Db, clock: Clock): Metrics {
  const registry = new Registry();
  const made = new Map<string, Counter>();
  for (const [name, help] of Object.entries(counters))
    made.set(name, new Counter({ name: `gatehouse_${name}_total`, help, registers: [registry] }));
  const channelEvents = new Counter({
    name: 'gatehouse_channel_events_total',
    help: 'Events an adapter counts, such as reconnects.',
    labelNames: ['channel', 'event'],
    registers: [registry],
  });
  const channelUp = new Gauge({
    name: 'gatehouse_channel_up',
    help: '1 while the channel is connected.',
    labelNames: ['channel'],
    registers: [registry],
  });
  const channelAge = new Gauge({
    name: 'gatehouse_channel_age_seconds',
    help: 'How long the channel has been in its state.',
    labelNames: ['channel'],
    registers: [registry],
  });
  const waiting = new Gauge({ name: 'gatehouse_outbox_waiting', help: 'Undelivered messages.', registers: [registry] });
  const age = new Gauge({
    name: 'gatehouse_outbox_age_seconds',
    help: 'Age of the oldest undelivered message.',
    registers: [registry],
  });
  const active = new Gauge({ name: 'gatehouse_runs_active', help: 'Runs queued or running.', registers: [registry] });
  const pending = new Gauge({
    name: 'gatehouse_approvals_pending',
    help: 'Questions that wait for people.',
    registers: [registry],
  });
  const memory = new Gauge({ name: 'gatehouse_memory_bytes', help: 'Resident memory.', registers: [registry] });
  return {
    count: (name) => made.get(name)?.inc(),
    countChannel: (channel, event) => channelEvents.inc({ channel, event }),
    async text(channels) {
      channelUp.reset();
      channelAge.reset();
      for (const { name, state, since } of channels) {
        channelUp.set({ channel: name }, state === 'up' ? 1 : 0);
        channelAge.set({ channel: name }, Math.max(0, clock.now() - since) / 1000);
      }
      const backlog = await outboxBacklog(db);
      waiting.set(backlog.count);
      age.set(backlog.oldest === null ? 0 : Math.max(0, clock.now() - backlog.oldest) / 1000);
      active.set(await countActiveRuns(db));
      pending.set(await countPending(db));
      memory.set(process.memoryUsage.rss());
      return registry.metrics();
    },
  };
}
