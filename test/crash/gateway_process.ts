/** The gateway as a child process that is killed and started again until it is closed. */
import { type ChildProcess, fork } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import type { ChildOptions, FromChild, Question, Reply, ToChild } from './child.ts';
import type { KillPoint } from './kill_point.ts';

export interface GatewayProcess {
  /** One for each life of the process from its next start on; without more it lives. */
  plan: KillPoint[];
  /** Resolves when a process runs that has started in full; rejects when it ended in another way than by SIGKILL. */
  ready(): Promise<void>;
  /** Asks the process; null when it died before it answered. */
  ask(question: Question): Promise<{ reply: Reply } | null>;
  /** Kills it; resolves when it is dead. */
  kill(): Promise<void>;
  /** How often it was killed. */
  readonly deaths: number;
  /** Resolves at the next death. */
  died(): Promise<void>;
  close(): Promise<void>;
}

export interface ProcessOptions {
  child: Omit<ChildOptions, 'point'>;
  /** Where its log goes. */
  logFile: string;
  compileCache: string;
  /** Where the first lives end. */
  points: readonly KillPoint[];
  /** Between the death of a process and the start of the next. */
  onDeath(): void;
  onStart(point: KillPoint | null): void;
}

interface Life {
  process: ChildProcess;
  started: PromiseWithResolvers<void>;
  ended: Promise<void>;
  waiting: Map<number, (answer: { reply: Reply } | null) => void>;
}

export function startGatewayProcess(options: ProcessOptions): GatewayProcess {
  const plan: KillPoint[] = [...options.points];
  const log = openSync(options.logFile, 'a');
  let serial = 0;
  let deaths = 0;
  let closing = false;
  let failure: Error | null = null;
  let life = start();

  function start(): Life {
    const point = plan.shift() ?? null;
    options.onStart(point);
    const child: ChildOptions = { ...options.child, point };
    const process = fork(new URL('./child.ts', import.meta.url), {
      stdio: ['ignore', log, log, 'ipc'],
      execArgv: [],
      env: {
        PATH: globalThis.process.env.PATH ?? '',
        CRASH_CHILD: JSON.stringify(child),
        NODE_COMPILE_CACHE: options.compileCache,
      },
    });
    const started = Promise.withResolvers<void>();
    started.promise.catch(() => {});
    const waiting: Life['waiting'] = new Map();
    process.on('message', (message: FromChild) => {
      if ('ready' in message) return started.resolve();
      waiting.get(message.serial)?.({ reply: message.reply });
      waiting.delete(message.serial);
    });
    const ended = new Promise<void>((resolve) => {
      process.once('exit', (code, signal) => {
        resolve();
        for (const answer of waiting.values()) answer(null);
        if (closing) return;
        if (signal !== 'SIGKILL') {
          const last = readFileSync(options.logFile, 'utf8').slice(-600);
          failure = new Error(`the gateway ended by itself (${signal ?? code}): ${last}`);
          started.reject(failure);
          return;
        }
        deaths += 1;
        options.onDeath();
        life = start();
        life.started.promise.then(started.resolve, started.reject);
      });
    });
    return { process, started, ended, waiting };
  }

  const kill = async () => {
    const { process, ended } = life;
    process.kill('SIGKILL');
    await ended;
  };
  return {
    plan,
    get deaths() {
      return deaths;
    },
    died: () => life.ended,
    async ready() {
      if (failure) throw failure;
      for (let awaited: Life | null = null; awaited !== life; ) {
        awaited = life;
        await awaited.started.promise;
      }
    },
    async ask(question) {
      const { process, waiting } = life;
      if (!process.connected) return null;
      serial += 1;
      const message: ToChild = { serial, ...question };
      return new Promise((resolve) => {
        waiting.set(message.serial, resolve);
        process.send(message, (error) => {
          if (error) resolve(null);
        });
      });
    },
    kill,
    async close() {
      closing = true;
      failure ??= new Error('the gateway was closed');
      await kill();
    },
  };
}
