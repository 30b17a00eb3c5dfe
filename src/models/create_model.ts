/** A model request as the run sees it: one answer, whatever it takes of attempts and fallbacks (rule 74). */
import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Model, ModelAnswer, ModelObserver, ModelProfile, ModelRequest } from '../types/model.ts';
import { attempt } from './attempt.ts';
import { askDemo } from './demo.ts';
import { AttemptFailure, modelErrorOf } from './failure.ts';
import { type OpenProfile, openProfile } from './providers.ts';

export interface ModelDependencies {
  clock: Clock;
  log: Log;
  /** 0 ≤ n < 1, for the jitter of waits. */
  random?: () => number;
  /** How long the demo model takes per piece of its answer, so that one sees it being written; 0 at once. */
  demoPieceMs?: number;
}

const demoPieceMsDefault = 15;

/**
 * Serves requests from the profile `name` and, when it fails, from its fallbacks in order (and theirs). Throws a
 * ModelError when nobody answered, or the signal's reason at once when it aborts.
 */
export function createModel(
  name: string,
  profiles: Readonly<Record<string, ModelProfile>>,
  dependencies: ModelDependencies,
): Model {
  assert(profiles[name], `there is a model profile "${name}"`);
  const chain = chainOf(name, profiles);
  return {
    async ask(request, observer, signal) {
      const failures: AttemptFailure[] = [];
      /** The screen shows text of an attempt that failed since. */
      let stale = false;
      const asking: Asking = {
        ...dependencies,
        request,
        observer,
        signal,
        onShown: () => {
          stale = true;
        },
        beforeAttempt: () => {
          if (stale) observer.onReset();
          stale = false;
        },
      };
      for (const profile of chain) {
        const first = failures[0];
        if (first && !mayHelp(profile, first, profiles[first.profile])) continue;
        try {
          return await askProfile(profile, asking);
        } catch (error) {
          if (!(error instanceof AttemptFailure)) throw error;
          failures.push(error);
        }
      }
      throw modelErrorOf(failures);
    },
  };
}

interface Asking extends ModelDependencies {
  request: ModelRequest;
  observer: ModelObserver;
  signal: AbortSignal;
  onShown(): void;
  beforeAttempt(): void;
}

/** A profile, its fallbacks in order, and theirs: whoever may answer. */
export function chainOf(name: string, profiles: Readonly<Record<string, ModelProfile>>): ModelProfile[] {
  const chain: ModelProfile[] = [];
  const visit = (next: string) => {
    const profile = profiles[next];
    if (!profile || chain.includes(profile)) return;
    chain.push(profile);
    for (const fallback of profile.fallbacks) visit(fallback);
  };
  visit(name);
  return chain;
}

/** What is too long for one model is so for every other that reads no more. */
function mayHelp(fallback: ModelProfile, failure: AttemptFailure, failed: ModelProfile | undefined): boolean {
  if (failure.kind !== 'too_long') return true;
  return fallback.provider !== 'demo' && fallback.contextWindow > (failed?.contextWindow ?? 0);
}

async function askProfile(profile: ModelProfile, asking: Asking): Promise<ModelAnswer> {
  if (profile.provider === 'demo') {
    asking.beforeAttempt();
    const pieceMs = asking.demoPieceMs ?? demoPieceMsDefault;
    return askDemo(profile.name, asking.request, asking.observer, asking.signal, { clock: asking.clock, pieceMs });
  }
  const open = openProfile(profile);
  for (let tries = 0; ; tries++) {
    try {
      return await askOnce(open, asking);
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error;
      const waitMs = waitOf(error, tries, asking.random ?? randomFraction);
      const again = error.retryable && tries < profile.retries && waitMs <= limits.modelRetryAfterMsMax;
      const fields = { profile: profile.name, status: error.status, attempt: tries + 1, reason: error.message };
      if (!again) {
        asking.log.warn(fields, 'model profile failed');
        throw error;
      }
      asking.log.warn({ ...fields, waitMs }, 'model request failed, trying again');
      await asking.clock.sleep(waitMs, asking.signal);
    }
  }
}

/** An attempt, and the two repairs that need no waiting: another wire, or a transcript without native parts. */
async function askOnce(open: OpenProfile, asking: Asking): Promise<ModelAnswer> {
  const { request, observer, signal, clock, onShown } = asking;
  const send = (replayNative: boolean) => {
    asking.beforeAttempt();
    return attempt({ open, wire: open.wire, request, replayNative, clock, observer, signal, onShown });
  };
  const replayNative = !open.refusesNative;
  try {
    return await send(replayNative);
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    if (open.wire === 'responses' && open.profile.baseUrl !== null && [404, 405, 501].includes(error.status ?? 0)) {
      open.wire = 'chat';
      try {
        return await send(replayNative);
      } catch (second) {
        if (second instanceof AttemptFailure && second.status === error.status) open.wire = 'responses';
        throw second;
      }
    }
    const hasNative = request.messages.some((message) => message.role === 'assistant' && message.native);
    if (!replayNative || !hasNative || error.kind !== 'refused' || error.status === undefined) throw error;
    const answer = await send(false);
    if (open.wire === 'chat') open.refusesNative = true;
    return answer;
  }
}

/** What the provider asked for, never less than our own backoff: doubling, the upper half of it at random. */
function waitOf(failure: AttemptFailure, tries: number, random: () => number): number {
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs;
  const fullMs = Math.min(limits.modelBackoffMs * 2 ** tries, limits.modelBackoffMsMax);
  return Math.round(fullMs / 2 + (fullMs / 2) * random());
}

function randomFraction(): number {
  return randomInt(1_000_000) / 1_000_000;
}
