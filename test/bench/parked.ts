/**
 * What runs that wait for people cost (DESIGN, Sizes): memory and start time with ten thousand of them over none, and
 * what others notice of it when all their questions end at one moment.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { stringify } from 'yaml';
import type { Asked, Cost } from './parked_gateway.ts';
import type { ParkedOrder, ParkedReport } from './parked_world.ts';

export interface ParkedRow {
  what: string;
  target: string;
  measured: string;
  ok: boolean;
}

const atOnce = 50;
const startsOf = 5;
const newcomersPerSecond = 20;
/** From the start of the gateway until all questions end; before that newcomers are answered in peace. */
const endAfterMs = 18_000;
const calmMs = 5_000;
/** Not counted. */
const warmUpMs = 3_000;
/** What the ends of questions may add to answers to newcomers. */
const newcomerMsMax = 50;
const endedMsMax = 600_000;
const lookMs = 500;

const mb = (bytes: number) => bytes / 1024 / 1024;
const round = (value: number, digits = 1) => value.toFixed(digits);
const middleOf = (values: readonly number[]) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] as number;

/** Each row is told as soon as it is measured. */
export async function benchParked(runs: number, report: (row: ParkedRow) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-parked-'));
  const children: ChildProcess[] = [];
  try {
    await measure(folder, children, runs, report);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  children: ChildProcess[],
  runs: number,
  report: (row: ParkedRow) => void,
): Promise<void> {
  const count = runs.toLocaleString('en');
  const child = fork(new URL('./parked_world.ts', import.meta.url));
  children.push(child);
  const world = await hear<ParkedReport & { kind: 'ready' }>(child);
  const perform = (order: ParkedOrder) => {
    child.send(order);
    return hear<ParkedReport & { kind: 'done' }>(child);
  };
  const file = (name: string) => configFile(folder, name, world);
  const start = (name: string) => startGateway(children, file(name));

  const filler = await start('full');
  const asked = await perform({ do: 'ask', people: runs, atOnce });
  const filled = await filler.cost();
  await filler.stop();

  const starts = { empty: [] as number[], full: [] as number[] };
  const costs = { empty: [] as Cost[], full: [] as Cost[] };
  // In turns, so that a busy machine slows both alike.
  for (let n = 0; n < startsOf; n++)
    for (const name of ['empty', 'full'] as const) {
      const gateway = await start(name);
      starts[name].push(gateway.startMs);
      costs[name].push(await gateway.cost());
      await gateway.stop();
    }
  const more = middleOf(costs.full.map(({ rss }) => rss)) - middleOf(costs.empty.map(({ rss }) => rss));
  const moreHeap = middleOf(costs.full.map(({ heap }) => heap)) - middleOf(costs.empty.map(({ heap }) => heap));
  report({
    what: `memory with ${count} parked runs`,
    target: '≤ 50 MB over idle',
    measured: `${round(mb(more))} MB more (heap ${round(mb(moreHeap))} MB), the process that parked them, ${round((asked.answered / asked.ms) * 1000, 0)} a second: ${round(mb(filled.rss), 0)} MB, heap ${round(mb(filled.heap))} MB`,
    ok: mb(more) <= 50 && filled.pending === runs,
  });
  const [without, withThem] = [middleOf(starts.empty), middleOf(starts.full)];
  report({
    what: `start with ${count} parked runs`,
    target: '< 2 s more',
    measured: `${round((withThem - without) / 1000, 2)} s more (${round(withThem / 1000, 2)} s against ${round(without / 1000, 2)} s)`,
    ok: withThem - without < 2_000,
  });

  const endsAt = Date.now() + endAfterMs;
  const database = new Database(join(folder, 'full', 'gatehouse.db'));
  database.prepare('update approvals set expires_at = ?').run(endsAt);
  database.close();
  const gateway = await start('full');
  const write: ParkedOrder = { do: 'write', perSecond: newcomersPerSecond };
  child.send(write);
  await pause(warmUpMs);
  await perform({ do: 'stop' });
  gateway.watch();
  child.send(write);
  await pause(calmMs);
  const calm = { ...(await perform({ do: 'stop' })), loop: (await gateway.look()).loop };
  child.send(write);
  await pause(endsAt - Date.now());
  gateway.watch();
  const begun = Date.now();
  let cost = await gateway.look();
  while (cost.pending > 0 && Date.now() - begun < endedMsMax) {
    await pause(lookMs);
    cost = await gateway.look();
  }
  const seconds = (Date.now() - endsAt) / 1000;
  const newcomers = await perform({ do: 'stop' });
  report({
    what: `event loop while ${count} questions end at once`,
    target: 'p99 ≤ 50 ms',
    measured: `p99 ${round(cost.loop.p99)} ms, longest ${round(cost.loop.longest)} ms (before ${round(calm.loop.p99)} and ${round(calm.loop.longest)}); over after ${round(seconds)} s`,
    ok: cost.loop.p99 <= 50 && cost.pending === 0,
  });
  report({
    what: 'answers to newcomers meanwhile, p99',
    target: `≤ ${newcomerMsMax} ms more, none lost`,
    measured: `${round(newcomers.p99 - calm.p99)} ms more: ${round(newcomers.p99)} against ${round(calm.p99)} (p50 ${round(newcomers.p50)} against ${round(calm.p50)}, longest ${round(newcomers.longest)}), ${newcomers.answered} answered, ${newcomers.unanswered} not`,
    ok: newcomers.p99 - calm.p99 <= newcomerMsMax && newcomers.unanswered === 0,
  });
  await gateway.stop();
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

function hear<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a benchmark process ended (${code})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

async function startGateway(children: ChildProcess[], file: string) {
  const begun = performance.now();
  const child = fork(new URL('./parked_gateway.ts', import.meta.url), [file], { execArgv: ['--expose-gc'] });
  children.push(child);
  const { ready } = await hear<{ ready: string }>(child);
  while ((await fetch(`${ready}/readyz`)).status !== 200) await pause(5);
  const startMs = performance.now() - begun;
  const ask = (asked: Asked) => void child.send(asked);
  const tell = (asked: Asked) => {
    ask(asked);
    return hear<Cost>(child);
  };
  return {
    startMs,
    watch: () => ask('watch'),
    /** After a collection of garbage. */
    cost: () => tell('cost'),
    look: () => tell('look'),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      ask('stop');
      await ended;
    },
  };
}

function configFile(folder: string, name: string, world: { telegram: string; token: string; model: string }): string {
  const dataDir = join(folder, name);
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    stringify({
      gateway: { data_dir: dataDir, listen: '127.0.0.1:0' },
      storage: { url: `sqlite:${dataDir}/gatehouse.db` },
      models: { main: { provider: 'openai_compatible', model: 'test', base_url: world.model, api_key: 'key' } },
      channels: { tg: { type: 'telegram', token: world.token, api_url: world.telegram } },
      agents: { helper: { model: 'main', instructions: 'You answer.' } },
      policies: { __builtin__: { store_set: 'ask' } },
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
