/** The program: the command line, and for `start` the gateway with its signals. */
import { spawn } from 'node:child_process';
import { systemClock } from './base/clock.ts';
import { GatehouseError, messageOf } from './base/errors.ts';
import { createLog, mask } from './base/log.ts';
import { commandName, readVersion } from './base/program.ts';
import { remarks } from './cli/config_file.ts';
import { runCli } from './cli/index.ts';
import { exitCodes } from './cli/program.ts';
import { formatIssue } from './config/issue.ts';
import { type LoadedConfig, loadConfig, settleAuto } from './config/load.ts';
import type { Plugins } from './config/schema.ts';
import { startControl } from './control/server.ts';
import type { ChannelReport } from './gateway/channels.ts';
import type { Gateway } from './gateway/gateway.ts';

const loadPlugins = async (): Promise<Plugins> => (await import('./plugins.ts')).plugins;

const version = readVersion();

/** A channel that fails this soon is told to whoever has just started the gateway; later it is the log's. */
const failedSoonMs = 15_000;

async function start(loaded: LoadedConfig, options: { open: boolean }): Promise<number> {
  const [{ startGateway }, { onlineHandlers }, plugins] = await Promise.all([
    import('./gateway/gateway.ts'),
    import('./gateway/control.ts'),
    loadPlugins(),
  ]);
  let secrets = loaded.secretValues;
  const log = createLog({ ...loaded.config.gateway.log, secrets: () => secrets });
  const startedAt = systemClock.now();
  const early: string[] = [];
  let greeted = false;
  const gateway = await startGateway({
    config: loaded.config,
    plugins,
    log,
    comparesClock: true,
    secrets: () => secrets,
    onChannelFailed({ name, reason }: ChannelReport) {
      const line = mask(`${name} is not working: ${reason ?? 'see the log'}\n`, secrets);
      if (!greeted) early.push(line);
      else if (systemClock.now() - startedAt < failedSoonMs) process.stdout.write(line);
    },
  });

  let end: (code: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  let reloaded = loaded;
  const reload = async (): Promise<string[]> => {
    const next = await settleAuto(loadConfig(loaded.config.file, process.env, plugins, loaded.folder), process.env);
    const fixed = needsRestart(reloaded, next);
    secrets = [...new Set([...secrets, ...next.secretValues])];
    await gateway.reload(next.config);
    reloaded = next;
    log.info({ file: next.file }, 'the new configuration is in use');
    return [...remarks(next), ...fixed, ...skillLines(gateway, next.file), ...(await gateway.skills.warnings())];
  };
  const control = await startControl(loaded.config.gateway.dataDir, {
    ...onlineHandlers({
      db: gateway.db,
      now: () => systemClock.now(),
      timezone: loaded.config.gateway.timezone,
      language: loaded.config.gateway.language,
      factsOf: (channel) => gateway.settings().channels.get(channel),
      approvals: gateway.approvals,
      capabilities: gateway.capabilities,
      policySettings: gateway.settings,
      version,
      startedAt,
      url: gateway.url,
      settings: gateway.settings,
      reports: gateway.reports,
      signInLink: gateway.signInLink,
      whoSignsIn: gateway.whoSignsIn,
      localOnly: isLoopback(loaded.config.gateway.listen.host),
    }),
    reload: async () => ({ remarks: await reload() }),
    stop: async () => {
      setImmediate(() => end(exitCodes.ok));
      return { pid: process.pid };
    },
  });

  process.on('SIGHUP', () => {
    reload().catch((error) =>
      log.error({}, `the configuration was not reloaded, the old one stays: ${messageOf(error)}`),
    );
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      log.info({ signal }, 'stopping');
      end(exitCodes.ok);
    });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a promise was rejected and nobody looked'));

  for (const line of skillLines(gateway, loaded.file)) process.stdout.write(`${line}\n`);
  await greet(gateway, loaded, options.open);
  for (const line of await gateway.skills.warnings()) process.stdout.write(`${inRed(mask(line, secrets))}\n`);
  greeted = true;
  for (const line of early) process.stdout.write(line);
  const code = await ended;
  await control.close();
  await gateway.stop();
  return code;
}

const skillLines = ({ skills }: Pick<Gateway, 'skills'>, file: string): string[] =>
  skills.remarks().map(({ path, message }) => formatIssue(file, { path, message: `warning: ${message}` }));

/** On a terminal that has colours. */
const inRed = (text: string): string =>
  process.stdout.isTTY && process.env.NO_COLOR === undefined ? `\x1b[1;31m${text}\x1b[0m` : text;

const isLoopback = (host: string): boolean => /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);

/** What a reload cannot change, said once. */
function needsRestart(before: LoadedConfig, after: LoadedConfig): string[] {
  const keys = ['listen', 'dataDir', 'publicUrl'] as const;
  const changed = keys.filter(
    (key) => JSON.stringify(before.config.gateway[key]) !== JSON.stringify(after.config.gateway[key]),
  );
  const names = { listen: 'gateway.listen', dataDir: 'gateway.data_dir', publicUrl: 'gateway.public_url' };
  const lines = changed.map((key) => `${names[key]} changes with the next start`);
  if (before.config.storage.url !== after.config.storage.url) lines.push('storage.url changes with the next start');
  return lines;
}

async function greet(
  gateway: Pick<Gateway, 'url' | 'claimCode' | 'signInLink' | 'reports'>,
  loaded: LoadedConfig,
  open: boolean,
): Promise<void> {
  const lines = [`Gatehouse ${version} is running at ${gateway.url}`];
  if (gateway.reports().some(({ type }) => type === 'web')) {
    const link = await gateway.signInLink(null);
    lines.push('', 'Open the chat page with this link; it works once, within 15 minutes:', `  ${link}`);
    if (open && process.stdout.isTTY && !process.env.CI) openInBrowser(link);
  }
  const onPlatforms = loaded.config.bindings.some(({ channel }) => loaded.config.channels[channel]?.type !== 'web');
  if (onPlatforms && gateway.claimCode === null)
    lines.push('', `People who write to a bot get a code; let them in with: ${commandName()} pair CODE`);
  if (onPlatforms && gateway.claimCode !== null)
    lines.push(
      '',
      'To become the first admin from a chat, send the bot this in a direct message within an hour:',
      `  claim ${gateway.claimCode}`,
    );
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Best effort: without a desktop the printed link is enough. */
function openInBrowser(link: string): void {
  const program =
    process.platform === 'darwin' ? 'open' : process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? 'xdg-open' : null;
  if (program === null) return;
  spawn(program, [link], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

async function offline(loaded: LoadedConfig, command: string, args: Record<string, unknown>): Promise<unknown> {
  const [{ openOwnStore }, { offlineHandlers }, { skillsAtRest }, plugins] = await Promise.all([
    import('./store/open.ts'),
    import('./gateway/control.ts'),
    import('./gateway/skills_at_rest.ts'),
    loadPlugins(),
  ]);
  const { config } = loaded;
  const { db, close } = await openOwnStore(config.storage.url, config.gateway.dataDir);
  try {
    const skills = command === 'policy' || command === 'tools' ? await skillsAtRest(config, plugins) : [];
    const handler = offlineHandlers({
      db,
      now: () => systemClock.now(),
      timezone: config.gateway.timezone,
      language: config.gateway.language,
      factsOf: (channel) => plugins.adapters.find(({ type }) => type === config.channels[channel]?.type),
      capabilities: () => [...plugins.capabilities, ...skills],
      policySettings: () => ({
        policies: config.policies,
        admins: new Set(config.admins),
        timezone: config.gateway.timezone,
        bindings: config.bindings,
        agents: new Map(Object.values(config.agents).map((spec) => [spec.id, { spec }])),
      }),
    })[command];
    if (!handler)
      throw new GatehouseError('unavailable', `${command} needs a running gateway`, {
        hint: `start it with "${commandName()} start"`,
      });
    return await handler(args as Parameters<typeof handler>[0]);
  } finally {
    await close();
  }
}

process.exitCode = await runCli(process.argv.slice(2), { version, plugins: loadPlugins, start, offline });
// What still lingers (an idle connection, a timer of a library) must not keep a stopped program.
process.exit();
