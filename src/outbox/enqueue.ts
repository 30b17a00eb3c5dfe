/** Puts what people shall see into the outbox, inside the transaction of what it tells about. */
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { roughPieces, splitMarkdown } from '../base/markdown_split.ts';
import type { Transaction } from '../store/db.ts';
import { addOutboxRow, outboxPriority } from '../store/outbox.ts';
import type { AdapterLimits } from '../types/adapter.ts';
import type { Place, Question } from '../types/message.ts';

export interface Outgoing {
  place: Place;
  direct: boolean;
  /** In an array: parts as `messagesOf` makes them. */
  markdown: string | readonly string[];
  runId: string | null;
  replyTo: string | null;
  priority: 'question' | 'answer' | 'notice' | 'report';
  /** The outbox id of the message whose words the first part replaces. */
  replaces?: string;
  /** Of the first part. */
  question?: Question;
}

type TextLimits = Pick<AdapterLimits, 'textLength' | 'measure'>;

/** Of an answer, before the transaction that enqueues it: a long one takes its time, and others go on in between. */
export async function messagesOf(markdown: string, adapterLimits: TextLimits): Promise<string[]> {
  const parts: string[] = [];
  const pieces = roughPieces(markdown.slice(0, limits.answerCharsMax));
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve));
    // One piece is sent as it is; of several, one that shows nothing is no message.
    parts.push(
      ...fitted(piece, adapterLimits).filter((part) => pieces.length === 1 || adapterLimits.measure(part) > 0),
    );
  }
  return parts;
}

/** The parts with a last line below them: in the last one if it has room, else as one more. */
export function withLastLine(parts: readonly string[], line: string, { textLength, measure }: TextLimits): string[] {
  const last = `${parts.at(-1) ?? ''}${line}`;
  return measure(last) <= textLength ? [...parts.slice(0, -1), last] : [...parts, line.trim()];
}

function fitted(markdown: string, { textLength, measure }: TextLimits): string[] {
  const text = markdown.slice(0, limits.answerCharsMax);
  return measure(text) <= textLength ? [text] : splitMarkdown(text, textLength, measure);
}

/**
 * One row for each message the platform needs for it, in order. The first answers `replyTo`; the rest stand below.
 * Text beyond `answerCharsMax` is cut: no platform's reader is helped by more.
 */
export async function enqueue(
  q: Transaction,
  outgoing: Outgoing,
  adapterLimits: TextLimits,
  now: number,
): Promise<string[]> {
  const parts = typeof outgoing.markdown === 'string' ? fitted(outgoing.markdown, adapterLimits) : outgoing.markdown;
  const ids: string[] = [];
  for (const [index, markdown] of parts.entries()) {
    const id = newId(now);
    const replaces = index === 0 ? (outgoing.replaces ?? null) : null;
    await addOutboxRow(q, {
      id,
      place: outgoing.place,
      direct: outgoing.direct,
      kind: replaces === null ? 'send' : 'edit',
      target: replaces,
      runId: outgoing.runId,
      replyTo: index === 0 ? outgoing.replyTo : null,
      markdown,
      question: index === 0 ? (outgoing.question ?? null) : null,
      priority: outboxPriority[index === 0 ? outgoing.priority : 'rest'],
      createdAt: now,
    });
    ids.push(id);
  }
  q.ring('outbox');
  return ids;
}
