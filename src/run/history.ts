/** The window of earlier turns a run sees, and the summary in front of it (rule 23). */

import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { type Conversation, readTurns, setSummary, type Turn } from '../store/conversations.ts';
import type { Db } from '../store/db.ts';
import type { Model, Usage } from '../types/model.ts';
import { messageOfTurn } from './prompt.ts';

/**
 * The first turn of the window. It moves in steps, from 200 visible turns down to 100, so that the prefix stays the
 * same in between.
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

const summaryInstructions =
  'You keep the memory of a conversation short. Summarise what was said so that a reader can go on with it: facts, ' +
  'decisions, open questions, names, preferences. At most 400 words. Write only the summary.';

export interface SummaryParts {
  db: Db;
  log: Log;
  model: Model;
  signal: AbortSignal;
  onSpent: (profile: string, usage: Usage) => void;
}

/** Reads the window; when it moved, what fell out of it is summarised first. Without a summary the run goes on. */
export async function readHistory(parts: SummaryParts, conversation: Conversation): Promise<History> {
  const { db } = parts;
  const start = windowStart(conversation.turns);
  let summary = conversation.summary;
  if (start > conversation.summaryUntil) {
    const older = (await readTurns(db, conversation.id, conversation.summaryUntil)).filter((turn) => turn.seq < start);
    summary = (await summarise(parts, conversation.id, summary, older)) ?? summary;
    if (summary !== null) {
      const text = summary;
      await db.tx((q) => setSummary(q, conversation.id, text, start));
    }
  }
  return { summary, turns: await readTurns(db, conversation.id, start) };
}

async function summarise(
  parts: SummaryParts,
  conversationId: string,
  before: string | null,
  turns: readonly Turn[],
): Promise<string | null> {
  const earlier = before === null ? [] : [{ role: 'user' as const, content: `[Summary so far]\n${before}` }];
  try {
    const answer = await parts.model.ask(
      {
        instructions: summaryInstructions,
        tools: [],
        messages: [...earlier, ...turns.map(messageOfTurn), { role: 'user', content: 'Summarise the conversation.' }],
        stableMessages: 0,
        cacheKey: conversationId,
      },
      { onText() {}, onReset() {}, onSpent: parts.onSpent },
      parts.signal,
    );
    parts.onSpent(answer.profile, answer.usage);
    return answer.text.trim() === '' ? null : answer.text;
  } catch (error) {
    if (parts.signal.aborted) throw error;
    parts.log.warn({ conversation: conversationId, err: error }, `no summary of older turns: ${messageOf(error)}`);
    return null;
  }
}
