/**
 * `npm run bench`: measures the gateway against a bare grammY bot in one run and prints target and measured value side
 * by side. Ratios, since machines differ. `--quick` shortens it to about a minute, `--only
 * start|compare|sandbox|memory` does one part; `--json` prints the numbers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import {
  type Client,
  startBareBot,
  startGateway,
  startMeasuredGateway,
  startWorld,
  stop,
  type World,
} from './clients.ts';
import { benchParked } from './parked.ts';
import { benchSandbox } from './sandbox.ts';
import type { Report } from './world.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const quick = values.quick;
const flatMs = quick ? 5_000 : 15_000;
const steadyMs = quick ? 5_000 : 20_000;
const memoryMessages = quick ? 10_000 : 100_000;
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

type Done = Report & { kind: 'done' };

/** Each in a world of its own: how fast it answers flat out, and how soon at a steady pace. */
async function measure(start: (world: World) => Promise<Client>): Promise<{ flat: Done; steady: Done }> {
  const world = await startWorld();
  const client = await start(world);
  await world.perform({ do: 'flat_out', chats, ms: flatMs / 5 });
  const flat = await world.perform({ do: 'flat_out', chats, ms: flatMs });
  const steady = await world.perform({ do: 'steady', chats, perSecond: 50, ms: steadyMs });
  await client.stop();
  await stop(world.child);
  return { flat, steady };
}

async function compareWithBareBot(): Promise<void> {
  const bare = await measure((world) => startBareBot(world, 'bare_bot.ts'));
  const gateway = await measure((world) => startGateway(configFile(world, 'compare')));
  const sdk = await measure((world) => startBareBot(world, 'bare_bot_sdk.ts'));
  const perSecond = ({ flat }: { flat: Done }) => (flat.answered / flat.ms) * 1000;
  for (const [name, baseline] of [
    ['bare grammY', bare],
    ['bare grammY with the AI SDK', sdk],
  ] as const) {
    const ratio = perSecond(gateway) / perSecond(baseline);
    report({
      what: `throughput, flat out, against ${name}`,
      target: '≥ 0.5 ×',
      measured: `${round(ratio, 2)} × (${round(perSecond(gateway), 0)}/s against ${round(perSecond(baseline), 0)}/s)`,
      ok: ratio >= 0.5,
    });
  }
  for (const [name, key, most] of [
    ['p50', 'p50', 10],
    ['p99', 'p99', 50],
  ] as const) {
    const overhead = gateway.steady[key] - bare.steady[key];
    report({
      what: `overhead at 50 messages/s, ${name}`,
      target: `≤ ${most} ms`,
      measured: `${round(overhead)} ms (${round(gateway.steady[key])} against ${round(bare.steady[key])}, ${round(gateway.steady[key] / bare.steady[key], 2)} ×)`,
      ok: overhead <= most,
    });
  }
  const lost = gateway.flat.unanswered + gateway.steady.unanswered;
  report({ what: 'messages without an answer', target: '0', measured: String(lost), ok: lost === 0 });
}

/**
 * New people all the time, a few messages each, so that what is kept for a chat shows and histories stay short. Caches
 * have a bound and are full after the first part.
 */
async function memory(): Promise<void> {
  const world = await startWorld();
  const client = await startMeasuredGateway(configFile(world, 'memory'));
  const samples: { answered: number; live: number; rss: number }[] = [];
  const sample = async (answered: number) => samples.push({ answered, ...(await client.memory()) });
  const { rss: idle } = await client.memory();
  let measured = Promise.resolve();
  world.child.on('message', (message: Report) => {
    if (message.kind !== 'progress') return;
    measured = measured.then(() => sample(message.answered)).then(() => {});
  });
  const reportEvery = memoryMessages / 50;
  await world.perform({ do: 'count', chats, messages: memoryMessages, messagesPerChat: 2, reportEvery });
  await measured;
  const mb = (bytes: number) => `${round(bytes / 1024 / 1024, 0)} MB`;
  report({ what: 'idle memory', target: '< 150 MB', measured: mb(idle), ok: idle < 150 * 1024 * 1024 });
  // The first fifth is warm-up: caches fill, the optimizer settles.
  const warm = samples.filter(({ answered }) => answered > memoryMessages / 5);
  for (const [what, key, most] of [
    ['live heap', 'live', 50],
    ['resident memory', 'rss', 200],
  ] as const) {
    const slope = slopeOf(warm.map((one) => ({ x: one.answered, y: one[key] })));
    report({
      what: `${what} over ${memoryMessages.toLocaleString('en')} messages`,
      target: `flat: ≤ ${most} bytes a message`,
      measured: `${round(slope)} bytes a message (${mb(warm[0]?.[key] ?? 0)} after warm-up, ${mb(warm.at(-1)?.[key] ?? 0)} at the end)`,
      ok: slope <= most,
    });
  }
  await client.stop();
  await stop(world.child);
}

/** Least squares. */
function slopeOf(points: { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const above = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
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

const step = async (part: string, name: string, work: () => Promise<void>) => {
  if (values.only !== undefined && values.only !== part) return;
  if (!values.json) process.stderr.write(`${name} …\n`);
  await work();
};
try {
  await step('start', 'start time', startTime);
  await step('compare', 'against a bare grammY bot', compareWithBareBot);
  await step('parked', 'parked runs', () => benchParked(quick ? 2_000 : 10_000, report));
  await step('sandbox', 'sandboxed calls', () => benchSandbox(quick ? 20 : 60, report));
  await step('memory', `memory over ${memoryMessages} messages`, memory);
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
