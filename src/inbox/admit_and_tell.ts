import { enqueue } from '../outbox/enqueue.ts';
import { admitByCode } from '../people/admission.ts';
import type { Pairing } from '../store/accounts.ts';
import type { Transaction } from '../store/db.ts';
import type { Words } from '../words/index.ts';

/** Admits whoever holds the code and says so in their chat; null when no open request has it (rule 14). */
export async function admitAndTell(
  q: Transaction,
  code: string,
  actor: string,
  words: Words,
  now: number,
): Promise<Pairing | null> {
  const pairing = await admitByCode(q, code, actor, now);
  if (!pairing) return null;
  const place = { channel: pairing.channel, chat: pairing.chat };
  const markdown = words.pairAdmitted;
  await enqueue(
    q,
    { place, direct: true, markdown, runId: null, replyTo: null, priority: 'notice' },
    // One line fits on every platform, and the command line knows no platform's limits.
    { textLength: markdown.length, measure: (text) => text.length },
    now,
  );
  return pairing;
}
