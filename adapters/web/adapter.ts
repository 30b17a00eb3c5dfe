/**
 * The chat page as a platform of our own: lines are kept in the journal, so a repeated send meets its own line and
 * there is exactly one answer (D3). One direct chat for each signed-in account; its id is the account's user id.
 */
import { DeliveryError } from '../../src/base/errors.ts';
import { limits } from '../../src/base/limits.ts';
import type { Adapter, AdapterContext, AdapterLimits, Features, Inbox, JournalBody } from '../../src/types/adapter.ts';
import type { OutgoingMessage, SentMessage } from '../../src/types/message.ts';
import { createApi } from './api.ts';
import { bodyOf, readRef, refOf } from './line.ts';
import { buttonDataBytesMax } from './requests.ts';
import { createRoom, type Room } from './room.ts';

const features: Features = {
  buttons: true,
  edits: true,
  streaming: 'live',
  threads: false,
  typing: true,
  reactions: false,
  files: false,
  history: false,
  directory: false,
  ephemeral: true,
  deletions: false,
  reconcile: 'idempotent',
};

/** There is no platform behind this that could limit us; the numbers only bound our own work. */
const adapterLimits: AdapterLimits = {
  textLength: limits.markdownCharsMax,
  measure: (markdown) => (markdown.trim() === '' ? 0 : markdown.length),
  directPerSecond: 100,
  groupPerMinute: 6_000,
  accountPerSecond: 5_000,
  buttonsPerMessage: 100,
  buttonsPerRow: 8,
  buttonDataBytes: buttonDataBytesMax,
  fileBytesMax: 0,
};

/** Rooms nobody looks at are forgotten from this many on. */
const roomsMax = 1_000;
/** Another process may have written a line: how soon all open pages look. */
const foreignLinesMs = 250;

export function createWebAdapter(context: AdapterContext): Adapter {
  const { clock, journal } = context;
  const rooms = new Map<string, Room>();
  const accepting = new Set<Promise<unknown>>();
  let sink: Inbox | null = null;
  let lookDue = false;

  function roomOf(chat: string): Room {
    const known = rooms.get(chat);
    if (known) return known;
    if (rooms.size >= roomsMax) for (const [id, room] of rooms) if (room.idle()) rooms.delete(id);
    const room = createRoom(clock);
    rooms.set(chat, room);
    return room;
  }

  const unlisten = journal.onChange?.(() => {
    if (lookDue) return;
    lookDue = true;
    clock.after(foreignLinesMs, () => {
      lookDue = false;
      for (const room of rooms.values()) room.linesChanged();
    });
  });

  const api = createApi({
    context,
    roomOf,
    accept: async (event) => {
      if (!sink) throw new DeliveryError('the chat page is stopping', { outcome: 'not_sent' });
      const accepted = sink.accept(event);
      accepting.add(accepted);
      return accepted.finally(() => accepting.delete(accepted));
    },
  });

  /** A store that hangs must not hold the chat for longer than the core wants to wait. */
  async function stored<T>(signal: AbortSignal, store: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw new DeliveryError('the call was cancelled', { outcome: 'not_sent' });
    const cancelled = Promise.withResolvers<never>();
    const onAbort = () => cancelled.reject(new DeliveryError('no answer in time', { outcome: 'unknown' }));
    signal.addEventListener('abort', onAbort);
    try {
      return await Promise.race([store(), cancelled.promise]);
    } catch (cause) {
      throw new DeliveryError('the line could not be stored', { outcome: 'unknown', cause });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async function send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage> {
    const { chat } = message.place;
    const room = roomOf(chat);
    const answerId = message.answerId ?? message.id;
    const at = room.startedAt(answerId) ?? clock.now();
    const line = await stored(signal, () => journal.append(chat, message.id, botLine(message, at, answerId)));
    room.linesChanged();
    room.finish(answerId);
    return { ref: refOf(line), sentAt: line.createdAt };
  }

  return {
    features,
    limits: adapterLimits,
    async start(inbox) {
      sink = inbox;
      context.report('up');
    },
    async stop() {
      sink = null;
      await Promise.allSettled([...accepting]);
    },
    async close() {
      unlisten?.();
      api.close();
    },
    send,
    async edit(ref, message, signal) {
      const { chat } = message.place;
      const { at, key } = readRef(ref);
      const body = botLine(message, at, message.answerId ?? key);
      const line = await stored(signal, () => journal.update(chat, key, body));
      if (!line) throw new DeliveryError('this line is gone', { outcome: 'not_sent', permanent: true });
      const room = roomOf(chat);
      room.linesChanged();
      room.finish(message.answerId ?? key);
    },
    async preview(place, answerId, markdown) {
      roomOf(place.chat).preview(answerId, markdown);
      return true;
    },
    async setStatus(place, status) {
      roomOf(place.chat).setStatus(status?.text ?? null);
    },
    http: api.handle,
  };
}

function botLine({ markdown, question }: OutgoingMessage, at: number, answerId: string): JournalBody {
  return bodyOf({ who: 'bot', text: markdown, at, answerId, ...(question ? { question } : {}) });
}
