/**
 * Long polling. An update is confirmed by the next poll's offset and only after the inbox has stored it (D1): a crash
 * at any instant makes the server deliver it again. grammY's own loop is not used because it confirms what a handler
 * has merely seen.
 */
import { messageOf } from '../../src/base/errors.ts';
import type { AdapterContext } from '../../src/types/adapter.ts';
import { createBackoff } from './backoff.ts';
import type { Client } from './client.ts';
import { endure, type Health } from './health.ts';
import { type Intake, updateId } from './intake.ts';
import { allowedUpdates, type Me } from './parse.ts';
import { TransportError } from './transport.ts';

const pollSeconds = 30;
const batchMax = 100;
const confirmMs = 2_000;

export interface Receiver {
  /** Runs until stopped or failed for good; how it is doing is told to `health`. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReceiverParts {
  client: Client;
  context: AdapterContext;
  health: Health;
  intake: Intake;
  /** Asks who we are; kept by the caller. */
  identify(signal: AbortSignal): Promise<Me>;
}

export function createPolling(parts: ReceiverParts): Receiver {
  const { client, context, health, intake } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff(context.clock);
  let running: Promise<void> | undefined;
  /** Confirms everything before it. Dropped once the server has had it: ids may begin anew after a quiet week. */
  let offset: number | undefined;
  let offsetTold = true;
  let healthy = true;
  let limit = batchMax;

  /** Resolves only when stopping. Any trouble is thrown. */
  async function poll(me: Me): Promise<void> {
    while (!signal.aborted) {
      const told = offset;
      offsetTold = true;
      const updates = await client.raw.getUpdates(
        {
          limit,
          // After trouble a short poll tells soon whether it is over.
          timeout: healthy ? pollSeconds : 0,
          allowed_updates: allowedUpdates,
          ...(told === undefined ? {} : { offset: told }),
        },
        signal as never,
      );
      offset = undefined;
      recovered();
      if (updates.length === 0) continue;
      if (!(await store(updates, me))) return;
      const ids = updates.map(updateId).filter((id) => id !== undefined);
      if (ids.length === 0) throw new Error('the server sends updates without an update_id');
      offset = Math.max(...ids) + 1;
      offsetTold = false;
    }
  }

  function recovered(): void {
    healthy = true;
    limit = batchMax;
    backoff.reset();
    health.up();
  }

  /**
   * True when all is stored, however long that takes. False only when stopping: then the whole batch stays
   * unconfirmed, and what of it is stored is a duplicate next time.
   */
  async function store(updates: readonly unknown[], me: Me): Promise<boolean> {
    let { left, error } = await intake.take(updates, me);
    while (left.length > 0) {
      if (signal.aborted) return false;
      context.count('store_retries');
      health.down(`messages cannot be stored (${messageOf(error)}); Telegram keeps them, trying again`);
      await backoff.wait(signal).catch(() => {});
      ({ left, error } = await intake.take(left, me));
    }
    recovered();
    return true;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const me = await parts.identify(signal);
        await client.raw.deleteWebhook({ drop_pending_updates: false }, signal as never);
        if (healthy) health.up();
        await poll(me);
      } catch (error) {
        if (signal.aborted) return;
        healthy = false;
        // A batch that is too long to be taken is taken one by one.
        if (error instanceof TransportError && error.code === 'too_long') limit = 1;
        if (!(await endure(error, { context, health, backoff, signal }))) return;
      }
    }
  }

  return {
    run: () => (running = run()),
    async stop() {
      stopping.abort();
      await intake.stop();
      await running;
      if (offset === undefined || offsetTold) return;
      offsetTold = true;
      // What is stored is confirmed, so that the next start does not begin with duplicates.
      const enough = new AbortController();
      const cancel = context.clock.after(confirmMs, () => enough.abort());
      await client.raw.getUpdates({ offset, limit: 1, timeout: 0 }, enough.signal as never).catch(() => {});
      cancel();
    },
  };
}
