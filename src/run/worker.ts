/** Claims runs, keeps their leases, stops them, and ends badly what broke. */

import { GatehouseError, ModelError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Dispatched } from '../inbox/dispatch.ts';
import { createStage, type Stage, type TurnResult } from '../queue/stage.ts';
import { claimRuns, LostRun, type Run, releaseRun, renewRuns, stopRequests } from '../store/runs.ts';
import type { Words } from '../words/index.ts';
import { finish, finishUnopened, type Outcome } from './finish.ts';
import { openWork } from './open.ts';
import { Draining, type RunParts, RunTimeout, StopRequested, type Work } from './parts.ts';
import { workThrough } from './turn.ts';

export interface Worker {
  start(): void;
  /** Runs reach their next persisted step, `drainMs` at most, and are left for the next start (rule 88). */
  stop(): Promise<void>;
  owner: string;
  /** How many more runs this process may take; none while it drains. */
  free(): number;
  /** Works on a run this process has claimed; `known` where it has just made it. */
  begin(run: Run, known?: Dispatched): void;
}

const stopAgainMs = 50;

interface Active {
  abort: AbortController;
  done: Promise<void>;
}

export function createWorker(parts: RunParts): Worker {
  const { db, clock, log } = parts;
  const active = new Map<string, Active>();
  let draining = false;
  let cancelHeartbeat = () => {};

  const free = () => (draining ? 0 : Math.max(0, parts.settings().runsMax - active.size));

  const turn = async (): Promise<TurnResult> => {
    const room = free();
    if (room === 0) return { again: false, nextAt: null };
    const now = clock.now();
    const claimed = await db.tx((q) => claimRuns(q, parts.owner, now, limits.leaseMs, room));
    for (const run of claimed) begin(run);
    return { again: false, nextAt: null };
  };

  const checkStops = async (): Promise<TurnResult> => {
    let early = false;
    for (const { id, how } of await stopRequests(db, parts.owner)) {
      const run = active.get(id);
      // Claimed, but not begun yet: look again in a moment.
      if (run) run.abort.abort(new StopRequested(how));
      else early = true;
    }
    return { again: false, nextAt: early ? clock.now() + stopAgainMs : null };
  };

  const runs: Stage = createStage({ name: 'run', db, clock, log, bells: ['run'], turn });
  const stops: Stage = createStage({ name: 'stop', db, clock, log, bells: ['stop'], turn: checkStops });

  function begin(run: Run, known?: Dispatched): void {
    // Its lease ended while the machine slept; claiming it has renewed it, and it is being worked on.
    if (active.has(run.id)) return;
    const abort = new AbortController();
    if (run.stopRequested !== null) abort.abort(new StopRequested(run.stopRequested));
    const done = workOn(parts, run, abort, { known, draining: () => draining }).finally(() => {
      const full = active.size >= parts.settings().runsMax;
      active.delete(run.id);
      // New runs ring; only those that found no place must be looked for.
      if (full) runs.wake();
    });
    active.set(run.id, { abort, done });
  }

  /** A run that another process has taken, as after this one slept, is left at once: its answer is the other's. */
  const renew = async () => {
    const held = [...active];
    if (held.length === 0) return;
    const ids = held.map(([id]) => id);
    const renewed = await db.tx((q) => renewRuns(q, parts.owner, ids, clock.now() + limits.leaseMs));
    for (const [id, { abort }] of held) if (!renewed.has(id)) abort.abort(new LostRun(id));
  };

  const heartbeat = () => {
    renew().catch((error) => log.error({ err: error }, 'leases were not renewed'));
    cancelHeartbeat = clock.after(limits.heartbeatMs, heartbeat);
  };

  return {
    start() {
      runs.start();
      stops.start();
      cancelHeartbeat = clock.after(limits.heartbeatMs, heartbeat);
    },
    owner: parts.owner,
    free,
    begin,
    async stop() {
      draining = true;
      await runs.stop();
      await stops.stop();
      const cut = clock.after(limits.drainMs, () => {
        for (const { abort } of active.values()) abort.abort(new Draining());
      });
      await Promise.all([...active.values()].map(({ done }) => done));
      cut();
      cancelHeartbeat();
    },
  };
}

async function workOn(
  parts: RunParts,
  run: Run,
  abort: AbortController,
  { known, draining }: { known: Dispatched | undefined; draining: () => boolean },
): Promise<void> {
  const { clock } = parts;
  const log = parts.log.child({ run: run.id, channel: run.place.channel });
  const begun = clock.now();
  const activeMs = () => run.activeMs + clock.now() - begun;
  let work: Work | null = null;
  let endTimeout = () => {};
  try {
    if (run.claims > limits.claimsPerRunMax) throw new Error(`given up after ${run.claims} interrupted attempts`);
    work = await openWork(parts, run, abort.signal, { activeMs, draining }, known);
    const left = Math.max(0, work.spec.limits.runTimeoutMs - run.activeMs);
    endTimeout = clock.after(left, () => abort.abort(new RunTimeout()));
    await workThrough(work);
  } catch (error) {
    await endBadly(parts, run, work, error, log).catch((failure) =>
      log.error({ err: failure }, `a run could not be ended, it will be taken up again: ${messageOf(failure)}`),
    );
  } finally {
    endTimeout();
    work?.status.end();
  }
}

async function endBadly(parts: RunParts, run: Run, work: Work | null, error: unknown, log: Log): Promise<void> {
  if (error instanceof LostRun) {
    work?.stream.abandon();
    return log.warn({}, error.message);
  }
  const unavailable = error instanceof GatehouseError && error.code === 'store_unavailable';
  if (error instanceof Draining || unavailable) {
    await work?.stream.close();
    // Free at once after a drain; a store in trouble is given a moment.
    const notBefore = unavailable ? parts.clock.now() + limits.sweepMs : 0;
    return parts.db.tx((q) => releaseRun(q, parts.owner, run.id, notBefore));
  }
  if (!(error instanceof StopRequested || error instanceof RunTimeout))
    // Where a model's failure was noticed in our code tells nobody anything.
    log.error(error instanceof ModelError ? { hint: error.hint } : { err: error }, `run failed: ${messageOf(error)}`);
  if (work) return finish(work, outcomeOf(work, error));
  return finishUnopened(parts, run, error instanceof StopRequested ? null : reasonOf(error));
}

const reasonOf = (error: unknown) => messageOf(error).slice(0, 500);

function outcomeOf(work: Work, error: unknown): Outcome {
  const { words, run } = work;
  if (error instanceof StopRequested)
    return {
      state: 'cancelled',
      markdown: null,
      history:
        error.how === 'expired'
          ? '[Nothing was done: nobody decided about it in time.]'
          : '[Stopped before an answer was complete.]',
      error: null,
    };
  if (error instanceof RunTimeout) {
    const text = words.runTimeout(Math.round(work.spec.limits.runTimeoutMs / 60_000));
    return { state: 'failed', markdown: text, history: `[${text}]`, error: 'run_timeout' };
  }
  const text = error instanceof ModelError ? modelWords(words, error)(run.id) : words.runFailed(run.id);
  return {
    state: 'failed',
    markdown: text,
    history: '[This could not be answered.]',
    error: reasonOf(error),
  };
}

function modelWords(words: Words, { kind }: ModelError): (id: string) => string {
  switch (kind) {
    case 'unavailable':
      return words.modelFailed;
    case 'misconfigured':
      return words.modelRefuses;
    case 'too_long':
      return words.modelTooLong;
    case 'refused':
      return words.modelDeclined;
  }
}
