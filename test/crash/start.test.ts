/** The first start on an empty data folder, with a message that already waits, killed at every point. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { within } from '../support/within.ts';
import { checkInvariants } from './check_invariants.ts';
import { type KillPoint, pointsOf, pointText } from './kill_point.ts';
import { askedFor, reached, type Swept } from './sweep.ts';
import { messageOf, type Talk } from './talk.ts';
import { openTelegramTalk } from './telegram_talk.ts';
import { type Death, examine, finishTrial, nextIds, type Trial } from './trial.ts';
import { createWorld } from './world.ts';

const trialMsMax = 60_000;

describe('a first start, killed at every point', { timeout: 600_000 }, () => {
  const swept: Swept = { trials: [], broken: [], missed: [], late: [] };
  let compileCache: string;
  let dry: Trial;

  async function startKilled(points: readonly KillPoint[]): Promise<Trial> {
    const ids = nextIds(false);
    const deaths: Death[] = [];
    let talk: Talk | null = null;
    const world = await createWorld({
      stream: true,
      plot: 'plain',
      compileCache,
      points,
      onDeath: (world) => void deaths.push(examine(world, talk?.chat ?? '')),
      async prepare(places) {
        talk = openTelegramTalk(places, 'direct');
        await talk.say(messageOf(ids[0] as string));
      },
    });
    try {
      await world.settled();
      const name = `start-direct ${points.map(pointText).join(',')}`;
      return await finishTrial(world, { name, talk: talk as unknown as Talk, ids, deaths });
    } finally {
      await world.close();
    }
  }

  before(async () => {
    compileCache = await mkdtemp(join(tmpdir(), 'gatehouse-crash-cache-'));
    dry = await startKilled([]);
    const jobs = askedFor('start')?.map((job) => job.points) ?? pointsOf(startOf(dry)).map((point) => [point]);
    const lane = async () => {
      for (let points = jobs.shift(); points; points = jobs.shift()) {
        try {
          const trial = await within(trialMsMax, 'the end of a trial', startKilled(points));
          swept.trials.push(trial);
          if (trial.deaths.length < points.length) swept.missed.push(trial.name);
        } catch (error) {
          swept.broken.push(`${points.map(pointText)}: ${error instanceof Error ? error.message : error}`);
        }
      }
    };
    await Promise.all([lane(), lane()]);
  });
  after(() => rm(compileCache, { recursive: true, force: true }));

  /** What belongs to the start and to the acceptance of the message; the rest is swept elsewhere. */
  function startOf({ counts }: Trial): Record<string, number> {
    const most: Record<string, number> = { 'commit.before': 16, 'commit.after': 16 };
    const ours = Object.entries(counts).filter(
      ([event]) => event in most || /^telegram\.(getMe|deleteWebhook|getUpdates|setMyCommands)\./.test(event),
    );
    return Object.fromEntries(ours.map(([event, count]) => [event, Math.min(count, most[event] ?? count)]));
  }

  test('at least 35 kill points', { skip: process.env.GATEHOUSE_KILL !== undefined }, (t) => {
    t.diagnostic(reached(swept).text);
    assert.ok(reached(swept).count >= 35);
  });
  checkInvariants(() => swept, []);
});
