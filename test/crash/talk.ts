/** A conversation as a person sees it, whatever the platform, and the model on the other side of it. */
import type { ScriptedText, SeenRequest } from '../emulators/model_server.ts';

export interface Talk {
  /** The platform's id of the chat. */
  chat: string;
  /** Messages a kill may leave behind: what was sent and not recorded is sent again where the platform cannot be asked. */
  extraPerKillMax: 0 | 1;
  /** Resolves when the platform has it. */
  say(text: string): Promise<void>;
  /** What the bot's messages read now, in their order, without cards. */
  texts(): Promise<string[]>;
  /** Messages that ask about calls, as they stand there now, in their order. */
  cards(): Promise<CardSeen[]>;
  /** Resolves when the person has a card before their eyes. */
  seesCard(): Promise<void>;
  /** Approves the first call of it, with its button where there are any, and denies the second one in words. */
  decides(): Promise<void>;
  /** Resolves when the person has seen `text`, or with `ended`. */
  shows(text: string, ended: Promise<unknown>): Promise<void>;
  /** What was said is delivered again, in every way the platform has, and changed by its writer where that is possible. */
  sayAgain(): Promise<void>;
  /** Grows with every change of what the person sees. */
  changes(): Promise<number>;
  close(): void;
}

export interface CardSeen {
  text: string;
  /** It can still be pressed, or says how to decide. */
  open: boolean;
}

export const isCard = (text: string) => /\bTool `?ask_line\b/.test(text);
export const reasonOfNo = 'once is enough';

/** `1. 4K7 Tool …`: the code of a call, by its number. */
export function codeOn(card: string, number: number): string {
  const found = new RegExp(`^${number}\\. \`?([A-Z0-9]{2,10})\\b`, 'm').exec(card)?.[1];
  if (found === undefined) throw new Error(`no code of call ${number} on the card: ${card}`);
  return found;
}

/**
 * plain  a step for each tool, then the answer
 * mixed  words and both calls in one step, so that the first piece stands before the tools run; then the answer
 * asked  words and two calls that people are asked about, then the answer; what is said meanwhile is answered at once
 */
export type Plot = 'plain' | 'mixed' | 'asked';

const idPattern = /\[([a-z]\w*)\]/g;

export function messageOf(id: string): string {
  return `Please note [${id}]`;
}

/** What the second of two gated calls would write. */
export const deniedLine = (id: string) => `${id} again`;

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
  if (plot === 'asked') {
    // The second message of a talk asks for nothing.
    if (results.length > 0 || line.endsWith('b')) return { pieces: answerPieces(ids) };
    const ask = (input: string) => ({ name: 'ask_line', input: { line: input, _approval_message: 'May I?' } });
    return { pieces: [`Now ${line}`, ' is to be written'], calls: [ask(line), ask(deniedLine(line))] };
  }
  if (results.length >= 2) return { pieces: answerPieces(ids) };
  if (plot === 'mixed') return { pieces: [`Now ${line}`, ' is written'], calls: [append, count] };
  return { calls: [results.length === 0 ? append : count] };
}
