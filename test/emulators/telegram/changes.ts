/** Lets a test wait for a state instead of a time: every change of the emulator's state re-asks the open questions. */
export interface Changes {
  changed(): void;
  /**
   * Resolves with the first truthy answer of `ask`, asked now and after every change. Rejects after `timeoutMs` of real
   * time (default 10,000) with `what` and what `describe` says then.
   */
  until<T>(
    what: string,
    ask: () => T | undefined | null | false,
    options?: { timeoutMs?: number; describe?: () => string },
  ): Promise<T>;
}

const untilMsDefault = 20_000;

export function createChanges(): Changes {
  const open = new Set<() => void>();
  return {
    changed() {
      if (open.size > 0) for (const look of [...open]) look();
    },
    until(what, ask, options = {}) {
      const first = ask();
      if (first) return Promise.resolve(first);
      const { promise, resolve, reject } = Promise.withResolvers<NonNullable<typeof first> & object>();
      const settle = (act: () => void) => {
        clearTimeout(timer);
        open.delete(look);
        act();
      };
      const look = () => {
        try {
          const answer = ask();
          if (answer) settle(() => resolve(answer as never));
        } catch (error) {
          settle(() => reject(error));
        }
      };
      const timer = setTimeout(() => {
        const detail = options.describe?.() ?? '';
        settle(() => reject(new Error(`Telegram emulator: ${what} did not happen in time. ${detail}`.trim())));
      }, options.timeoutMs ?? untilMsDefault);
      open.add(look);
      return promise as never;
    },
  };
}
