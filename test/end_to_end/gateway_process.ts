/** The program itself in a process of its own, with a configuration file that the test writes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import { startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/index.ts';
import { configOf, type TestGatewayOptions } from '../support/gateway.ts';

const launcher = fileURLToPath(new URL('../../bin/gatehouse.js', import.meta.url));
/** Starts of a program take long on a loaded machine; one that hangs ends here. */
const waitMs = 45_000;

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface GatewayProcess {
  pid: number;
  /** From its standard output; a process that does not listen within the wait is a failure. */
  url: string;
  out(): string;
  err(): string;
  /** Of its log, in order. */
  lines(): Record<string, unknown>[];
  /** Resolves when its log holds a line whose text fits. */
  logged(text: RegExp): Promise<Record<string, unknown>>;
  signal(name: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface Site {
  folder: string;
  dataDir: string;
  telegram: TelegramEmulator;
  model: ModelServer;
  /** Writes config.yaml. */
  configure(over?: NonNullable<TestGatewayOptions['config']>): Promise<void>;
  writeConfig(text: string): Promise<void>;
  start(): Promise<GatewayProcess>;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ended>;
  /** As `run`, begun in the way the caller wants, such as as another user. */
  spawn(command: string, args: string[]): Promise<Ended>;
  launch: string[];
}

/** A folder with a configuration for both emulators; everything ends with the test. */
export async function createSite(t: TestContext): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-process-'));
  const dataDir = join(folder, 'data');
  const telegram = await startTelegramEmulator();
  const model = await startModelServer();
  const children = new Set<ChildProcess>();
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await model.close();
    await telegram.close();
    await rm(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'config.yaml');
  const env = { PATH: process.env.PATH ?? '', HOME: folder };

  function begin(command: string, args: string[]) {
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    const text = { out: '', err: '' };
    const listeners = new Set<() => void>();
    for (const [name, stream] of [
      ['out', child.stdout],
      ['err', child.stderr],
    ] as const)
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
        for (const listener of [...listeners]) listener();
      });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        children.delete(child);
        resolve({ code, ...text });
        for (const listener of [...listeners]) listener();
      });
    });
    const until = <T>(what: string, ask: () => T | undefined | null): Promise<T> =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => {
          listeners.delete(look);
          clearTimeout(timer);
          reject(new Error(`${what} ${why}.\n${text.out}${text.err}`));
        };
        const look = () => {
          const found = ask();
          if (found !== undefined && found !== null) {
            listeners.delete(look);
            clearTimeout(timer);
            resolve(found);
          } else if (!children.has(child)) fail('did not come before the end');
        };
        const timer = setTimeout(() => fail('did not come in time'), waitMs);
        listeners.add(look);
        look();
      });
    return { child, text, ended, until };
  }

  const launch = [launcher];
  const runCommand = async (command: string, args: string[]): Promise<Ended> => {
    const { ended, child } = begin(command, args);
    const timer = setTimeout(() => child.kill('SIGKILL'), waitMs);
    return ended.finally(() => clearTimeout(timer));
  };
  return {
    folder,
    dataDir,
    telegram,
    model,
    launch,
    configure: (over = {}) => {
      const config = configOf(over, dataDir, telegram, model);
      Object.assign(config.gateway as object, { log: { level: 'info', format: 'json' } }, over.gateway);
      return writeFile(file, stringify(config));
    },
    writeConfig: (text) => writeFile(file, text),
    run: (...args) => runCommand(process.execPath, [launcher, ...args]),
    spawn: runCommand,
    async start() {
      const { child, text, ended, until } = begin(process.execPath, [launcher, 'start', '--config', file]);
      const url = await until('the address', () => /is running at (\S+)/.exec(text.out)?.[1]);
      const lines = () =>
        text.err
          .split('\n')
          .filter((line) => line.startsWith('{') && line.endsWith('}'))
          .map((line) => JSON.parse(line) as Record<string, unknown>);
      return {
        pid: child.pid as number,
        url,
        out: () => text.out,
        err: () => text.err,
        lines,
        logged: (pattern) => until(`a line ${pattern}`, () => lines().find((line) => pattern.test(String(line.msg)))),
        signal: (name) => void child.kill(name),
        ended,
      };
    },
  };
}
