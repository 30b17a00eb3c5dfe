import type { PressAnswer } from './api.ts';
import type { State } from './state.ts';
import { badRequest } from './wire.ts';

/** A press can be answered as long as it lives in the update queue. */
const pressMs = 150_000;

export interface Presses {
  open(): string;
  answer(id: string, text: string, alert: boolean): void;
  answerOf(id: string): PressAnswer | undefined;
  /** Nobody can answer it any more. */
  isOver(id: string): boolean;
}

export function createPresses(state: State): Presses {
  const presses = new Map<string, { at: number; answer?: PressAnswer }>();
  const isOver = (id: string) => {
    const press = presses.get(id);
    return !press || state.clock.now() - press.at > pressMs;
  };
  return {
    isOver,
    open() {
      const id = `43${String(state.nextId()).padStart(16, '0')}`;
      const now = state.clock.now();
      for (const [old, { at }] of presses) {
        if (now - at <= pressMs * 2) break;
        presses.delete(old);
      }
      presses.set(id, { at: now });
      return id;
    },
    answer(id, text, alert) {
      const press = presses.get(id);
      if (!press || press.answer || isOver(id)) {
        throw badRequest('query is too old and response timeout expired or query ID is invalid');
      }
      press.answer = { text, alert };
      state.changes.changed();
    },
    answerOf: (id) => presses.get(id)?.answer,
  };
}
