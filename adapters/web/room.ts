/**
 * What is going on in one chat and is not a line yet: the growing answer and the status. Kept in memory only; the
 * lines themselves are in the journal.
 */
import type { Clock } from '../../src/base/clock.ts';
import { renderMarkdown } from './render.ts';

export const roomLimits = {
  previewMsMin: 50,
  /** Rendering a long answer again costs more, so it is done less often. */
  previewMsPerChar: 0.005,
  /** The core repeats a status every few seconds; one that is not repeated is over. */
  statusMs: 15_000,
  /** A preview without a further piece is over, as after a crash. */
  liveMs: 60_000,
} as const;

export interface Live {
  answerId: string;
  html: string;
  startedAt: number;
}

/** Versions grow with every change, so that a connection knows what it has not shown yet. */
export interface Room {
  readonly live: Live | null;
  readonly liveVersion: number;
  readonly status: string | null;
  readonly statusVersion: number;
  /** Empty markdown takes the preview away. */
  preview(answerId: string, markdown: string): void;
  setStatus(text: string | null): void;
  /** The durable line of this answer stands in the journal. */
  finish(answerId: string): void;
  /** When the first piece of this answer was shown; null if none was. */
  startedAt(answerId: string): number | null;
  /** The journal may hold new lines. */
  linesChanged(): void;
  listen(listener: (what: 'lines' | 'state') => void): () => void;
  /** Nobody listens and nothing is going on. */
  idle(): boolean;
}

export function createRoom(clock: Clock): Room {
  const listeners = new Set<(what: 'lines' | 'state') => void>();
  let live: Live | null = null;
  let liveVersion = 0;
  let status: string | null = null;
  let statusVersion = 0;
  /** The newest piece, while the one before it is still fresh on the screen. */
  let waiting: { answerId: string; markdown: string } | null = null;
  let cancelTurn: (() => void) | null = null;
  let cancelStatus = () => {};
  let cancelLive = () => {};

  function wake(what: 'lines' | 'state'): void {
    for (const listener of listeners) listener(what);
  }

  function show(answerId: string, markdown: string): void {
    const startedAt = live?.answerId === answerId ? live.startedAt : clock.now();
    live = { answerId, startedAt, html: renderMarkdown(markdown) };
    liveVersion++;
    cancelLive();
    cancelLive = clock.after(roomLimits.liveMs, () => endLive());
    const pauseMs = roomLimits.previewMsMin + markdown.length * roomLimits.previewMsPerChar;
    cancelTurn = clock.after(pauseMs, () => {
      cancelTurn = null;
      const next = waiting;
      waiting = null;
      if (next) show(next.answerId, next.markdown);
    });
    wake('state');
  }

  function endLive(): void {
    if (!live) return;
    live = null;
    waiting = null;
    liveVersion++;
    cancelLive();
    wake('state');
  }

  function setStatus(text: string | null): void {
    cancelStatus();
    if (text !== null) cancelStatus = clock.after(roomLimits.statusMs, () => setStatus(null));
    if (text === status) return;
    status = text;
    statusVersion++;
    wake('state');
  }

  return {
    get live() {
      return live;
    },
    get liveVersion() {
      return liveVersion;
    },
    get status() {
      return status;
    },
    get statusVersion() {
      return statusVersion;
    },
    preview(answerId, markdown) {
      if (markdown === '') return endLive();
      if (cancelTurn) waiting = { answerId, markdown };
      else show(answerId, markdown);
    },
    setStatus,
    finish(answerId) {
      if (waiting?.answerId === answerId) waiting = null;
      if (live?.answerId === answerId) endLive();
    },
    startedAt: (answerId) => (live?.answerId === answerId ? live.startedAt : null),
    linesChanged: () => wake('lines'),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    idle: () => listeners.size === 0 && live === null && status === null && cancelTurn === null,
  };
}
