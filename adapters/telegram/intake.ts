/** Updates on their way to the inbox, the same for polling and webhook. */
import { GatehouseError, messageOf } from '../../src/base/errors.ts';
import type { AdapterContext, Inbox } from '../../src/types/adapter.ts';
import type { InboundEvent } from '../../src/types/message.ts';
import { fieldsOf } from './content.ts';
import { type Me, parseUpdate } from './parse.ts';
import type { Presses } from './presses.ts';

export interface Intake {
  /**
   * Hands updates to the inbox: those of one chat one after another, different chats side by side, since they share a
   * commit. Resolves with the updates that could not be stored, in their order; all others are stored or will never
   * be anything. Never rejects.
   */
  take(updates: readonly unknown[], me: Me): Promise<{ left: unknown[]; error?: unknown }>;
  /** Nothing is handed over from now on; resolves when what is being stored is stored. */
  stop(): Promise<void>;
}

/** Said for presses that are no event, such as on a copy of a question. */
const pressOnNothing = 'This button does nothing any more.';

interface Item {
  update: unknown;
  events: InboundEvent[];
  /** A press: the id it is answered by. */
  press?: string;
}

export function createIntake(context: AdapterContext, presses: Presses, sink: Inbox): Intake {
  let stopped = false;
  const open = new Set<Promise<unknown>>();

  function read(update: unknown, me: Me): Item {
    const id = fieldsOf(fieldsOf(update)?.callback_query)?.id;
    const press = typeof id === 'string' && id !== '' ? { press: id } : {};
    try {
      return { update, events: parseUpdate(update, me, context.clock.now()), ...press };
    } catch (error) {
      // Passed over and confirmed: one update that nobody can read must not stop all others.
      context.count('malformed_updates');
      context.log.warn({ update: updateId(update), reason: messageOf(error) }, 'skipped a Telegram update');
      return { update, events: [], ...press };
    }
  }

  async function takeInOrder(items: readonly Item[]): Promise<{ left: unknown[]; error?: unknown }> {
    for (const [index, item] of items.entries())
      for (const event of item.events) {
        const left = items.slice(index).map(({ update }) => update);
        if (stopped) return { left };
        try {
          const receipt = await sink.accept(event);
          // Not before: what is answered counts as decided, and must be stored.
          if (item.press !== undefined) presses.answer(item.press, receipt?.notice);
        } catch (error) {
          if (!isPoison(error)) return { left, error };
          if (item.press !== undefined) presses.answer(item.press, pressOnNothing);
          context.count('refused_updates');
          context.log.error({ update: updateId(item.update), err: error }, 'skipped a Telegram update for good');
        }
      }
    return { left: [] };
  }

  async function take(updates: readonly unknown[], me: Me): Promise<{ left: unknown[]; error?: unknown }> {
    if (stopped) return { left: [...updates] };
    const all = updates.map((update) => read(update, me));
    const items = all.filter((item) => item.events.length > 0);
    for (const { press, events } of all)
      if (press !== undefined && events.length === 0) presses.answer(press, pressOnNothing);
    const results = await Promise.all(groups(items).map(takeInOrder));
    const left = new Set(results.flatMap((result) => result.left));
    const error = results.find((result) => result.error !== undefined)?.error;
    return { left: updates.filter((update) => left.has(update)), ...(error === undefined ? {} : { error }) };
  }

  return {
    take(updates, me) {
      const work = take(updates, me);
      open.add(work);
      return work.finally(() => open.delete(work));
    },
    async stop() {
      stopped = true;
      await Promise.allSettled(open);
    },
  };
}

/** Per chat. A migration concerns two chats, so a batch that holds one is taken strictly in its order. */
function groups(items: Item[]): Item[][] {
  const byChat = new Map<string, Item[]>();
  for (const item of items) {
    const event = item.events[0]!;
    if (event.kind === 'migration') return [items];
    const group = byChat.get(event.chat.id);
    if (group) group.push(item);
    else byChat.set(event.chat.id, [item]);
  }
  return [...byChat.values()];
}

/** The inbox says that this event can never be stored; anything else means "not now". */
function isPoison(error: unknown): boolean {
  return error instanceof GatehouseError && error.code === 'invalid';
}

export function updateId(update: unknown): number | undefined {
  const id = fieldsOf(update)?.update_id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
