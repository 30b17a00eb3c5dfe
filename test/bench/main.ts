/**
 * `npm run bench`: measures the gateway against a bare grammY bot in one run and prints target and measured value side
 * by side. Ratios, since machines differ. `--quick` shortens it to about a minute; `--json` prints the numbers.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { benchSandbox } from './sandbox.ts';
import type { Order, Report } from './world.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const quick = values.quick;
const flatMs = quick ? 5_000 : 15_000;
const steadyMs = quick ? 5_000 : 20_000;
const memoryMessages = quick ? 5_000 : 100_000;
const chats = 100;

interface Row {
  what: string;
  target: string;
  measured: string;
  ok: boolean;
}
const rows: Row[] = [];

/** Said at once too: the whole takes minutes. */
function report(row: Row): void {
  rows.push(row);
  if (!values.json) process.stderr.write(`  ${row.what}: ${row.measured} (target ${row.target})\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));

function next<T>(child: ChildProcess, fits: (message: T) => boolean): Promise<T> {
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

async function startWorld() {
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
type World = Awaited<ReturnType<typeof startWorld>>;

interface Client {
  /** Bytes of resident memory. */
  rss(): Promise<number>;
  stop(): Promise<void>;
}

async function startBareBot(world: World): Promise<Client> {
  const child = fork(join(here, 'bare_bot.ts'), [world.token, world.telegram, world.model]);
  await next<{ ready?: true }>(child, (message) => message.ready === true);
  return {
    async rss() {
      child.send('rss');
      return (await next<{ rss?: number }>(child, (message) => message.rss !== undefined)).rss as number;
    },
    stop: () => stop(child),
  };
}

/** As a person starts it. */
async function startGateway(file: string): Promise<Client> {
  const child = spawn('npm', ['start', '--silent', '--', '--config', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
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
  return {
    async rss() {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^gatehouse_memory_bytes (\S+)$/m.exec(text)?.[1]);
    },
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.once('exit', () => resolve());
        process.kill(-(child.pid as number), 'SIGTERM');
      }),
  };
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.disconnect();
  });
}

function configFile(world: World, name: string): string {
  const dataDir = join(folder, name);
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    stringify({
      gateway: { data_dir: dataDir, listen: '127.0.0.1:0', log: { level: 'warn' }, concurrency: { runs: 256 } },
      storage: { url: `sqlite:${dataDir}/gatehouse.db` },
      models: { main: { provider: 'openai_compatible', model: 'test', base_url: world.model, api_key: 'key' } },
      channels: { tg: { type: 'telegram', token: world.token, api_url: world.telegram } },
      agents: { helper: { model: 'main', instructions: 'You answer.' } },
      bindings: [
        {
          id: 'all',
          agent: 'helper',
          channel: 'tg',
          where: { direct: true },
          access: { direct: 'open', rate_limit: 'off' },
        },
      ],
    }),
  );
  return file;
}

const round = (value: number, digits = 1) => value.toFixed(digits);

async function compareWithBareBot(): Promise<void> {
  const results: Record<string, { flat: Report & { kind: 'done' }; steady: Report & { kind: 'done' } }> = {};
  for (const kind of ['bare', 'gateway'] as const) {
    const world = await startWorld();
    const client = kind === 'bare' ? await startBareBot(world) : await startGateway(configFile(world, 'compare'));
    await world.perform({ do: 'flat_out', chats, ms: flatMs / 5 });
    const flat = await world.perform({ do: 'flat_out', chats, ms: flatMs });
    const steady = await world.perform({ do: 'steady', chats, perSecond: 50, ms: steadyMs });
    results[kind] = { flat, steady };
    await client.stop();
    await stop(world.child);
  }
  const { bare, gateway } = results as Required<typeof results>;
  const perSecond = (report: { answered: number; ms: number }) => (report.answered / report.ms) * 1000;
  const ratio = perSecond(gateway!.flat) / perSecond(bare!.flat);
  report({
    what: 'throughput, flat out',
    target: '≥ 0.5 × bare grammY',
    measured: `${round(ratio, 2)} × (${round(perSecond(gateway!.flat), 0)}/s against ${round(perSecond(bare!.flat), 0)}/s)`,
    ok: ratio >= 0.5,
  });
  for (const [name, key, most] of [
    ['p50', 'p50', 10],
    ['p99', 'p99', 50],
  ] as const) {
    const overhead = gateway!.steady[key] - bare!.steady[key];
    report({
      what: `overhead at 50 messages/s, ${name}`,
      target: `≤ ${most} ms`,
      measured: `${round(overhead)} ms (${round(gateway!.steady[key])} against ${round(bare!.steady[key])}, ${round(gateway!.steady[key] / bare!.steady[key], 2)} ×)`,
      ok: overhead <= most,
    });
  }
  const lost = gateway!.flat.unanswered + gateway!.steady.unanswered;
  report({ what: 'messages without an answer', target: '0', measured: String(lost), ok: lost === 0 });
}

async function memory(): Promise<void> {
  const world = await startWorld();
  const client = await startGateway(configFile(world, 'memory'));
  const idle = await client.rss();
  const samples: { answered: number; rss: number }[] = [];
  const pending: Promise<void>[] = [];
  world.child.on('message', (report: Report) => {
    if (report.kind !== 'progress') return;
    const { answered } = report;
    pending.push(client.rss().then((rss) => void samples.push({ answered, rss })));
  });
  await world.perform({ do: 'count', chats, messages: memoryMessages, reportEvery: memoryMessages / 50 });
  await Promise.all(pending);
  // The first fifth is warm-up: caches fill, the optimizer settles.
  const warm = samples.filter(({ answered }) => answered > memoryMessages / 5);
  const slope = slopeOf(warm) * memoryMessages;
  const mb = (bytes: number) => bytes / 1024 / 1024;
  report({ what: 'idle memory', target: '< 150 MB', measured: `${round(mb(idle), 0)} MB`, ok: mb(idle) < 150 });
  report({
    what: `memory over ${memoryMessages.toLocaleString('en')} messages`,
    target: 'flat (slope ≤ 20 MB)',
    measured: `${round(mb(slope))} MB slope, ${round(mb(samples.at(-1)?.rss ?? 0), 0)} MB at the end`,
    ok: mb(slope) <= 20,
  });
  await client.stop();
  await stop(world.child);
}

/** Least squares, bytes per message. */
function slopeOf(points: { answered: number; rss: number }[]): number {
  const n = points.length;
  const meanX = points.reduce((sum, { answered }) => sum + answered, 0) / n;
  const meanY = points.reduce((sum, { rss }) => sum + rss, 0) / n;
  const above = points.reduce((sum, { answered, rss }) => sum + (answered - meanX) * (rss - meanY), 0);
  const below = points.reduce((sum, { answered }) => sum + (answered - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

async function startTime(): Promise<void> {
  const file = join(folder, 'start.yaml');
  const data = join(folder, 'start');
  writeFileSync(
    file,
    stringify({
      gateway: { data_dir: data, listen: '127.0.0.1:0' },
      storage: { url: `sqlite:${data}/gatehouse.db` },
      models: { main: { provider: 'demo' } },
      channels: { local: { type: 'web' } },
      agents: { helper: { model: 'main', instructions: 'You answer.' } },
      bindings: [{ id: 'all', agent: 'helper', channel: 'local', where: { direct: true } }],
    }),
  );
  const times: number[] = [];
  for (let n = 0; n < (quick ? 4 : 8); n++) {
    const begun = performance.now();
    const client = await startGateway(file);
    times.push(performance.now() - begun);
    await client.stop();
  }
  // The first start fills the compile cache.
  const warm = times.slice(1).toSorted((left, right) => left - right);
  const middle = warm[Math.floor(warm.length / 2)] as number;
  report({
    what: 'npm start until ready, warm checkout',
    target: '≤ 1.5 s',
    measured: `${round(middle / 1000, 2)} s (first ${round((times[0] as number) / 1000, 2)} s)`,
    ok: middle <= 1_500,
  });
}

const step = async (name: string, work: () => Promise<void>) => {
  if (!values.json) process.stderr.write(`${name} …\n`);
  await work();
};
try {
  await step('start time', startTime);
  await step('against a bare grammY bot', compareWithBareBot);
  await step('sandboxed calls', () => benchSandbox(quick ? 20 : 60, report));
  await step(`memory over ${memoryMessages} messages`, memory);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  const widths = (['what', 'target', 'measured'] as const).map((key) =>
    Math.max(...rows.map((row) => row[key].length), key.length),
  );
  const line = (cells: string[]) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  console.log(line(['what', 'target', 'measured']));
  for (const row of rows)
    console.log(`${line([row.what, row.target, row.measured])}  ${row.ok ? 'reached' : 'MISSED'}`);
}
process.exit(rows.every((row) => row.ok) ? 0 : 1);
