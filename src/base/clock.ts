/** The only clock. Tests hand in `FakeClock` from test/support; nothing else calls Date.now or setTimeout. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls back once after `ms`; the returned function cancels. Timers do not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node fires timers beyond 2^31-1 ms at once, so longer waits are cut into such pieces. */
const timerMsMax = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      timer = setTimeout(() => (left > timerMsMax ? arm(left - timerMsMax) : callback()), Math.min(left, timerMsMax));
      timer.unref();
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};

export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
