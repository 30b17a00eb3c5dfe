import { enqueue } from '../outbox/enqueue.ts';
import type { Transaction } from '../store/db.ts';
import type { Place } from '../types/message.ts';

/** One line of the gateway's own, where no message is being accepted. */
export async function tell(
  q: Transaction,
  to: { place: Place; direct: boolean; replyTo: string | null },
  markdown: string,
  now: number,
): Promise<void> {
  // One line fits on every platform, and the command line knows no platform's limits.
  const limits = { textLength: markdown.length, measure: (text: string) => text.length };
  await enqueue(q, { ...to, markdown, runId: null, priority: 'notice' }, limits, now);
}
