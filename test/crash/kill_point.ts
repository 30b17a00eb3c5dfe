/**
 * Where a process is killed: at the n-th time something happens, counted from when the point was armed.
 *
 *   commit.before  commit.after         around every commit of the database
 *   tool.before    tool.after           around the effect of the tool that must not run twice
 *   telegram.METHOD.received  .accepted the request has arrived; its effect is done and its answer not given
 *   model.received  model.chosen        a model request has arrived; its answer is ready and no byte of it sent
 *   model.piece    model.answered       before a piece of the answer's text; after its last byte
 */
export interface KillPoint {
  event: string;
  /** Counts from 1. */
  number: number;
}

export type Counts = Record<string, number>;

export function pointText(point: KillPoint): string {
  return `${point.event}#${point.number}`;
}

export function pointsOf(counts: Counts): KillPoint[] {
  return Object.entries(counts).flatMap(([event, count]) =>
    Array.from({ length: count }, (_, index) => ({ event, number: index + 1 })),
  );
}

export interface Trigger {
  /** Counts anew; null only counts. */
  arm(point: KillPoint | null): void;
  /** True when this was the armed point, once. */
  happened(event: string): boolean;
  counts(): Counts;
}

export function createTrigger(): Trigger {
  let armed: KillPoint | null = null;
  let counts: Counts = {};
  return {
    arm(point) {
      armed = point;
      counts = {};
    },
    happened(event) {
      const number = (counts[event] ?? 0) + 1;
      counts[event] = number;
      if (armed?.event !== event || armed.number !== number) return false;
      armed = null;
      return true;
    },
    counts: () => ({ ...counts }),
  };
}
