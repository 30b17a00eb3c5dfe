import { de } from './de.ts';
import { en, type Words } from './en.ts';
import { pt } from './pt.ts';

export type { Words };

const languages: Record<string, Words> = { en, de, pt };

/** The person's language if we speak it, else the gateway's. */
export function wordsFor(language: string | null | undefined, fallback: string): Words {
  const wanted = language?.slice(0, 2).toLowerCase() ?? '';
  return languages[wanted] ?? languages[fallback] ?? en;
}
