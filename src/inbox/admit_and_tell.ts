import { type Admitted, type Admitter, admit, admitByCode } from '../people/admission.ts';
import type { Transaction } from '../store/db.ts';
import type { AdmissionFacts } from '../types/settings.ts';
import type { Words } from '../words/index.ts';
import { tell } from './tell.ts';

/** Admits whoever holds the code and says so in their chat; null when no open request has it (rule 14). */
export async function admitCodeAndTell(
  q: Transaction,
  code: string,
  by: Admitter,
  words: Words,
  now: number,
): Promise<Admitted | null> {
  return tellAdmitted(q, await admitByCode(q, code, by, now), by, words, now);
}

/** Admits an account and says so if it had asked, or a group (null). Throws `invalid` for a group as an admin. */
export async function admitAndTell(
  q: Transaction,
  target: { channel: string; id: string },
  facts: AdmissionFacts,
  by: Admitter,
  words: Words,
  now: number,
): Promise<Admitted | null> {
  return tellAdmitted(q, await admit(q, target, facts, by, now), by, words, now);
}

async function tellAdmitted(q: Transaction, admitted: Admitted | null, by: Admitter, words: Words, now: number) {
  if (admitted?.chat == null) return admitted;
  const place = { channel: admitted.channel, chat: admitted.chat };
  const markdown = by.asAdmin ? words.pairMadeAdmin : words.pairAdmitted;
  await tell(q, { place, direct: true, replyTo: null }, markdown, now);
  return admitted;
}
