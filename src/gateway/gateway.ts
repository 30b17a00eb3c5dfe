/** Puts the stages together and starts them. Everything they need is handed in from here; nothing here decides. */
import { basename, join } from 'node:path';
import { createExpiry } from '../approvals/expire.ts';
import type { ApprovalParts } from '../approvals/parts.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type Log, mask } from '../base/log.ts';
import { commandName } from '../base/program.ts';
import { ownToolNames } from '../config/check_agents.ts';
import type { Config } from '../config/config.ts';
import type { Plugins } from '../config/schema.ts';
import { ownFiles } from '../control/own_files.ts';
import { pageAccountOf } from '../http/page_account.ts';
import { createHttp } from '../http/server.ts';
import { createInbox } from '../inbox/accept.ts';
import type { InboxParts } from '../inbox/arrival.ts';
import { moveChat } from '../inbox/changes.ts';
import { describeCommands } from '../inbox/commands.ts';
import { createDispatch } from '../inbox/dispatch.ts';
import { createModel } from '../models/create_model.ts';
import { createDeliver } from '../outbox/deliver.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { ensureOwner, hasNoAdmin, mintClaim } from '../people/admission.ts';
import { isFinal } from '../run/machine.ts';
import { createWorker } from '../run/worker.ts';
import type { SkillTool } from '../skills/tool.ts';
import type { CommitHooks, Db } from '../store/db.ts';
import { createDataFolder } from '../store/lock.ts';
import { openOwnStore } from '../store/open.ts';
import { freeForeignSends, isReplaced } from '../store/outbox.ts';
import { freeForeignRuns, readRun } from '../store/runs.ts';
import type { SignedIn } from '../store/sessions.ts';
import { createValueStore } from '../store/values.ts';
import { createPolicies } from '../tools/facts.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { Model } from '../types/model.ts';
import type { Settings } from '../types/settings.ts';
import { wordsFor } from '../words/index.ts';
import { type ChannelReport, createChannels } from './channels.ts';
import { createCleaner } from './cleaner.ts';
import { watchClock } from './clock_watch.ts';
import { policyDesk } from './control_policy.ts';
import { createMetrics } from './metrics.ts';
import { publishAgents } from './publish.ts';
import { createSkillCalls } from './skill_calls.ts';
import { skillRule } from './skill_rule.ts';
import { createSkills, type Skills } from './skills.ts';

export interface GatewayOptions {
  config: Config;
  plugins: Plugins;
  log: Log;
  clock?: Clock;
  /** The clock tells the time of this machine, so on PostgreSQL it must agree with the database's. */
  comparesClock?: boolean;
  /** What skills may be given variables of; the process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** Values that must not be shown to anybody, as they are now. */
  secrets?: () => readonly string[];
  /** Crash tests only. */
  hooks?: CommitHooks;
  /** A channel cannot work until its configuration changes; its report says why. */
  onChannelFailed?: (report: ChannelReport) => void;
}

export interface Gateway {
  url: string;
  db: Db;
  settings(): Settings;
  /** For deciding questions outside of a chat. */
  approvals: ApprovalParts;
  /** All that agents may have. */
  capabilities(): readonly CapabilityPlugin[];
  reports(): ChannelReport[];
  skills: Pick<Skills, 'remarks' | 'warnings'>;
  /** The code that makes somebody the first admin; null when there is one. Shown once. */
  claimCode: string | null;
  /** For the owner (null), or for somebody by name; the first one makes the owner an admin when there is none. */
  signInLink(name: string | null): Promise<string>;
  /** The account that such a link signs in. Throws without a channel of type web. */
  whoSignsIn(name: string | null): SignedIn;
  reload(config: Config): Promise<void>;
  /** Drains (rule 88) and gives the data folder back. */
  stop(): Promise<void>;
}

/** Throws a GatehouseError with a hint when the data folder, the database or the port cannot be had, or clocks disagree. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { plugins, log } = options;
  const clock = options.clock ?? systemClock;
  let { config } = options;
  const { dataDir } = config.gateway;
  const configFile = basename(config.file);
  createDataFolder(dataDir);
  const owner = newId(clock.now());

  const { db, close } = await openOwnStore(config.storage.url, dataDir, {
    log,
    ...(options.hooks ? { hooks: options.hooks } : {}),
  });
  const clockWatch =
    options.comparesClock === true && db.dialect === 'postgres'
      ? await watchClock({ db, clock, log }).catch(async (error) => {
          await close();
          throw error;
        })
      : null;
  // With SQLite this process is the only one: what another left half done is free at once (DESIGN, Storage).
  if (db.dialect === 'sqlite')
    await db.tx(async (q) => {
      await freeForeignRuns(q, owner);
      await freeForeignSends(q, owner);
    });

  const metrics = createMetrics(db, clock);
  const skills = createSkills({
    dataDir,
    hidden: ownFiles({ dataDir, configFile: config.file, storageUrl: config.storage.url }),
    taken: ownToolNames(plugins),
    env: options.env ?? process.env,
    mask: (text) => mask(text, options.secrets?.() ?? []),
    clock,
    log,
  });
  const capabilities = () => [...plugins.capabilities, ...skills.capabilities()];
  let models = new Map<string, Model>();
  let settings: Settings;

  const approvals: ApprovalParts = {
    settings: () => settings,
    adapterOf: (channel) => channels.adapterOf(channel),
    count: metrics.count,
  };
  const inboxParts: InboxParts = {
    db,
    clock,
    log,
    settings: () => settings,
    capabilities,
    limitsOf: (channel) =>
      channels.adapterOf(channel)?.limits ?? { textLength: limits.answerCharsMax, measure: (text) => text.length },
    approvals,
    count: metrics.count,
  };
  const channels = createChannels({
    db,
    clock,
    log,
    owner,
    metrics,
    plugins: plugins.adapters,
    // As the HTTP server has it: a reload changes neither.
    publicUrl: config.gateway.publicUrl,
    onFailed: options.onChannelFailed ?? (() => {}),
    inboxOf: (channel) => createInbox(inboxParts, channel),
    settled: (channel) => deliver.settled(channel),
    commands: () => describeCommands(wordsFor(null, config.gateway.language)),
  });

  const apply = async (next: Config) => {
    config = next;
    await channels.set(next.channels);
    await skills.load(next.skills, next.agents);
    models = new Map();
    settings = {
      gatewayName: next.gateway.name,
      language: next.gateway.language,
      timezone: next.gateway.timezone,
      runsMax: next.gateway.concurrency.runs,
      bindings: next.bindings,
      agents: await publishAgents(db, next.agents, clock.now()),
      models: next.models,
      admins: new Set(next.admins),
      policies: next.policies,
      channels: channels.facts(),
    };
  };
  await apply(config);

  const modelOf = (profile: string): Model => {
    let model = models.get(profile);
    if (!model) {
      model = createModel(profile, settings.models, { clock, log });
      models.set(profile, model);
    }
    return model;
  };
  const deliver = createDeliver({
    db,
    clock,
    log,
    owner,
    channels: channels.sending,
    adapterOf: channels.adapterOf,
    onMigrated: (channel, from, to) => db.tx((q) => moveChat(q, channel, { from, to })),
    async onFailed(row) {
      // Once, and never about the notice itself, so that an unreachable chat does not fill the outbox.
      const adapter = channels.adapterOf(row.place.channel);
      if (!adapter || row.runId === null) return;
      await db.tx(async (q) => {
        // A first piece: the whole answer is still to come, as a message of its own.
        const run = await readRun(q, row.runId ?? '');
        if ((run && !isFinal(run.state)) || (await isReplaced(q, row))) return;
        const markdown = wordsFor(null, settings.language).undeliverable;
        const report = { place: row.place, direct: row.direct, markdown, runId: null, replyTo: null };
        await enqueue(q, { ...report, priority: 'report' }, adapter.limits, clock.now());
      });
    },
    count: metrics.count,
  });
  const worker = createWorker({
    db,
    clock,
    log,
    owner,
    settings: () => settings,
    capabilities,
    policies: createPolicies({ db, log, settings: () => settings }),
    modelOf,
    adapterOf: channels.adapterOf,
    paceOf: deliver.paceOf,
    valuesOf: (agent, of) => createValueStore(db, clock, agent, of),
    approvals,
    secrets: options.secrets ?? (() => []),
    uploadsFolder: join(dataDir, 'uploads'),
    count: metrics.count,
  });
  const dispatch = createDispatch({ db, clock, log, settings: () => settings, worker });
  const ruleOf = ({ id }: SkillTool, who: Pick<SignedIn, 'channel' | 'userId'>) =>
    skillRule(db, settings.policies, id, who);
  const skillCalls = createSkillCalls({
    db,
    clock,
    log,
    approvals,
    tools: skills.tools,
    ruleOf,
    secrets: options.secrets ?? (() => []),
  });
  const expiry = createExpiry({ ...approvals, db, clock, log });
  const cleaner = createCleaner({ db, clock, log, dataDir, retention: () => config.retention });
  const http = createHttp({
    listen: config.gateway.listen,
    publicUrl: config.gateway.publicUrl,
    configFile,
    db,
    clock,
    log,
    channels: channels.list,
    async readiness() {
      const reason = await db.ping().then(() => clockWatch?.reason() ?? null, messageOf);
      const store = reason === null ? { ok: true } : { ok: false, reason };
      return { store, channels: channels.reports() };
    },
    metrics: async () => (config.metrics.enabled ? metrics.text(channels.reports()) : ''),
    onOwner: (who, q) => ensureOwner(q, who, clock.now()),
    policies: policyDesk({ db, now: () => clock.now(), capabilities, policySettings: () => settings }),
    skills: {
      tools: skills.tools,
      ruleOf,
      askForSkill: skillCalls.ask,
      readCall: skillCalls.read,
    },
    approvals,
  });

  const { url } = await http.start().catch(async (error) => {
    clockWatch?.stop();
    await skills.close();
    await close();
    throw error;
  });
  deliver.start();
  worker.start();
  dispatch.start();
  expiry.start();
  skillCalls.start();
  cleaner.start();
  channels.start();
  const claimCode = await db.tx((q) => mintClaim(q, settings.admins.size, clock.now()));

  function whoSignsIn(name: string | null): SignedIn {
    const web = channels.list().find((channel) => channel.type === 'web');
    if (!web)
      throw new GatehouseError('unavailable', 'there is no channel of type web, so there is no page to sign in to', {
        hint: `add a channel with type: web and a binding for it to ${configFile}, then "${commandName()} reload"`,
      });
    return { channel: web.name, ...pageAccountOf(name) };
  }

  let stopping: Promise<void> | null = null;
  /** One reload after another: of two at once the older could be the last to take effect. */
  let applying: Promise<void> = Promise.resolve();
  return {
    url,
    db,
    settings: () => settings,
    approvals,
    capabilities,
    reports: channels.reports,
    skills,
    claimCode,
    async signInLink(name) {
      const owner = name === null && (await hasNoAdmin(db, settings.admins.size));
      return http.signInLink({ ...whoSignsIn(name), owner });
    },
    whoSignsIn,
    reload(next) {
      const done = applying.then(async () => {
        if (stopping) throw new GatehouseError('unavailable', 'the gateway is stopping');
        await apply(next);
        channels.start();
        deliver.wake();
        dispatch.wake();
      });
      applying = done.catch(() => {});
      return done;
    },
    stop() {
      stopping ??= (async () => {
        await applying;
        await channels.stop();
        await dispatch.stop();
        await Promise.all([worker.stop(), skillCalls.stop()]);
        await expiry.stop();
        cleaner.stop();
        clockWatch?.stop();
        await deliver.stop();
        await channels.close();
        await http.stop();
        await skills.close();
        await close();
      })();
      return stopping;
    },
  };
}
