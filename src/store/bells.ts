import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Bell } from './db.ts';

/** Who listens in this process. A listener that throws is logged and hinders no other. */
export interface Bells {
  on(bell: Bell, listener: () => void): () => void;
  ring(bells: Iterable<Bell>): void;
  /** After rings may have been missed. */
  ringAll(): void;
}

export function createBells(log: Log | undefined): Bells {
  const listeners = new Map<Bell, Set<() => void>>();
  const ring = (bells: Iterable<Bell>) => {
    for (const bell of bells)
      for (const listener of [...(listeners.get(bell) ?? [])])
        try {
          listener();
        } catch (error) {
          log?.error({ bell, error: messageOf(error) }, 'a listener of a bell threw');
        }
  };
  return {
    on(bell, listener) {
      const set = listeners.get(bell) ?? new Set();
      listeners.set(bell, set);
      const own = () => listener();
      set.add(own);
      return () => void set.delete(own);
    },
    ring,
    ringAll: () => ring([...listeners.keys()]),
  };
}
