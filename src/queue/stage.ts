/**
 * One stage of the way of a message: a loop that claims rows and works on them. It wakes by its bell for speed, at the
 * time its last turn named, and every `sweepMs` for safety, so that a lost ring costs latency and never a message.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Bell, Db } from '../store/db.ts';

export interface TurnResult {
  /** More may be waiting already: take another turn at once. */
  again: boolean;
  /** Epoch milliseconds of the next known due time. */
  nextAt: number | null;
}

export interface Stage {
  start(): void;
  /** Wakes this stage of this process only. */
  wake(): void;
  /** Resolves when the turn under way has ended; no other begins. */
  stop(): Promise<void>;
}

export interface StageParts {
  name: string;
  db: Db;
  clock: Clock;
  log: Log;
  bells: readonly Bell[];
  turn: () => Promise<TurnResult>;
}

export function createStage({ name, db, clock, log, bells, turn }: StageParts): Stage {
  let open = false;
  let wanted = false;
  let active: Promise<void> | null = null;
  let cancelTimer = () => {};
  const endings: (() => void)[] = [];

  const loop = async () => {
    let nextAt: number | null = null;
    while (wanted && open) {
      wanted = false;
      try {
        const result = await turn();
        nextAt = result.nextAt;
        if (result.again) wanted = true;
      } catch (error) {
        log.error({ stage: name, err: error }, `stage ${name}: ${messageOf(error)}`);
      }
    }
    if (!open) return;
    const wait = nextAt === null ? limits.sweepMs : Math.min(limits.sweepMs, Math.max(1, nextAt - clock.now()));
    cancelTimer = clock.after(wait, wake);
  };

  const wake = () => {
    wanted = true;
    if (!open || active) return;
    cancelTimer();
    active = loop().finally(() => {
      active = null;
      if (wanted && open) wake();
    });
  };

  return {
    start() {
      open = true;
      for (const bell of bells) endings.push(db.onRing(bell, wake));
      wake();
    },
    wake,
    async stop() {
      open = false;
      for (const end of endings.splice(0)) end();
      cancelTimer();
      await active;
    },
  };
}
