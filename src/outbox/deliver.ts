/**
 * Sends what the outbox holds: per chat in order, one at a time; chats side by side. A row is claimed before the call
 * and settled after it. A send whose outcome is unknown is looked up where the platform lets us, else repeated, at most
 * `unknownSendsMax` times (D3): on a platform that cannot be asked that is the documented second message.
 */
import type { Clock } from '../base/clock.ts';
import { DeliveryError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { createStage, type Stage, type TurnResult } from '../queue/stage.ts';
import type { Db } from '../store/db.ts';
import {
  claimOutboxRow,
  dueHeads,
  nextDueAt,
  type OutboxRow,
  outboxPriority,
  readRef,
  setRef,
  settleOutboxRow,
} from '../store/outbox.ts';
import type { Adapter } from '../types/adapter.ts';
import type { OutgoingMessage, SentMessage } from '../types/message.ts';
import { createPace, type Pace } from './pace.ts';

export interface DeliverParts {
  db: Db;
  clock: Clock;
  log: Log;
  owner: string;
  /** Those with an adapter; rows of others wait until it is configured again. */
  channels: () => readonly string[];
  adapterOf: (channel: string) => Adapter | undefined;
  /** A chat got a new id while we sent (rule 20). */
  onMigrated: (channel: string, from: string, to: string) => Promise<void>;
  /** An answer was given up; people are told once where that is possible. */
  onFailed: (row: OutboxRow, error: string) => Promise<void>;
  count: (name: 'outbox_sent' | 'outbox_retries' | 'outbox_failed' | 'outbox_rate_limited' | 'outbox_unknown') => void;
}

export interface Deliver extends Pick<Stage, 'start' | 'stop' | 'wake'> {
  paceOf(channel: string): Pace | undefined;
  /** Resolves when no send of the channel is under way, after 10 s at the latest: its adapter may be closed then. */
  settled(channel: string): Promise<void>;
}

interface Attempt {
  /** An earlier one may have arrived. */
  uncertain: boolean;
  /** This one came as far as sending a message. */
  sends: boolean;
}

/** How long `stop` goes on sending what is due. */
const flushMs = 3_000;
/** How long `settled` waits. */
const settledMsMax = 10_000;
/** Chats looked at in one turn. */
const headsPerTurn = 256;
/** Waits after failures that say nothing of how long: 1 s doubling to 60 s. */
const backoffMs = (attempts: number) => Math.min(60_000, 1_000 * 2 ** Math.min(attempts, 6));

export function createDeliver(parts: DeliverParts): Deliver {
  const { db, clock, log } = parts;
  const busy = new Set<string>();
  const paces = new Map<string, { adapter: Adapter; pace: Pace }>();
  /** Each with the name of its channel. */
  const underWay = new Map<Promise<void>, string>();
  /** Aborted when `stop` waits no longer. */
  const ended = new AbortController();
  const paceOf = (channel: string) => {
    const adapter = parts.adapterOf(channel);
    if (!adapter) return undefined;
    let known = paces.get(channel);
    if (known?.adapter !== adapter) {
      known = { adapter, pace: createPace(adapter.limits) };
      paces.set(channel, known);
    }
    return known.pace;
  };

  const turn = async (): Promise<TurnResult> => {
    const now = clock.now();
    const channels = parts.channels();
    const heads = await dueHeads(db, channels, now, headsPerTurn);
    let nextAt = await nextDueAt(db, channels, now);
    const later = (at: number) => {
      nextAt = nextAt === null ? at : Math.min(nextAt, at);
    };
    const due: OutboxRow[] = [];
    for (const row of heads) {
      if (busy.has(chatKey(row))) continue;
      const what = row.priority === outboxPriority.rest ? 'more' : 'answer';
      const wait = paceOf(row.place.channel)?.take(row.place.chat, row.direct ? 'direct' : 'group', what, now) ?? 0;
      if (wait > 0) later(now + wait);
      else due.push(row);
    }
    if (due.length > 0) {
      const claimed = await db.tx(async (q) => {
        const own: OutboxRow[] = [];
        for (const row of due)
          if (await claimOutboxRow(q, row, parts.owner, now, now + limits.leaseMs + limits.sendTimeoutMs))
            own.push(row);
        return own;
      });
      for (const row of claimed) {
        const chat = chatKey(row);
        busy.add(chat);
        const work = deliver(row)
          .catch((error) => log.error({ outbox: row.id, channel: row.place.channel, err: error }, 'delivery broke'))
          .finally(() => {
            busy.delete(chat);
            underWay.delete(work);
            stage.wake();
          });
        underWay.set(work, row.place.channel);
      }
    }
    return { again: heads.length === headsPerTurn && due.length > 0, nextAt };
  };
  const stage = createStage({ name: 'outbox', db, clock, log, bells: ['outbox'], turn });

  async function deliver(row: OutboxRow): Promise<void> {
    const adapter = parts.adapterOf(row.place.channel);
    // Taken away by a reload since the row was claimed: nothing was sent.
    if (!adapter || !parts.channels().includes(row.place.channel))
      return settle(row, { state: 'pending', error: 'the channel is gone', notBefore: row.notBefore, unknown: false });
    const uncertain = row.state === 'sending' || row.unknownSends > 0;
    // An edit may be repeated; once a message of its own is tried, it may stand there twice.
    const attempt: Attempt = { uncertain, sends: false };
    let sent: SentMessage | null;
    try {
      sent = await sendInTime(adapter, row, attempt);
    } catch (error) {
      return settleError(row, error, attempt.sends);
    }
    const ref = sent?.ref ?? null;
    const isAnew = row.kind === 'edit' && attempt.sends;
    await settle(row, { state: 'sent', ref, postedAt: sent?.sentAt ?? null, now: clock.now() }, isAnew ? ref : null);
    parts.count('outbox_sent');
  }

  /** A timer of our own and not AbortSignal.timeout, which keeps everything of a quick call alive until it fires. */
  async function sendInTime(adapter: Adapter, row: OutboxRow, attempt: Attempt): Promise<SentMessage | null> {
    const abort = new AbortController();
    const stop = () => abort.abort(ended.signal.reason);
    ended.signal.addEventListener('abort', stop, { once: true });
    const cancel = clock.after(limits.sendTimeoutMs, () =>
      abort.abort(new DeliveryError('the platform did not answer in time', { outcome: 'unknown' })),
    );
    try {
      return await sendOnce(adapter, row, attempt, abort.signal);
    } finally {
      cancel();
      ended.signal.removeEventListener('abort', stop);
    }
  }

  async function sendOnce(
    adapter: Adapter,
    row: OutboxRow,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<SentMessage | null> {
    const message: OutgoingMessage = {
      id: row.id,
      place: row.place,
      markdown: row.markdown,
      ...(row.replyTo === null ? {} : { replyTo: row.replyTo }),
      ...(row.runId === null ? {} : { answerId: row.runId }),
      ...(row.question === null ? {} : { question: row.question }),
    };
    if (row.kind === 'edit' && row.target !== null) {
      const target = await readRef(db, row.target);
      if (target?.ref != null && adapter.edit) {
        try {
          await adapter.edit(target.ref, message, signal);
          return { ref: target.ref };
        } catch (error) {
          // The first piece is gone or cannot be changed: the whole answer is worth a message of its own.
          if (!(error instanceof DeliveryError) || !error.permanent || error.migratedTo !== undefined) throw error;
        }
      }
    }
    if (attempt.uncertain) {
      const found = adapter.features.reconcile === 'find' ? await adapter.find?.(message) : null;
      if (found) return found;
      // A second report is worse than none, where the platform shows it again.
      const once = row.priority === outboxPriority.report && adapter.features.reconcile === false;
      const most = once ? 0 : limits.unknownSendsMax;
      if (row.unknownSends >= most)
        throw new DeliveryError('whether it arrived could not be found out', { outcome: 'unknown', permanent: true });
    }
    attempt.sends = true;
    return adapter.send(message, signal);
  }

  async function settleError(row: OutboxRow, error: unknown, sends: boolean): Promise<void> {
    const now = clock.now();
    const failure =
      error instanceof DeliveryError
        ? error
        : new DeliveryError(messageOf(error), { outcome: 'unknown', cause: error });
    const fields = {
      outbox: row.id,
      run: row.runId,
      channel: row.place.channel,
      attempts: row.attempts + 1,
      err: failure,
    };
    if (failure.migratedTo !== undefined) {
      await settle(row, { state: 'pending', error: failure.message, notBefore: 0, unknown: false });
      await parts.onMigrated(row.place.channel, row.place.chat, failure.migratedTo);
      return;
    }
    if (failure.permanent) return settleFailed(row, failure);
    const unknown = failure.outcome === 'unknown' && sends;
    if (failure.retryAfterMs !== undefined) {
      paceOf(row.place.channel)?.slow(row.place.chat, failure.retryAfterMs, now);
      parts.count('outbox_rate_limited');
    }
    parts.count(unknown ? 'outbox_unknown' : 'outbox_retries');
    log.warn(fields, unknown ? 'whether a message arrived is unknown' : 'a message will be sent again');
    const notBefore = now + (failure.retryAfterMs ?? backoffMs(row.attempts));
    await settle(row, { state: 'pending', error: failure.message, notBefore, unknown });
  }

  async function settleFailed(row: OutboxRow, failure: DeliveryError): Promise<void> {
    const error = failure.message;
    const known = failure.outcome === 'not_sent';
    parts.count('outbox_failed');
    log.error(
      { outbox: row.id, run: row.runId, channel: row.place.channel, error },
      known ? 'a message could not be delivered' : 'whether a message arrived could not be found out, it is given up',
    );
    await settle(row, { state: 'failed', error });
    // It may stand there: saying that it does not would be a guess.
    if (known) await parts.onFailed(row, error);
  }

  /**
   * A store in trouble is asked again until it has it: what became of the send is known here alone. Nothing else goes
   * to the chat meanwhile.
   */
  async function settle(
    row: OutboxRow,
    settled: Parameters<typeof settleOutboxRow>[2],
    newRef: string | null = null,
  ): Promise<void> {
    for (let tries = 0; ; tries++) {
      // Left as `sending`: the next start finds out, or counts it as unknown.
      if (ended.signal.aborted) return;
      try {
        return await db.tx(async (q) => {
          await settleOutboxRow(q, row.id, settled);
          if (newRef !== null && row.target !== null) await setRef(q, row.target, newRef);
        });
      } catch (error) {
        log.error(
          { outbox: row.id, run: row.runId, channel: row.place.channel, err: error },
          'a send is not noted yet',
        );
        await clock.sleep(backoffMs(tries), ended.signal).catch(() => {});
      }
    }
  }

  return {
    start: stage.start,
    wake: stage.wake,
    paceOf,
    async settled(channel) {
      const own = [...underWay].filter(([, name]) => name === channel).map(([work]) => work);
      if (own.length === 0) return;
      const enough = Promise.withResolvers<void>();
      const cancel = clock.after(settledMsMax, enough.resolve);
      await Promise.race([Promise.all(own), enough.promise]);
      cancel();
    },
    async stop() {
      await stage.stop();
      // What is due is still sent; what must wait stays in the outbox for the next start.
      let late = false;
      const enough = Promise.withResolvers<void>();
      const cancel = clock.after(flushMs, () => {
        late = true;
        enough.resolve();
      });
      do {
        await Promise.race([Promise.all(underWay.keys()), enough.promise]);
        if (!late) await turn();
      } while (underWay.size > 0 && !late);
      cancel();
      ended.abort(new Error('the gateway is stopping'));
    },
  };
}

const chatKey = (row: OutboxRow) => `${row.place.channel}\n${row.place.chat}`;
