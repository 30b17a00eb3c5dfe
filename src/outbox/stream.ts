/**
 * Shows an answer while it is written. Where the platform has a preview of its own, that; else a first piece as a
 * durable row, then edits of its message that draw on what the budget leaves. Edits are not durable: the latest wins,
 * a failed one is forgotten, and the final text is an outbox row of its own (rule 85).
 */
import type { Clock } from '../base/clock.ts';
import { assert, DeliveryError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { splitMarkdown } from '../base/markdown_split.ts';
import type { Db } from '../store/db.ts';
import { readOwnRef } from '../store/outbox.ts';
import { assertOwned } from '../store/runs.ts';
import type { Adapter } from '../types/adapter.ts';
import type { Place } from '../types/message.ts';
import { enqueue } from './enqueue.ts';
import type { Pace } from './pace.ts';

export interface AnswerStream {
  add(delta: string): void;
  /** What was shown so far is void; a retry begins anew. */
  reset(): void;
  /** Resolves when nothing of this stream is under way any more, so that the final text comes last. */
  close(): Promise<void>;
  /** Takes a preview away that no message will take the place of. */
  clear(): Promise<void>;
  /** The run is another process's now: nothing more is written, not even what is under way. */
  abandon(): void;
}

export interface StreamParts {
  db: Db;
  clock: Clock;
  log: Log;
  adapter: Adapter;
  /** False where the binding shows whole answers only. */
  enabled: boolean;
  pace: Pace | undefined;
  runId: string;
  /** This process, as the run's lease names it. */
  owner: string;
  place: Place;
  direct: boolean;
  replyTo: string | null;
  /** A first piece from before a restart: its outbox id. */
  firstPiece: string | null;
}

/** A preview is told what changed this often at most. */
const previewEveryMs = 60;
/** Between edits of one message, whatever the budget allows. */
const editEveryMs = 1_000;
/** An edit under way may take this long before the final text is written all the same. */
const closeWaitMs = 5_000;

const silent: AnswerStream = { add() {}, reset() {}, close: async () => {}, clear: async () => {}, abandon() {} };

export function openStream(parts: StreamParts): AnswerStream {
  const { adapter, clock } = parts;
  if (!parts.enabled || adapter.features.streaming === false) return silent;
  let text = '';
  let shown = '';
  let mode: 'preview' | 'edits' =
    adapter.preview && (adapter.features.streaming === 'live' || parts.direct) ? 'preview' : 'edits';
  let piece = parts.firstPiece;
  let closed = false;
  let active: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  const abort = new AbortController();

  const schedule = (ms: number) => {
    if (closed || active || cancelTimer) return;
    cancelTimer = clock.after(ms, () => {
      cancelTimer = null;
      if (closed || text === shown) return;
      active = show()
        .catch((error) =>
          parts.log.debug({ run: parts.runId, err: error }, `a piece of an answer was not shown: ${messageOf(error)}`),
        )
        .finally(() => {
          active = null;
          if (text !== shown) schedule(mode === 'preview' ? previewEveryMs : editEveryMs);
        });
    });
  };

  /** What fits one message of the platform; the rest comes with the final text. */
  const visible = () => {
    const { measure, textLength } = adapter.limits;
    const head = text.slice(0, textLength * 2);
    if (head === text && measure(text) <= textLength) return text;
    return splitMarkdown(head, textLength, measure)[0] ?? '';
  };

  async function show(): Promise<void> {
    const now = text;
    if (mode === 'preview') {
      if ((await adapter.preview?.(parts.place, parts.runId, now)) !== false) {
        shown = now;
        return;
      }
      mode = 'edits';
    }
    if (now.trim() === '') return;
    if (piece === null) {
      piece = await writeFirstPiece(parts, visible());
      shown = now;
      return;
    }
    const ref = await readOwnRef(parts.db, piece, parts.runId, parts.owner);
    if (ref === null || !adapter.edit || abort.signal.aborted) return;
    const wait = parts.pace?.take(parts.place.chat, parts.direct ? 'direct' : 'group', 'edit', clock.now()) ?? 0;
    if (wait > 0) return schedule(wait);
    try {
      await adapter.edit(ref, { id: piece, place: parts.place, markdown: visible() }, abort.signal);
    } catch (error) {
      if (error instanceof DeliveryError && error.retryAfterMs !== undefined)
        parts.pace?.slow(parts.place.chat, error.retryAfterMs, clock.now());
      throw error;
    }
    shown = now;
  }

  return {
    add(delta) {
      text += delta;
      schedule(mode === 'preview' ? previewEveryMs : shown === '' ? limits.streamFirstMs : editEveryMs);
    },
    reset() {
      text = '';
    },
    async close() {
      closed = true;
      cancelTimer?.();
      if (!active) return;
      const giveUp = clock.after(closeWaitMs, () => abort.abort(new Error('the answer is complete')));
      await active;
      giveUp();
    },
    async clear() {
      if (mode !== 'preview' || shown === '') return;
      await adapter.preview?.(parts.place, parts.runId, '').catch((error) => {
        parts.log.debug({ run: parts.runId, err: error }, `a preview was not taken away: ${messageOf(error)}`);
      });
    },
    abandon() {
      closed = true;
      cancelTimer?.();
      abort.abort(new Error('another process writes this answer now'));
    },
  };
}

/** Its outbox id. */
async function writeFirstPiece(parts: StreamParts, markdown: string): Promise<string> {
  const { place, direct, runId, replyTo, adapter, clock } = parts;
  const [id] = await parts.db.tx(async (q) => {
    await assertOwned(q, runId, parts.owner);
    return enqueue(q, { place, direct, markdown, runId, replyTo, priority: 'answer' }, adapter.limits, clock.now());
  });
  assert(id !== undefined, 'a piece that is not empty is a message');
  return id;
}
