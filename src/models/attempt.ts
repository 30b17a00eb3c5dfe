/** One HTTP request to one provider: streamed, timed, bounded, and accounted for however it ends. */
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { ModelAnswer, ModelObserver, ModelProfile, ModelRequest, Usage } from '../types/model.ts';
import { createCollector } from './collect.ts';
import { AttemptFailure, describe, failureOf } from './failure.ts';
import { nativeKeyOf, toCallOptions } from './prompt.ts';
import type { OpenProfile, StreamPart, Wire } from './providers.ts';
import { watch } from './transport.ts';

export interface AttemptOptions {
  open: OpenProfile;
  wire: Wire;
  request: ModelRequest;
  replayNative: boolean;
  clock: Clock;
  observer: ModelObserver;
  signal: AbortSignal;
  /** Called before the first text of this attempt is shown. */
  onShown(): void;
}

/** Roughly what a token is in English; only for what providers leave unsaid. */
const charsPerToken = 4;

/** Throws an AttemptFailure, or the signal's reason at once when it aborts; nothing is observed after that. */
export function attempt(options: AttemptOptions): Promise<ModelAnswer> {
  const { open, wire, clock, observer, signal } = options;
  const { profile } = open;
  signal.throwIfAborted();
  const connection = new AbortController();
  const collector = createCollector(options.request);
  const seen = { sent: false, answered: false, requestBytes: 0, onBytes: () => {} };
  let over = false;

  return new Promise((resolve, reject) => {
    const timers = createTimers(clock, profile.timeoutMs, (what) =>
      end({ failure: timedOut(profile, what), byProvider: false }),
    );
    seen.onBytes = timers.alive;
    watch(connection.signal, seen);
    const onAbort = () => end({ failure: signal.reason, byProvider: false });
    signal.addEventListener('abort', onAbort, { once: true });

    /** The first end counts: an answer, a failure, a timeout or the caller's abort. */
    function end(outcome: { answer: ModelAnswer } | { failure: unknown; byProvider: boolean }): void {
      if (over) return;
      over = true;
      timers.stop();
      signal.removeEventListener('abort', onAbort);
      if ('answer' in outcome) {
        resolve(outcome.answer);
        return;
      }
      connection.abort();
      const spent = spentBy(outcome.byProvider);
      if (spent) observer.onSpent(profile.name, spent);
      reject(outcome.failure);
    }

    /** A provider charges what it read and wrote even if nobody waits for the rest, but not its own early errors. */
    function spentBy(byProvider: boolean): Usage | null {
      if (collector.usage) return collector.usage;
      return seen.answered && !(byProvider && collector.writtenChars === 0) ? estimate() : null;
    }

    function estimate(): Usage {
      return {
        input: Math.ceil(seen.requestBytes / charsPerToken),
        cachedInput: 0,
        output: Math.ceil(collector.writtenChars / charsPerToken),
      };
    }

    async function run(): Promise<ModelAnswer | null> {
      const model = await open.model(wire);
      const { stream } = await model.doStream({
        ...toCallOptions(options.request, profile, wire, options.replayNative),
        abortSignal: connection.signal,
      });
      const reader = (stream as ReadableStream<StreamPart>).getReader();
      while (!collector.full) {
        const { done, value } = await reader.read();
        if (over || done) break;
        const wasShown = collector.shown;
        const text = collector.take(value);
        if (text === '') continue;
        if (!wasShown) options.onShown();
        observer.onText(text);
      }
      if (collector.full) connection.abort();
      return collector.finish(nativeKeyOf(profile, wire), profile.name, collector.usage ?? estimate());
    }

    run().then(
      (answer) => end(answer ? { answer } : { failure: cutShort(profile), byProvider: true }),
      (error: unknown) => end({ failure: failureOf(error, profile, clock.now(), seen.sent), byProvider: true }),
    );
  });
}

function cutShort(profile: ModelProfile): AttemptFailure {
  return new AttemptFailure(profile.name, `${describe(profile)}: the answer broke off before its end`, {
    kind: 'unavailable',
    retryable: true,
  });
}

function timedOut(profile: ModelProfile, what: string): AttemptFailure {
  return new AttemptFailure(profile.name, `${describe(profile)}: ${what}`, {
    kind: 'unavailable',
    retryable: true,
    hint: `a slow model may need a longer models.${profile.name}.timeout`,
  });
}

interface Timers {
  /** Bytes came: the connection lives. */
  alive(): void;
  stop(): void;
}

/** Three bounds: the first byte, the silence between bytes, and the whole. The silence is checked by one lazy timer. */
function createTimers(clock: Clock, totalMs: number, onTimeout: (what: string) => void): Timers {
  let lastAt: number | null = null;
  let stopped = false;
  const firstMs = Math.min(limits.modelFirstByteMs, totalMs);
  const cancelTotal = clock.after(totalMs, () => onTimeout(`no complete answer within ${totalMs} ms`));
  let cancelSilence = clock.after(firstMs, onFirst);

  function onFirst(): void {
    if (lastAt === null) onTimeout(`no answer within ${firstMs} ms`);
    else check();
  }

  function check(): void {
    const silentMs = clock.now() - (lastAt as number);
    if (silentMs >= limits.modelByteGapMs) onTimeout(`the answer stopped for ${limits.modelByteGapMs} ms`);
    else cancelSilence = clock.after(limits.modelByteGapMs - silentMs, check);
  }

  return {
    alive() {
      if (stopped) return;
      const first = lastAt === null;
      lastAt = clock.now();
      if (!first) return;
      cancelSilence();
      cancelSilence = clock.after(limits.modelByteGapMs, check);
    },
    stop() {
      stopped = true;
      cancelTotal();
      cancelSilence();
    },
  };
}
