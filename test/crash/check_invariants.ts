/** The tests that sweeps have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as invariants from './invariants.ts';
import type { Swept } from './sweep.ts';
import type { Trial } from './trial.ts';

/** What not every sweep can show: trials on the page, that go on after others, with more than one message, with cards. */
export type Extra = 'page' | 'after' | 'order' | 'asked';

export function checkInvariants(swept: () => Swept, extras: readonly Extra[]): void {
  const none = (found: string[]) => assert.deepEqual(found, []);
  const onPage = (trial: Trial) => trial.talk.extraPerKillMax === 0;

  test('D2: every message is answered, wherever the process was killed', () => {
    none(swept().broken);
    none(invariants.unanswered(swept().trials));
  });
  test('D3: on Telegram a second message stands only where a kill fell between sending and recording, one a kill', () => {
    none(invariants.superfluous(swept().trials.filter((trial) => !onPage(trial))));
  });
  test('D1: a message that is delivered again begins no second run', () => {
    none(invariants.ranTwice(swept().trials));
  });
  test('D1, D5: what comes again or is edited after its answer changes nothing', () => {
    none(invariants.answeredAgain(swept().trials));
  });
  test('D2: a tool with an effect ran once, or may not have run and the model was told', () => {
    none(invariants.effectsAmiss(swept().trials));
  });
  test('M2: every call in every model request has exactly one result', () => {
    none(invariants.invalidTranscripts(swept().trials));
  });
  if (extras.includes('page'))
    test('D3: on the chat page there is exactly one answer', () => {
      none(invariants.superfluous(swept().trials.filter(onPage)));
    });
  if (extras.includes('after'))
    test('D3: nothing is sent or edited after the end of a conversation', () => {
      none(swept().late);
    });
  if (extras.includes('asked')) {
    test('D2, A2: what people decided is so, once, and nothing else; nothing waits for them any more', () => {
      none(invariants.undecided(swept().trials));
    });
    test('R52: every card shows what became of it', () => {
      none(invariants.staleCards(swept().trials));
    });
  }
  if (extras.includes('order'))
    test('D4: answers stand in the order of the messages', () => {
      none(invariants.outOfOrder(swept().trials));
    });
}
