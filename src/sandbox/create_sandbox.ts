/** The sandbox of a gateway: decides once how skills run here, and runs them that way or not at all. */
import type { Clock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { createFronts } from './front.ts';
import { realPath } from './grant.ts';
import { type Found, findMeans, type Missing } from './means.ts';
import { runSandboxed, runUnconfined, type SandboxRequest, type SandboxResult } from './run.ts';
import { testSandbox } from './self_test.ts';

/** `required` runs confined or not at all; `preferred` without it where it is not available; `off` never uses it. */
export type SandboxMode = 'required' | 'preferred' | 'off';

export interface SandboxState {
  mode: SandboxMode;
  /** How a skill without an `unconfined` grant runs now. */
  runs: 'confined' | 'unconfined' | 'refused';
  /** Why it is not confined, with what to do. */
  missing: Missing | null;
  /** How memory is limited. */
  memory: string;
}

export interface Sandbox {
  /** Resolves after the self test. */
  state(): Promise<SandboxState>;
  /**
   * At most `sandboxesAtOnceMax` at once, the others wait their turn; the time limit begins with the process.
   * Throws GatehouseError('refused') with words for the operator, and the signal's reason when cancelled.
   */
  run(request: SandboxRequest): Promise<SandboxResult>;
  /** After the last run. */
  close(): Promise<void>;
}

export interface SandboxParts {
  mode: SandboxMode;
  /** Never visible inside; the first is the data folder and must exist. */
  hidden: readonly [string, ...string[]];
  clock: Clock;
  log: Log;
  /** For tests. */
  found?: Found;
}

export function createSandbox(parts: SandboxParts): Sandbox {
  const found = parts.found ?? findMeans();
  const hidden = parts.hidden.flatMap((path) => realPath(path) ?? []);
  const { clock, log } = parts;
  const { means } = found;
  const fronts = means.bwrap ? createFronts({ ...means, bwrap: means.bwrap, clock, log }) : null;
  const around = { means, fronts, hidden, clock, log };
  const turns = createTurns(limits.sandboxesAtOnceMax);
  let state: Promise<SandboxState> | null = null;

  async function decide(): Promise<SandboxState> {
    const { mode } = parts;
    const { memory } = found;
    if (mode === 'off') {
      log.error({}, 'sandbox.subprocess is off: skills run with everything that their user may read and reach');
      return { mode, runs: 'unconfined', missing: null, memory };
    }
    const missing = found.missing ?? (await testSandbox(around, hidden[0] ?? '/'));
    if (!missing) {
      log.info({ memory }, 'sandbox: tested, it holds');
      return { mode, runs: 'confined', missing, memory };
    }
    const runs = mode === 'required' ? 'refused' : 'unconfined';
    const then = runs === 'refused' ? 'skills do not run' : 'sandbox.subprocess is preferred, so skills run without it';
    log.error({ hint: missing.hint }, `sandbox: ${missing.reason}; ${then}`);
    return { mode, runs, missing, memory };
  }

  const decided = () => {
    state ??= decide();
    return state;
  };

  return {
    state: decided,
    async run(request) {
      const { runs, missing } = await decided();
      const unconfined = request.grant?.unconfined === true || runs === 'unconfined';
      if (!unconfined && runs === 'refused')
        throw new GatehouseError('refused', `skills do not run here: ${missing?.reason}`, {
          ...(missing ? { hint: missing.hint } : {}),
        });
      const leave = await turns.enter(request.signal);
      try {
        return await (unconfined ? runUnconfined : runSandboxed)(request, around);
      } finally {
        leave();
      }
    },
    async close() {
      await fronts?.close();
      means.staging.close();
    },
  };
}

/** `enter` resolves when one of `most` places is free, in order of asking, with the function that frees it. */
export function createTurns(most: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  };
  return {
    async enter(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (taken < most) taken += 1;
      else
        await new Promise<void>((resolve, reject) => {
          const go = () => {
            signal?.removeEventListener('abort', stop);
            resolve();
          };
          const stop = () => {
            waiting.splice(waiting.indexOf(go), 1);
            reject(signal?.reason);
          };
          waiting.push(go);
          signal?.addEventListener('abort', stop, { once: true });
        });
      return leave;
    },
  };
}
