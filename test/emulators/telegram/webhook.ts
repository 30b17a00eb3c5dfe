import type { Clock } from '../../../src/base/clock.ts';
import type { Changes } from './changes.ts';
import type { Queued, UpdateQueue } from './updates.ts';
import type { Arguments, Update } from './wire.ts';

const delayMsMax = 60_000;
const retryAfterSecondsMax = 3_600;
const answerMsMax = 60_000;

export interface Attempt {
  update: Update;
  status: number;
  at: number;
  secret: string | null;
}

export interface Webhook {
  readonly url: string;
  readonly connections: number;
  readonly attempts: Attempt[];
  readonly lastError: { at: number; message: string } | null;
  set(options: { url: string; secret: string; connections: number }): void;
  clear(): void;
  /** Looks for updates that can be sent. */
  wake(): void;
  retryNow(): void;
}

/**
 * Delivery as in WebhookActor.cpp: any 2xx confirms; otherwise the first retry is at once, then the delay doubles up to a
 * minute, Retry-After is honoured; one update at a time per chat (per person for presses), queues in parallel.
 * `execute` runs the Bot API call an answer may carry.
 */
export function createWebhook(options: {
  clock: Clock;
  changes: Changes;
  queue: UpdateQueue;
  keepAttempts: boolean;
  execute: (method: string, args: Arguments) => void;
}): Webhook {
  const { clock, changes, queue } = options;
  const busy = new Set<number>();
  const failures = new Map<number, { count: number; cancel: (() => void) | null }>();
  const attempts: Attempt[] = [];
  let target: { url: string; secret: string; connections: number } | null = null;
  let lastError: Webhook['lastError'] = null;

  const wake = () => {
    if (!target) return;
    for (const entry of queue.pending) {
      if (busy.size >= target.connections) return;
      if (busy.has(entry.queue) || failures.get(entry.queue)?.cancel) continue;
      busy.add(entry.queue);
      void deliver(entry, target);
    }
  };

  async function deliver(entry: Queued, to: NonNullable<typeof target>): Promise<void> {
    const outcome = await post(entry.update, to);
    if (options.keepAttempts) {
      attempts.push({ update: entry.update, status: outcome.status, at: clock.now(), secret: to.secret || null });
    }
    busy.delete(entry.queue);
    if (outcome.status >= 200 && outcome.status < 300) {
      failures.delete(entry.queue);
      queue.remove(entry);
      if (outcome.call) options.execute(outcome.call.method, outcome.call.args);
    } else {
      lastError = { at: clock.now(), message: outcome.message };
      holdBack(entry.queue, outcome.retryAfter);
    }
    changes.changed();
    wake();
  }

  function holdBack(key: number, retryAfterSeconds: number | null): void {
    const count = (failures.get(key)?.count ?? 0) + 1;
    const delayMs =
      retryAfterSeconds === null
        ? count === 1
          ? 0
          : Math.min(1_000 * 2 ** (count - 2), delayMsMax)
        : Math.min(retryAfterSeconds, retryAfterSecondsMax) * 1000;
    const failure: { count: number; cancel: (() => void) | null } = { count, cancel: null };
    failures.set(key, failure);
    if (delayMs === 0) return;
    failure.cancel = clock.after(delayMs, () => {
      failure.cancel = null;
      wake();
    });
  }

  return {
    get url() {
      return target?.url ?? '';
    },
    get connections() {
      return target?.connections ?? 40;
    },
    get lastError() {
      return lastError;
    },
    attempts,
    set(next) {
      target = next;
      queue.webhook = true;
      lastError = null;
      queue.endPolls('terminated by setWebhook request');
      setImmediate(wake);
    },
    clear() {
      target = null;
      queue.webhook = false;
      for (const failure of failures.values()) failure.cancel?.();
      failures.clear();
    },
    wake,
    retryNow() {
      for (const failure of failures.values()) {
        failure.cancel?.();
        failure.cancel = null;
      }
      wake();
    },
  };
}

interface Outcome {
  status: number;
  message: string;
  retryAfter: number | null;
  call: { method: string; args: Arguments } | null;
}

async function post(update: Update, to: { url: string; secret: string }): Promise<Outcome> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (to.secret) headers['x-telegram-bot-api-secret-token'] = to.secret;
  try {
    const response = await fetch(to.url, {
      method: 'POST',
      headers,
      body: JSON.stringify(update),
      signal: AbortSignal.timeout(answerMsMax),
    });
    const body = await response.text();
    const after = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status: response.status,
      message: `Wrong response from the webhook: ${response.status} ${response.statusText}`,
      retryAfter: Number.isFinite(after) ? after : null,
      call: response.ok ? callIn(body) : null,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 0, message, retryAfter: null, call: null };
  }
}

/** An answer may carry one call; reading methods and the webhook's own are ignored. */
function callIn(body: string): Outcome['call'] {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null) return null;
    const { method, ...args } = parsed as Arguments;
    if (typeof method !== 'string' || /^(get|setwebhook|deletewebhook)/i.test(method)) return null;
    return { method, args };
  } catch {
    return null;
  }
}
