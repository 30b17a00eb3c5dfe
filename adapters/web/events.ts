/**
 * The event stream of one open page. Lines come from the journal behind a cursor, so that nothing is lost or doubled
 * over a reconnect; previews and status are whatever holds when there is room to send. The stream pulls: a slow
 * reader costs no memory, it only sees fewer of the intermediate states.
 */
import type { Clock } from '../../src/base/clock.ts';
import type { Journal } from '../../src/types/adapter.ts';
import { lineHtml, lineOf } from './line.ts';
import type { Room } from './room.ts';

const linesPerRead = 50;
const pingMs = 15_000;
/** What the page waits before it connects again by itself. */
const retryMs = 1_000;

export interface EventsParts {
  room: Room;
  journal: Journal;
  chat: string;
  /** The journal position the page has seen. */
  after: number;
  clock: Clock;
  onClose(): void;
}

/** `close` ends the stream from our side; the page connects again. */
export function openEvents(parts: EventsParts): { body: ReadableStream<Uint8Array>; close(): void } {
  const { room, journal, chat, clock } = parts;
  const encoder = new TextEncoder();
  let cursor = parts.after;
  let linesDirty = true;
  let seenStatus = -1;
  let seenLive = -1;
  let greeted = false;
  let pingDue = false;
  let closed = false;
  let cancelled = false;
  let ring = () => {};

  const unlisten = room.listen((what) => {
    linesDirty ||= what === 'lines';
    ring();
  });
  let cancelPing = clock.after(pingMs, ping);
  function ping(): void {
    pingDue = true;
    cancelPing = clock.after(pingMs, ping);
    ring();
  }

  function end(): void {
    if (closed) return;
    closed = true;
    unlisten();
    cancelPing();
    parts.onClose();
    ring();
  }

  /** The next thing to send; null when the stream is over. */
  async function next(): Promise<string | null> {
    for (;;) {
      if (closed) return null;
      if (!greeted) {
        greeted = true;
        return `retry: ${retryMs}\n\n${event('hello', {})}`;
      }
      // Lines first: the line of an answer must be there before its preview is taken away.
      if (linesDirty) {
        linesDirty = false;
        const lines = await journal.read(chat, { after: cursor, limit: linesPerRead });
        const last = lines.at(-1);
        if (!last) continue;
        cursor = last.seq;
        linesDirty ||= lines.length === linesPerRead;
        return lines.map(lineEvent).join('');
      }
      if (seenStatus !== room.statusVersion) {
        seenStatus = room.statusVersion;
        return event('status', { text: room.status });
      }
      if (seenLive !== room.liveVersion) {
        seenLive = room.liveVersion;
        return event('live', room.live ?? { answerId: null });
      }
      if (pingDue) {
        pingDue = false;
        return event('ping', {});
      }
      await new Promise<void>((resolve) => {
        ring = resolve;
      });
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await next().catch(() => null);
        if (cancelled) return;
        if (text !== null) return controller.enqueue(encoder.encode(text));
        end();
        controller.close();
      },
      cancel() {
        cancelled = true;
        end();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, close: end };
}

function lineEvent(line: Parameters<typeof lineHtml>[0]): string {
  const { who } = lineOf(line);
  return event('line', { seq: line.seq, who, html: lineHtml(line) }, line.seq);
}

/** JSON has no line breaks, so one `data:` line holds it. */
function event(name: string, payload: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(payload)}\n\n`;
}
