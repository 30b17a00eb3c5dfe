/** How the channel is, said once per change (rule 8), and what a failed call means for it. */
import type { AdapterContext } from '../../src/types/adapter.ts';
import type { Backoff } from './backoff.ts';
import { type Failure, failureOf } from './failures.ts';

export interface Health {
  up(): void;
  down(reason: string): void;
  /** For good. */
  failed(reason: string): void;
  /** Resolves at the first of these. */
  readonly known: Promise<void>;
}

export function createHealth(context: AdapterContext): Health {
  let said = '';
  let wasUp = false;
  let resolve = () => {};
  const known = new Promise<void>((done) => {
    resolve = done;
  });
  const say = (state: 'up' | 'down' | 'failed', reason?: string) => {
    if (said === `${state} ${reason}`) return;
    said = `${state} ${reason}`;
    if (state === 'up' && wasUp) context.count('reconnects');
    wasUp ||= state === 'up';
    context.report(state, reason);
    resolve();
  };
  return {
    known,
    up: () => say('up'),
    down: (reason) => say('down', reason),
    failed: (reason) => say('failed', reason),
  };
}

/** `fatal`: trying again cannot help until the configuration is changed. */
export function troubleOf(failure: Failure, channel: string): { fatal: boolean; reason: string; waitMs?: number } {
  if (failure.kind === 'unreachable') return { fatal: false, reason: `Telegram: ${failure.description}` };
  const { code, description } = failure;
  if (code === 401 || code === 404)
    return {
      fatal: true,
      reason: `Telegram knows no bot with this token (${code} ${description}): copy the token from @BotFather again into channels.${channel}.token (or api_url, if it is not Telegram's own server), then restart`,
    };
  if (code === 409 && !/webhook/i.test(description))
    return {
      fatal: false,
      reason:
        'another program receives the messages of this bot (409): stop it, or give this gateway a bot and token of its own; trying again',
    };
  return {
    fatal: false,
    reason: `Telegram refuses (${code} ${description}); trying again`,
    ...(failure.retryAfterMs === undefined ? {} : { waitMs: failure.retryAfterMs }),
  };
}

/** Says what the trouble is and waits it out; false when nothing but a new configuration helps. */
export async function endure(
  error: unknown,
  channel: { context: AdapterContext; health: Health; backoff: Backoff; signal: AbortSignal },
): Promise<boolean> {
  const trouble = troubleIn(error, channel.context);
  if (trouble.fatal) {
    channel.health.failed(trouble.reason);
    return false;
  }
  channel.health.down(trouble.reason);
  await channel.backoff.wait(channel.signal, trouble.waitMs).catch(() => {});
  return true;
}

/** Also a bug is waited out: it may concern one answer of the server, and a channel that gave up hears nobody. */
function troubleIn(error: unknown, { channel, log }: AdapterContext): ReturnType<typeof troubleOf> {
  try {
    return troubleOf(failureOf(error), channel);
  } catch {
    log.error({ err: error }, 'receiving from Telegram met an error that nobody foresaw');
    return {
      fatal: false,
      reason: 'receiving from Telegram failed for a reason that nobody foresaw, see the log; trying again',
    };
  }
}
