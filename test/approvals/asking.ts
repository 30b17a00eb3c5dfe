/** What most cases begin with: the agent makes calls, and their card stands in the chat. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/types/json.ts';
import type { Answer, SeenRequest } from '../emulators/model_server.ts';
import type { Scene, Shown } from './stage.ts';

/** The agent calls `send` once, says `Done with ….` when it has the result, and the requester has asked. */
export async function askToSend(scene: Scene, what = 'one'): Promise<Shown> {
  scene.model.script({ calls: [{ name: 'send', input: { what } }] });
  scene.ask(`send ${what}`);
  return scene.card(`"what": "${what}"`);
}

/** The agent makes these calls in one step, and says `Done with ….` or `All done.` when it has the results. */
export async function askFor(scene: Scene, ...calls: [name: string, input: JsonObject][]): Promise<Shown> {
  scene.model.script({ calls: calls.map(([name, input]) => ({ name, input })) });
  scene.ask('do these');
  return scene.card();
}

/** The code on a card with one question. */
export function codeOf({ text }: Shown): string {
  const [code] = codesOf({ text });
  if (code === undefined) throw new Error(`there is no code on: ${text}`);
  return code;
}

/** The codes on a card, in the order of its questions: each stands at the end of its heading or behind its number. */
export function codesOf({ text }: Pick<Shown, 'text'>): string[] {
  return [...text.matchAll(/^(?:\d+\. |[^\d\n]* )((?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{3,10})(?: |$)/gm)].map(
    ([, code]) => code!,
  );
}

/** What the model says where a case has no script for it. */
export function answerOf(request: SeenRequest): Answer {
  const last = request.messages.at(-1);
  if (last?.role !== 'tool') return { text: `Chat: ${last?.text}` };
  const calls = request.messages.findLast(({ role }) => role === 'assistant')?.calls ?? [];
  const [only] = calls;
  const what = only && calls.length === 1 ? (only.input as JsonObject).what : undefined;
  return { text: typeof what === 'string' ? `Done with ${what.slice(0, 100)}.` : 'All done.' };
}

/** Texts of the results that the model was given last. */
export function resultsOf(request: SeenRequest | undefined): string[] {
  return request?.messages.findLast(({ role }) => role === 'tool')?.results.map(({ text }) => text) ?? [];
}

/** Everything the model read as results, across messages. */
export function allResultsOf(request: SeenRequest | undefined): string[] {
  return request?.messages.flatMap(({ results }) => results.map(({ text }) => text)) ?? [];
}

export async function states(scene: Scene): Promise<string[]> {
  const rows = await scene.rows<{ state: string }>('select state from approvals order by id');
  return rows.map(({ state }) => state);
}

/** Nothing has happened to the question: nothing ran, and the card can still be used. */
export async function isUntouched(scene: Scene, card: Shown): Promise<void> {
  await scene.quiet();
  assert.deepEqual(scene.ran, []);
  const { text, buttons, edits } = scene.now(card);
  assert.deepEqual({ text, buttons, edits }, { text: card.text, buttons: card.buttons, edits: card.edits });
}

/** What ran so far, in order. */
export function whatRan(scene: Scene): string[] {
  return scene.ran.map(({ tool, input }) => `${tool} ${input.what}`);
}
