const waitMs = 30_000;
const saidCharactersMax = 2_000;

/** Waits that end by what happens, never by time alone. */
export interface Watch {
  /** Something happened: everybody who waits looks again. */
  changed(): void;
  /** Resolves when `ask` is truthy; it is asked at once and after every change. */
  until<T>(what: string, ask: () => T | undefined | false | null): Promise<T>;
}

/** `said` tells a wait that was in vain how things stand. */
export function createWatch(said: () => string): Watch {
  const waiters = new Set<() => void>();
  return {
    changed() {
      for (const waiter of waiters) waiter();
    },
    until(what, ask) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(look);
          reject(new Error(`waited in vain for ${what}; said: ${said().slice(-saidCharactersMax)}`));
        }, waitMs);
        const look = () => {
          const found = ask();
          if (!found) return;
          clearTimeout(timer);
          waiters.delete(look);
          resolve(found);
        };
        waiters.add(look);
        look();
      });
    },
  };
}
