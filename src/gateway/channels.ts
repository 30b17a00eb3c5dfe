/** The adapters of this process: made from the configuration, started, watched, replaced by a reload. */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChannelConfig } from '../config/config.ts';
import { createChannelState } from '../store/channel_state.ts';
import type { Db } from '../store/db.ts';
import { createJournal } from '../store/journal.ts';
import type { Adapter, AdapterPlugin, ChannelState, Inbox } from '../types/adapter.ts';
import type { ChannelFacts } from '../types/settings.ts';
import { createLeader, type Leader } from './leader.ts';
import type { Metrics } from './metrics.ts';

export interface ChannelReport {
  name: string;
  type: string;
  state: ChannelState;
  reason?: string;
  since: number;
}

export interface ChannelsParts {
  db: Db;
  clock: Clock;
  log: Log;
  /** Of this process. */
  owner: string;
  metrics: Metrics;
  plugins: readonly AdapterPlugin[];
  publicUrl: string | null;
  onFailed: (report: ChannelReport) => void;
  inboxOf: (channel: string) => Inbox;
  /** Resolves when nothing is being sent over a channel. */
  settled: (channel: string) => Promise<void>;
  commands: () => { name: string; description: string }[];
}

interface Running {
  plugin: AdapterPlugin;
  config: string;
  adapter: Adapter;
  report: ChannelReport;
  tell(state: ChannelState, reason?: string): void;
  /** Only where another process may receive instead of this one. */
  leader: Leader | null;
}

export interface Channels {
  /** Makes, replaces and removes adapters so that they are those of the configuration. Starts nothing. */
  set(configs: Readonly<Record<string, ChannelConfig>>): Promise<void>;
  /** Starts those that do not run yet; resolves at once, their reports say how it goes. */
  start(): void;
  adapterOf(channel: string): Adapter | undefined;
  /** Names of those over which a message may be sent now. */
  sending(): string[];
  facts(): Map<string, ChannelFacts>;
  list(): { name: string; type: string; adapter: Adapter }[];
  reports(): ChannelReport[];
  /** No further event comes in; sending still works. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export function createChannels(parts: ChannelsParts): Channels {
  const running = new Map<string, Running>();
  const started = new Set<string>();
  /** Being replaced: runs still find the adapter, but no new message goes over it. */
  const leaving = new Set<string>();

  function make(name: string, config: ChannelConfig, plugin: AdapterPlugin): Running {
    const log = parts.log.child({ channel: name });
    const report: ChannelReport = { name, type: config.type, state: 'starting', since: parts.clock.now() };
    let registered = false;
    /** A menu that could not be set is no reason to call the channel failed: tried again when it next comes up. */
    const registerCommands = () => {
      if (registered) return;
      registered = true;
      adapter.registerCommands?.(parts.commands()).catch((error) => {
        registered = false;
        log.warn({ err: error }, `the command menu was not set: ${messageOf(error)}`);
      });
    };
    const tell = (state: ChannelState, reason?: string) => {
      if (report.state === state && report.reason === reason) return;
      report.state = state;
      report.since = parts.clock.now();
      if (reason === undefined) delete report.reason;
      else report.reason = reason;
      if (state === 'up') {
        log.info(reason === undefined ? {} : { reason }, 'channel is up');
        registerCommands();
      } else if (state === 'failed') {
        log.error({ reason }, 'channel has failed');
        parts.onFailed(report);
      } else log.warn({ reason, state }, 'channel is not up');
    };
    const adapter = plugin.create(config.settings, {
      channel: name,
      log,
      clock: parts.clock,
      publicUrl: parts.publicUrl,
      journal: createJournal(parts.db, parts.clock, name),
      state: createChannelState(parts.db, name),
      report: tell,
      count: (event) => parts.metrics.countChannel(name, event),
    });
    const channel: Running = { plugin, config: JSON.stringify(config), adapter, report, tell, leader: null };
    // SQLite has one process (rule 94).
    if (adapter.singleConsumer && parts.db.dialect === 'postgres')
      channel.leader = createLeader({
        ...parts,
        log,
        channel: name,
        lead: () => receive(name, channel),
        retire: () => adapter.stop(),
        standBy: (why) =>
          why === 'elsewhere'
            ? tell('up', 'another process receives for this channel')
            : tell('down', 'the database does not say whether another process receives; trying again'),
      });
    return channel;
  }

  function receive(name: string, { adapter, tell }: Running): void {
    adapter.start(parts.inboxOf(name)).catch((error) => {
      parts.log.error({ channel: name, err: error }, 'channel did not start');
      tell('failed', messageOf(error));
    });
  }

  const stop = ({ leader, adapter }: Running) => (leader ? leader.stop() : adapter.stop());

  /** Removed when there is no `next`. */
  async function replace(name: string, old: Running, next: ChannelConfig | undefined): Promise<void> {
    leaving.add(name);
    try {
      if (started.delete(name)) await stop(old);
      // A send that is cut off would be repeated by the next adapter, and stand there twice.
      await parts.settled(name);
      running.delete(name);
      if (next) add(name, next);
    } finally {
      leaving.delete(name);
    }
    await old.adapter.close?.();
  }

  function add(name: string, config: ChannelConfig): void {
    const plugin = parts.plugins.find((candidate) => candidate.type === config.type);
    if (plugin) running.set(name, make(name, config, plugin));
  }

  return {
    async set(configs) {
      for (const [name, channel] of [...running])
        if (JSON.stringify(configs[name] ?? null) !== channel.config) await replace(name, channel, configs[name]);
      for (const [name, config] of Object.entries(configs)) if (!running.has(name)) add(name, config);
    },
    start() {
      for (const [name, channel] of running) {
        if (started.has(name)) continue;
        started.add(name);
        if (channel.leader) void channel.leader.start();
        else receive(name, channel);
      }
    },
    adapterOf: (channel) => running.get(channel)?.adapter,
    sending: () => [...running.keys()].filter((name) => !leaving.has(name)),
    facts: () =>
      new Map(
        [...running].map(([name, { plugin, adapter }]) => [
          name,
          {
            threads: adapter.features.threads,
            groupsNeedAdmission: plugin.groupsNeedAdmission,
            accountIds: plugin.accountIds,
            groupIds: plugin.groupIds,
          },
        ]),
      ),
    list: () => [...running].map(([name, { plugin, adapter }]) => ({ name, type: plugin.type, adapter })),
    reports: () => [...running.values()].map(({ report }) => report),
    async stop() {
      const all = [...started].map((name) => running.get(name)).filter((channel) => channel !== undefined);
      await Promise.all(all.map(stop));
    },
    async close() {
      await Promise.all([...running.values()].map(({ adapter }) => adapter.close?.()));
    },
  };
}
