/**
 * One gateway, a Telegram server, a model server and the people around them, with kill points at everything that
 * happens between them. Conversations go on one after another in the same world, each in a chat of its own, so that
 * a kill costs one start of a process and finds a database with a past.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { stringify } from 'yaml';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import { type Call, startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/index.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { freePort } from '../support/free_port.ts';
import { configOf, type Yaml } from '../support/gateway.ts';
import { within } from '../support/within.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway_process.ts';
import { type Counts, createTrigger, type KillPoint } from './kill_point.ts';
import { readLines } from './lines_capability.ts';
import { type Plot, play, type Talk } from './talk.ts';

export interface WorldOptions {
  /** Whether answers are shown while they are written. */
  stream: boolean;
  model?: Yaml;
  /** Shared by the worlds of a test, so that processes start fast. */
  compileCache: string;
  plot: Plot;
  /** Where the first processes die. */
  points?: readonly KillPoint[];
  /** Until `arm` names another. */
  onDeath?: (world: World) => void;
  /** Before the first process starts. */
  prepare?: (places: Places) => Promise<void>;
}

export interface Places {
  telegram: TelegramEmulator;
  /** The id of a group in which everybody may write. */
  nextGroup(): number;
}

export interface World extends Places {
  model: ModelServer;
  /** Of the chat page. */
  url: string;
  process: GatewayProcess;
  logFile: string;
  lines(): string[];
  /** How the conversation under way waits until its person has seen a piece of an answer. */
  shows: Talk['shows'];
  /** The database while no process has it open, or beside one that has. */
  read<T>(sql: string, ...params: (string | number)[]): T[];
  /** Kill points for the process that runs and for those after it; `onDeath` is told of each death. */
  arm(points: readonly KillPoint[], onDeath: () => void): Promise<void>;
  /** Disarms; what happened since `arm` if the process lived. */
  disarm(): Promise<Counts>;
  /** Started, everything received, nothing waiting in any stage, no call open. Throws after `settleMsMax`. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const speed = 5;
const settleMsMax = 20_000;
const groupsMax = 1_000;

export async function createWorld(options: WorldOptions): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-crash-'));
  const rate = { since: Date.now(), speed };
  const trigger = createTrigger();
  let gone: () => Promise<void> = async () => {};
  /** Kills the gateway and holds the call under way until it is dead, if this is where it shall die. */
  const strike = (event: string): Promise<void> | null => (trigger.happened(event) ? gone() : null);

  const model = await startModelServer({
    onRequest: async () => void (await strike('model.received')),
    beforeAnswer: async () => void (await strike('model.chosen')),
    afterAnswer: async () => void (await strike('model.answered')),
  });
  const telegram = await startTelegramEmulator({ clock: createFastClock(rate) });
  telegram.before('*', async (call: Call) => {
    const dead = strike(`telegram.${call.method}.received`);
    if (!dead) return;
    await dead;
    return 'drop';
  });
  telegram.after('*', (call: Call) => {
    if (call.committed) return strike(`telegram.${call.method}.accepted`) ?? undefined;
  });

  model.respond((request) => {
    const answer = play(options.plot, request);
    return {
      ...answer,
      async gate(piece) {
        await strike('model.piece');
        const before = answer.pieces?.slice(0, piece).join('') ?? '';
        if (options.stream && before !== '') await world.shows(before, request.ended);
      },
    };
  });

  const port = await freePort();
  const firstGroup = 1_000_000_000_000;
  let groups = 0;
  const direct = { where: { direct: true }, access: { direct: 'open', rate_limit: 'off' } };
  const chats = Array.from({ length: groupsMax }, (_, index) => -(firstGroup + index + 1));
  const config = configOf(
    {
      gateway: { listen: `127.0.0.1:${port}` },
      ...(options.model ? { model: options.model } : {}),
      bindings: [
        { id: 'direct', channel: 'tg', ...direct },
        { id: 'rooms', channel: 'tg', where: { chats }, access: { group: 'open', rate_limit: 'off' } },
        { id: 'page', channel: 'page', ...direct },
      ].map((binding) => ({ agent: 'helper', stream: options.stream, ...binding })),
    },
    folder,
    telegram,
    model,
  );
  const configFile = join(folder, 'config.yaml');
  await writeFile(configFile, stringify(config));
  const linesFile = join(folder, 'lines.txt');
  const logFile = join(folder, 'log.txt');

  const nextGroup = () => chats[groups++] as number;
  await options.prepare?.({ telegram, nextGroup });
  let onDeath = () => options.onDeath?.(world);
  /** Calls made by the process that runs come after this one. */
  let callsBefore = 0;
  const gateway = startGatewayProcess({
    child: { configFile, linesFile, rate },
    logFile,
    compileCache: options.compileCache,
    points: options.points ?? [],
    onDeath: () => onDeath(),
    onStart: (point) => {
      trigger.arm(point);
      callsBefore = telegram.calls.length;
    },
  });
  gone = () => gateway.kill();

  const world: World = {
    telegram,
    model,
    nextGroup,
    url: `http://127.0.0.1:${port}`,
    process: gateway,
    logFile,
    lines: () => readLines(linesFile),
    shows: async () => {},
    read<T>(sql: string, ...params: (string | number)[]): T[] {
      const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
      try {
        return database.prepare(sql).all(...params) as T[];
      } finally {
        database.close();
      }
    },
    async arm(points, tellDeath) {
      const [now = null, ...later] = points;
      gateway.plan.splice(0, Number.POSITIVE_INFINITY, ...later);
      onDeath = tellDeath;
      trigger.arm(now);
      await gateway.ask({ ask: 'arm', point: now });
    },
    async disarm() {
      onDeath = () => {};
      gateway.plan.length = 0;
      const counted = await gateway.ask({ ask: 'counts' });
      const counts = { ...(counted?.reply as Counts | null), ...trigger.counts() };
      trigger.arm(null);
      await gateway.ask({ ask: 'arm', point: null });
      return counts;
    },
    settled: () => within(settleMsMax, 'rest', settle(), describe),
    async close() {
      await gateway.close();
      await model.close();
      await telegram.close();
      await rm(folder, { recursive: true, force: true });
    },
  };

  function describe(): string {
    const calls = telegram.calls.slice(callsBefore).map((call) => `${call.method} ${call.status ?? 'open'}`);
    const log = existsSync(logFile) ? readFileSync(logFile, 'utf8').split('\n').slice(-4).join('\n') : '';
    const rows = world.read<{ rows: string }>(
      `select 'inbox ' || state as rows from inbox where state in ('waiting', 'taken') union all
       select 'run ' || state from runs where state in ('queued', 'running', 'awaiting_approval') union all
       select 'approval ' || state from approvals where state = 'pending' union all
       select 'outbox ' || kind || ' ' || state from outbox where state in ('pending', 'sending')`,
    );
    return `${rows.map((row) => row.rows).join(', ') || 'no'} rows are open, ${telegram.pending} updates wait, ${telegram.pollsOpen} polls, calls: ${calls.slice(-8).join(', ')}; log: ${log}`;
  }

  async function settle(): Promise<void> {
    const wait = { timeoutMs: settleMsMax };
    for (;;) {
      await gateway.ready();
      const { deaths } = gateway;
      const hasSettled = () => {
        if (gateway.deaths > deaths) return true;
        const menuIsSet = telegram.calls
          .slice(callsBefore)
          .some((call) => call.method === 'setMyCommands' && call.status);
        return menuIsSet && telegram.pending === 0 && telegram.pollsOpen > 0;
      };
      await telegram.until('the gateway has taken what there is', hasSettled, wait);
      const answer = await gateway.ask({ ask: 'settled' });
      await telegram.idle(wait);
      if (answer && gateway.deaths === deaths && telegram.pending === 0) return;
    }
  }

  return world;
}
