/**
 * The window of earlier turns a run sees, and the summary in front of it (rule 23). Where it begins is kept with the
 * conversation and moves in coarse steps, so that the prefix stays the same in between (M1).
 */

import { messageOf } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { requestBytes } from '../models/cost.ts';
import { readTurns, setSummary, type Turn } from '../store/conversations.ts';
import { releaseReserved } from '../store/ledger.ts';
import { assertOwned } from '../store/runs.ts';
import type { ModelAnswer, ModelProfile, ModelRequest } from '../types/model.ts';
import { bookAnswer, bookUnbooked, reserveFor } from './budget.ts';
import type { Work } from './parts.ts';
import { messageOfTurn, requestOf } from './prompt.ts';

/**
 * The first turn of the window by count: it moves in steps, from 200 visible turns down to 100, so that the prefix
 * stays the same in between.
 */
export function windowStart(turns: number): number {
  const { historyTurnsMax: most, historyTurnsAfterCut: least } = limits;
  if (turns <= most) return 0;
  const step = most - least;
  return Math.ceil((turns - most) / step) * step;
}

export interface History {
  summary: string | null;
  turns: Turn[];
}

/** UTF-8 bytes of a token in prose and code, a little less than measured, so that the estimate is rather too high. */
const bytesPerToken = 3.6;
/** Of the context window, for what the estimate gets wrong and for the results of the run's own tools. */
const marginShare = 0.15;
/** The window is never planned smaller than this share of what the model reads, whatever else fills the request. */
const historyShareMin = 0.1;
/** What a wire puts around each message. */
const turnOverheadBytes = 16;

/** Bytes of turns that fit a request besides `other` bytes of instructions, tools and the run's own steps. */
export function historyBytesMax(
  profile: Pick<ModelProfile, 'contextWindow' | 'maxOutputTokens'>,
  other: number,
): number {
  const { contextWindow } = profile;
  const output = Math.min(profile.maxOutputTokens, contextWindow / 2);
  const readable = (contextWindow - output) * bytesPerToken;
  return Math.floor(
    Math.max(readable - contextWindow * marginShare * bytesPerToken - other, readable * historyShareMin),
  );
}

const bytesOf = (turn: Turn) => Buffer.byteLength(turn.text) + turnOverheadBytes;

/** The latest of the turns that hold at most so many bytes together, beginning with what a person said. */
export function latestWithin(turns: readonly Turn[], bytesMax: number): Turn[] {
  let bytes = 0;
  let first = turns.length;
  while (first > 0) {
    bytes += bytesOf(turns[first - 1] as Turn);
    if (bytes > bytesMax) break;
    first -= 1;
  }
  while (first > 0 && first < turns.length && turns[first]?.role !== 'user') first += 1;
  return turns.slice(first);
}

/** Reads the window; when it must move, it moves so far that half of it is free again. */
export async function readHistory(work: Work): Promise<History> {
  const { parts, conversation } = work;
  const from = conversation.summaryUntil;
  // A run that was parked goes on with the history it began with (M1).
  const end = work.run.historyTurns ?? conversation.turns;
  const known = end <= from ? [] : (await readTurns(parts.db, conversation.id, from)).filter((turn) => turn.seq < end);
  const history: History = { summary: conversation.summary, turns: known };
  let kept = known.filter((turn) => turn.seq >= windowStart(end));
  const bytes = kept.reduce((sum, turn) => sum + bytesOf(turn), 0);
  if (bytes > bytesAlways(work)) {
    const most = await bytesFor(work, history.summary);
    if (bytes > most) kept = latestWithin(kept, most / 2);
  }
  return kept.length === known.length ? history : moveWindow(work, history, kept);
}

/** The model found the request too long: half of the window goes. False when there is nothing left to forget. */
export async function forgetHalf(work: Work): Promise<boolean> {
  const { turns } = work.history;
  if (turns.length === 0) return false;
  const bytes = turns.reduce((sum, turn) => sum + bytesOf(turn), 0);
  work.history = await moveWindow(work, work.history, latestWithin(turns, bytes / 2));
  return true;
}

/** What fits whatever else fills the request: most windows are smaller, and need no closer look. */
function bytesAlways(work: Work): number {
  const profile = work.parts.settings().models[work.spec.model];
  return profile ? historyBytesMax(profile, Infinity) : Infinity;
}

async function bytesFor(work: Work, summary: string | null): Promise<number> {
  const profile = work.parts.settings().models[work.spec.model];
  if (!profile) return Infinity;
  return historyBytesMax(profile, requestBytes(await requestOf({ ...work, history: { summary, turns: [] } })));
}

/** What falls out is summarised first. Without a summary the window moves all the same, and the run goes on. */
async function moveWindow(work: Work, before: History, kept: Turn[]): Promise<History> {
  const { parts, run, conversation } = work;
  const older = before.turns.slice(0, before.turns.length - kept.length);
  const until = kept[0]?.seq ?? work.run.historyTurns ?? conversation.turns;
  const ledgerId = newId(parts.clock.now());
  const answer = await summarise(work, before.summary, older, ledgerId);
  const text = answer?.text.trim() ?? '';
  const summary = text === '' ? before.summary : text;
  await parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    const now = parts.clock.now();
    if (answer) await bookAnswer(q, work, ledgerId, answer, now);
    else await releaseReserved(q, { request: ledgerId });
    await bookUnbooked(q, work, now);
    await setSummary(q, conversation.id, summary, until);
  });
  work.unbooked.length = 0;
  return { summary, turns: kept };
}

const summaryInstructions =
  'You keep the memory of a conversation short. Summarise what was said so that a reader can go on with it: facts, ' +
  'decisions, open questions, names, preferences. At most 400 words. Write only the summary.';

/** Null when there is none: it failed, or a spending cap has no room for it (rule 73). */
async function summarise(
  work: Work,
  before: string | null,
  older: readonly Turn[],
  ledgerId: string,
): Promise<ModelAnswer | null> {
  const profile = work.parts.settings().models[work.spec.model];
  const turns = profile ? latestWithin(older, historyBytesMax(profile, Buffer.byteLength(before ?? ''))) : older;
  if (turns.length === 0) return null;
  const earlier = before === null ? [] : [{ role: 'user' as const, content: `[Summary so far]\n${before}` }];
  const request: ModelRequest = {
    instructions: summaryInstructions,
    tools: [],
    messages: [...earlier, ...turns.map(messageOfTurn), { role: 'user', content: 'Summarise the conversation.' }],
    stableMessages: 0,
    cacheKey: work.conversation.id,
  };
  if (!(await reserveFor(work, request, ledgerId))) return null;
  try {
    const onSpent = (name: string, usage: ModelAnswer['usage']) => void work.unbooked.push({ profile: name, usage });
    return await work.model.ask(request, { onText() {}, onReset() {}, onSpent }, work.signal);
  } catch (error) {
    if (work.signal.aborted) throw error;
    work.log.warn({ err: error }, `no summary of older turns: ${messageOf(error)}`);
    return null;
  }
}
