/** Reads words that decide (rules 44 and 45). Pure. Only an explicit yes approves; whatever is not listed is chat. */
import { reasonCharsMax } from './parts.ts';

export interface Reply {
  choice: 'approve' | 'deny';
  /** In capitals; null for a bare yes or no. */
  code: string | null;
  reason: string | null;
}

const yes = ['yes', 'approve', 'approved', 'ja', 'genehmigen', 'genehmigt', 'sim', 'aprovar', 'aprovo', 'aprovado'];
const no = ['no', 'deny', 'denied', 'nein', 'ablehnen', 'abgelehnt', 'não', 'nao', 'negar', 'recusar', 'nego'];
const because = ['because', 'weil', 'denn', 'porque', 'pois'];

export const codeChars = { min: 2, max: 10 };

const words = (list: readonly string[]) => list.join('|');
/** Codes hold a digit and a letter, so that no word and no number is one: `yes`, `yes 4K7`, `no`, `no 4K7`, `no, because …`, `no 4K7 because …`, `no: …`; one final mark is fine. */
const pattern = new RegExp(
  `^(?:(?<yes>${words(yes)})|(?<no>${words(no)}))(?:\\s+(?<code>(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{${codeChars.min},${codeChars.max}}))?` +
    `(?:\\s*[.!]|(?<reason>(?:\\s*[,:;]|\\s+[–—-])\\s*\\S[\\s\\S]*|\\s+(?:${words(because)})\\b[\\s\\S]*))?$`,
  'iu',
);
const reasonLead = new RegExp(`^[\\s,:;–—-]*(?:(?:${words(because)})\\b[\\s,:]*)?`, 'iu');
const textCharsMax = 2_000;

export function readReply(text: string): Reply | null {
  // Cheap for everything that is chat, however long.
  if (text.length > textCharsMax) return null;
  // Some keyboards write `ã` as two characters.
  const trimmed = text.trim().normalize('NFC');
  if (trimmed.length > reasonCharsMax + 100 || !/^[a-zã]{2,11}/iu.test(trimmed)) return null;
  const groups = pattern.exec(trimmed)?.groups;
  if (!groups) return null;
  const word = groups.code?.toUpperCase() ?? null;
  const reason = (groups.reason ?? '').replace(reasonLead, '').trim().slice(0, reasonCharsMax);
  if (groups.yes !== undefined)
    return groups.reason === undefined ? { choice: 'approve', code: word, reason: null } : null;
  return { choice: 'deny', code: word, reason: reason === '' ? null : reason };
}
