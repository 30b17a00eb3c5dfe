import type { Client } from 'pg';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Bells } from './bells.ts';
import type { Bell } from './db.ts';

const reconnectMsMin = 250;
const reconnectMsMax = 15_000;

/**
 * One connection a process that hears what any process rang (`pg_notify` is delivered at the commit). When it breaks
 * it is opened again, and then every bell rings, since rings may have been missed. Rejects when the first connection
 * cannot be made.
 */
export async function listenForBells(
  create: () => Client,
  bells: Bells,
  log: Log | undefined,
): Promise<{ close(): Promise<void> }> {
  let client: Client | null = null;
  let closed = false;
  let cancelTimer = () => {};

  async function connect(): Promise<void> {
    const next = create();
    let lost = false;
    const onLost = (error?: Error) => {
      if (lost) return;
      lost = true;
      next.end().catch(() => {});
      if (client !== next) return;
      client = null;
      if (closed) return;
      log?.warn({ error: messageOf(error ?? 'closed') }, 'the database connection for bells broke');
      reconnect(reconnectMsMin);
    };
    next.on('error', onLost);
    next.on('end', () => onLost());
    next.on('notification', ({ payload }) => bells.ring([payload as Bell]));
    try {
      await next.connect();
      await next.query('listen gatehouse');
    } catch (error) {
      onLost();
      throw error;
    }
    if (closed || lost) return void next.end().catch(() => {});
    client = next;
  }

  function reconnect(delayMs: number): void {
    cancelTimer = systemClock.after(delayMs, () => {
      connect().then(
        () => (client ? bells.ringAll() : closed || reconnect(reconnectMsMin)),
        () => closed || reconnect(Math.min(delayMs * 2, reconnectMsMax)),
      );
    });
  }

  await connect();
  if (!client) reconnect(reconnectMsMin);
  return {
    async close() {
      closed = true;
      cancelTimer();
      await client?.end().catch(() => {});
    },
  };
}
