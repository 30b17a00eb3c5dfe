/** A conversation as a person sees it, whatever the platform, and the model on the other side of it. */
import type { ScriptedText, SeenRequest } from '../emulators/model_server.ts';

export interface Talk {
  /** The platform's id of the chat. */
  chat: string;
  /** Messages a kill may leave behind: what was sent and not recorded is sent again where the platform cannot be asked. */
  extraPerKillMax: 0 | 1;
  /** Resolves when the platform has it. */
  say(text: string): Promise<void>;
  /** What the bot's messages read now, in their order. */
  texts(): Promise<string[]>;
  /** Resolves when the person has seen `text`, or with `ended`. */
  shows(text: string, ended: Promise<unknown>): Promise<void>;
  /** What was said is delivered again, in every way the platform has, and changed by its writer where that is possible. */
  sayAgain(): Promise<void>;
  /** Grows with every change of what the person sees. */
  changes(): Promise<number>;
  close(): void;
}

/**
 * plain  a step for each tool, then the answer
 * mixed  words and both calls in one step, so that the first piece stands before the tools run; then the answer
 */
export type Plot = 'plain' | 'mixed';

const idPattern = /\[([a-z]\w*)\]/g;

export function messageOf(id: string): string {
  return `Please note [${id}]`;
}

/** The ids a text is about. */
export function idsIn(text: string): string[] {
  return [...text.matchAll(idPattern)].map((match) => match[1] as string);
}

export function answerOf(ids: readonly string[]): string {
  return answerPieces(ids).join('');
}

function answerPieces(ids: readonly string[]): string[] {
  return [`Answer to ${ids.join(' and ')} begins`, ' and goes on', ' and ends.'];
}

/** Follows from the transcript alone, as with a real model: a request that is made again gets the same answer. */
export function play(plot: Plot, request: SeenRequest): ScriptedText {
  const last = request.messages.findLastIndex((message) => message.role === 'user');
  const ids = idsIn(request.messages[last]?.text ?? '');
  const results = request.messages.slice(last + 1).flatMap((message) => message.results);
  const line = ids.join(' ');
  const append = { name: 'append_line', input: { line } };
  const count = { name: 'count_lines', input: { line } };
  if (results.length >= 2) return { pieces: answerPieces(ids) };
  if (plot === 'mixed') return { pieces: [`Now ${line}`, ' is written'], calls: [append, count] };
  return { calls: [results.length === 0 ? append : count] };
}
