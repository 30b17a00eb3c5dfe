/** Puts what people shall see into the outbox, inside the transaction of what it tells about. */
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { splitMarkdown } from '../base/markdown_split.ts';
import type { Transaction } from '../store/db.ts';
import { addOutboxRow, outboxPriority } from '../store/outbox.ts';
import type { AdapterLimits } from '../types/adapter.ts';
import type { Place } from '../types/message.ts';

export interface Outgoing {
  place: Place;
  direct: boolean;
  markdown: string;
  runId: string | null;
  replyTo: string | null;
  priority: 'answer' | 'notice';
  /** The outbox id of the message whose words the first part replaces. */
  replaces?: string;
}

/**
 * One row for each message the platform needs for it, in order. The first answers `replyTo`; the rest stand below.
 * Text beyond `answerCharsMax` is cut: no platform's reader is helped by more.
 */
export async function enqueue(
  q: Transaction,
  outgoing: Outgoing,
  adapterLimits: Pick<AdapterLimits, 'textLength' | 'measure'>,
  now: number,
): Promise<string[]> {
  const text = outgoing.markdown.slice(0, limits.answerCharsMax);
  const parts =
    adapterLimits.measure(text) <= adapterLimits.textLength
      ? [text]
      : splitMarkdown(text, adapterLimits.textLength, adapterLimits.measure);
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
      priority: outboxPriority[index === 0 ? outgoing.priority : 'rest'],
      createdAt: now,
    });
    ids.push(id);
  }
  q.ring('outbox');
  return ids;
}
