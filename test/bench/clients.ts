/** Starts and ends the processes of the benchmark: the world, the bare bots and the gateway. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './world.ts';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');

export function next<T>(child: ChildProcess, fits: (message: T) => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: T) => {
      if (!fits(message)) return;
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(message);
    };
    const onExit = (code: number | null) => reject(new Error(`a benchmark process ended (${code})`));
    child.on('message', onMessage);
    child.once('exit', onExit);
  });
}

export async function startWorld() {
  const child = fork(join(here, 'world.ts'));
  const ready = (await next<Report>(child, (report) => report.kind === 'ready')) as Report & { kind: 'ready' };
  return {
    ...ready,
    child,
    async perform(order: Order) {
      child.send(order);
      return (await next<Report>(child, (report) => report.kind === 'done')) as Report & { kind: 'done' };
    },
  };
}
export type World = Awaited<ReturnType<typeof startWorld>>;

export interface Client {
  stop(): Promise<void>;
}

/** `file`: which of the bare bots. */
export async function startBareBot(world: World, file: string): Promise<Client> {
  const child = fork(join(here, file), [world.token, world.telegram, world.model]);
  await next<{ ready?: true }>(child, (message) => message.ready === true);
  return { stop: () => stop(child) };
}

/** As a person starts it. */
export async function startGateway(file: string): Promise<Client> {
  const child = spawn('npm', ['start', '--silent', '--', '--config', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await becomesReady(child);
  return { stop: () => terminate(child, -(child.pid as number)) };
}

export interface MeasuredGateway extends Client {
  /** Bytes; what lives on the heap after a garbage collection, and the resident memory. */
  memory(): Promise<{ live: number; rss: number }>;
}

/** Says how much memory the process holds when it is asked, and keeps it running for nobody. */
const memoryProbe = `data:text/javascript,${encodeURIComponent(`
  process.on('message', () => {
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send({ live: heapUsed + external, rss });
  });
  process.channel.unref();
`)}`;

/** With what `npm start` gives node, and a way to ask it for its memory. */
export async function startMeasuredGateway(file: string): Promise<MeasuredGateway> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));
  const launcher = join(root, 'bin', 'gatehouse.js');
  const child = spawn(
    process.execPath,
    [...flags, '--expose-gc', '--import', memoryProbe, launcher, 'start', '--config', file],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  await becomesReady(child);
  return {
    async memory() {
      child.send('memory');
      return next<{ live: number; rss: number }>(child, (message) => message.live !== undefined);
    },
    stop: () => terminate(child, child.pid as number),
  };
}

async function becomesReady(child: ChildProcess): Promise<void> {
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const found = /running at (\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended (${code}): ${text}`)));
  });
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    if (response.status === 200) break;
  }
}

function terminate(child: ChildProcess, pid: number): Promise<void> {
  return new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.once('exit', () => resolve());
    process.kill(pid, 'SIGTERM');
  });
}

export function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.disconnect();
  });
}
