/**
 * Runs trials two at a time, each lane in a world of its own, and gathers what was seen.
 *
 * `GATEHOUSE_KILL='streamed-group commit.before#3'` runs that one alone; several points, separated by commas, are for
 * one process after another.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from '../support/within.ts';
import type { KillPoint } from './kill_point.ts';
import { pointText } from './kill_point.ts';
import { openPageTalk } from './page_talk.ts';
import type { Plot, Talk } from './talk.ts';
import { openTelegramTalk } from './telegram_talk.ts';
import { runTrial, type Trial } from './trial.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

export type Kind = 'direct' | 'group' | 'page';

export interface Job {
  kind: Kind;
  points: readonly KillPoint[];
  second?: boolean;
}

export interface Swept {
  trials: Trial[];
  /** Trials that did not come to an end, with what was wrong. */
  broken: string[];
  /** Armed points that were not reached. */
  missed: string[];
  /** By trial: changes of a finished conversation while others went on. */
  late: string[];
}

export interface Sweep {
  /** A conversation of each kind without a kill. */
  dryRun(kinds: readonly Kind[], options?: { second: boolean }): Promise<Trial[]>;
  run(jobs: readonly Job[]): Promise<Swept>;
  close(): Promise<void>;
}

export interface SweepOptions {
  /** The first word of its trials' names. */
  set: string;
  stream: boolean;
  plot: Plot;
  /** One a lane. */
  models: readonly (WorldOptions['model'] | undefined)[];
}

const trialMsMax = 60_000;

export function createSweep({ set, stream, plot, models }: SweepOptions): Sweep {
  const compileCache = mkdtemp(join(tmpdir(), 'gatehouse-crash-cache-'));
  const asks = plot === 'asked';
  const worlds: (World | null)[] = models.map(() => null);
  let names = 0;

  async function worldOf(lane: number): Promise<World> {
    const model = models[lane];
    worlds[lane] ??= await createWorld({ stream, plot, compileCache: await compileCache, ...(model ? { model } : {}) });
    return worlds[lane];
  }

  async function attempt(lane: number, job: Job): Promise<Trial> {
    const world = await worldOf(lane);
    await world.settled();
    names += 1;
    const talk: Talk =
      job.kind === 'page' ? await openPageTalk(world, `person-${names}`) : openTelegramTalk(world, job.kind);
    const trial = runTrial(world, {
      name: nameOf(job),
      talk,
      points: job.points,
      second: asks || (job.second ?? false),
      asks,
    });
    return within(trialMsMax, 'the end of a trial', trial).catch((error) => {
      talk.close();
      throw error;
    });
  }

  const nameOf = ({ kind, points }: Job) => `${set}-${kind} ${points.map(pointText).join(',')}`;

  return {
    async dryRun(kinds, { second } = { second: false }) {
      const trials: Trial[] = [];
      // What happens the first time in a process, and takes longer for it, does not count.
      await attempt(0, { kind: 'direct', points: [] });
      for (const kind of kinds) trials.push(await attempt(0, { kind, points: [], second }));
      return trials;
    },
    async run(jobs) {
      const swept: Swept = { trials: [], broken: [], missed: [], late: [] };
      const waiting = [...jobs];
      const runLane = async (lane: number) => {
        /** Those whose world still stands. */
        let done: Trial[] = [];
        for (let job = waiting.shift(); job; job = waiting.shift()) {
          try {
            const trial = await attempt(lane, job);
            done.push(trial);
            swept.trials.push(trial);
            if (trial.deaths.length < job.points.length) swept.missed.push(nameOf(job));
          } catch (error) {
            swept.broken.push(`${nameOf(job)}: ${error instanceof Error ? error.message : error}`);
            await worlds[lane]?.close();
            worlds[lane] = null;
            done = [];
          }
        }
        for (const trial of done) {
          const changes = await trial.talk.changes();
          if (changes !== trial.changesAtEnd) swept.late.push(trial.name);
          trial.talk.close();
        }
      };
      await Promise.all(models.map((_, lane) => runLane(lane)));
      return swept;
    },
    async close() {
      await Promise.all(worlds.map((world) => world?.close()));
      await rm(await compileCache, { recursive: true, force: true });
    },
  };
}

/** How many points were reached, and which were not. */
export function reached(swept: Swept): { count: number; text: string } {
  const count = swept.trials.length - swept.missed.length;
  return { count, text: `${count} trials reached their kill points, not: ${swept.missed.join('; ') || 'none'}` };
}

/** The jobs of `GATEHOUSE_KILL`; null when it is not set. `set` is the first word of its value. */
export function askedFor(set: string): Job[] | null {
  const wanted = process.env.GATEHOUSE_KILL;
  if (wanted === undefined) return null;
  const match = /^(\w+)-(direct|group|page) (\S+)$/.exec(wanted);
  if (!match) throw new Error(`GATEHOUSE_KILL is not of the form "streamed-group commit.before#3": ${wanted}`);
  if (match[1] !== set) return [];
  const points = (match[3] as string).split(',').map((text) => {
    const [event, number] = text.split('#');
    return { event: event as string, number: Number(number) };
  });
  return [{ kind: match[2] as Kind, points, second: set === 'seeded' }];
}
