/** The chat page on the real server and the real journal, with a small core that the test plays itself. */
import type { TestContext } from 'node:test';
import { adapter as plugin } from '../../../adapters/web/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createJournal } from '../../../src/store/journal.ts';
import type { Adapter, Journal, Receipt } from '../../../src/types/adapter.ts';
import type { Decision, InboundEvent, IncomingMessage, Question } from '../../../src/types/message.ts';
import { type Gateway, startGateway } from '../../http/support.ts';
import { silentLog } from '../../support/silent_log.ts';

export interface Chat extends Gateway {
  adapter: Adapter;
  journal: Journal;
  /** What arrived, redeliveries included, and what a store with unique keys would have kept of it. */
  arrived: IncomingMessage[];
  kept(): IncomingMessage[];
  /** The next message that arrives. */
  nextMessage(): Promise<IncomingMessage>;
  /** Every press that arrived, redeliveries included. */
  presses: Decision[];
  nextPress(): Promise<Decision>;
  /** What whoever presses is told; while it is not settled the press is under way. */
  receipt: Promise<Receipt | undefined>;
  /** While set, nothing can be stored. */
  broken: boolean;
  /** Puts an answer into a chat as the outbox would. */
  answer(chat: string, id: string, markdown: string, answerId?: string): Promise<string>;
  /** Puts a question there and returns its ref. */
  ask(chat: string, id: string, markdown: string, buttons: Question['buttons']): Promise<string>;
  /** Changes it as after a decision; no buttons close it. */
  change(chat: string, ref: string, markdown: string, buttons?: Question['buttons']): Promise<void>;
}

export const place = (chat: string) => ({ channel: 'web', chat });

export async function startChat(t: TestContext): Promise<Chat> {
  const gateway = await startGateway(t);
  const journal = createJournal(gateway.db, systemClock, 'web');
  const waiting: ((message: IncomingMessage) => void)[] = [];
  const waitingPresses: ((press: Decision) => void)[] = [];
  const adapter = plugin.create(
    {},
    {
      channel: 'web',
      log: silentLog,
      clock: systemClock,
      publicUrl: null,
      journal,
      state: { get: async () => null, set: async () => {} },
      report() {},
      count() {},
    },
  );
  const chat: Chat = Object.assign(gateway, {
    adapter,
    journal,
    arrived: [] as IncomingMessage[],
    presses: [] as Decision[],
    receipt: Promise.resolve(undefined) as Promise<Receipt | undefined>,
    nextPress: () => new Promise<Decision>((resolve) => waitingPresses.push(resolve)),
    broken: false,
    kept: () => [...new Map(chat.arrived.map((message) => [message.key, message])).values()],
    nextMessage: () => new Promise<IncomingMessage>((resolve) => waiting.push(resolve)),
    async answer(to: string, id: string, markdown: string, answerId?: string) {
      const message = { id, place: place(to), markdown, ...(answerId === undefined ? {} : { answerId }) };
      return (await adapter.send(message, AbortSignal.timeout(5_000))).ref;
    },
    async ask(to: string, id: string, markdown: string, buttons: Question['buttons']) {
      const question = { card: `card-${id}`, buttons };
      return (await adapter.send({ id, place: place(to), markdown, question }, AbortSignal.timeout(5_000))).ref;
    },
    async change(to: string, ref: string, markdown: string, buttons: Question['buttons'] = []) {
      const question = { card: 'card', buttons };
      await adapter.edit?.(ref, { id: 'edit', place: place(to), markdown, question }, AbortSignal.timeout(5_000));
    },
  });
  await adapter.start({
    async accept(event: InboundEvent) {
      if (chat.broken) throw new Error('disk full');
      if (event.kind === 'decision') {
        chat.presses.push(event);
        waitingPresses.shift()?.(event);
        return chat.receipt;
      }
      if (event.kind !== 'message') return;
      chat.arrived.push(event);
      waiting.shift()?.(event);
      return undefined;
    },
  });
  chat.channels.push({ name: 'web', type: 'web', adapter });
  t.after(async () => {
    await adapter.stop();
    await adapter.close?.();
  });
  return chat;
}

export interface StreamedEvent {
  id: number | null;
  name: string;
  data: Record<string, unknown>;
}

/** Reads an event stream one event at a time; `until` gives up after five seconds. */
export async function openStream(url: string, headers: Record<string, string>) {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const all: StreamedEvent[] = [];
  let text = '';

  async function next(): Promise<StreamedEvent> {
    for (;;) {
      const cut = text.indexOf('\n\n');
      if (cut >= 0) {
        const fields = text.slice(0, cut).split('\n');
        text = text.slice(cut + 2);
        const field = (name: string) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const name = field('event');
        if (name === undefined) continue;
        const id = field('id');
        const event = { id: id === undefined ? null : Number(id), name, data: JSON.parse(field('data') ?? '{}') };
        all.push(event);
        return event;
      }
      const { done, value } = await reader.read();
      if (done) throw new Error('the stream ended');
      text += decoder.decode(value, { stream: true });
    }
  }

  return {
    status: response.status,
    all,
    async until(wanted: (event: StreamedEvent) => boolean): Promise<StreamedEvent> {
      const giveUp = systemClock.after(5_000, () => abort.abort(new Error('the event did not come within 5 s')));
      for (;;) {
        const event = await next();
        if (!wanted(event)) continue;
        giveUp();
        return event;
      }
    },
    close: () => abort.abort(),
  };
}
