import type { Words } from './en.ts';

/** Dollars for people; an unknown price in the sum makes it "at least" (rule 73). */
export function costText(words: Words, totals: { usd: number; partial: boolean }): string {
  const cost = `$${totals.usd.toFixed(totals.usd < 1 ? 4 : 2)}`;
  return totals.partial ? words.atLeast(cost) : cost;
}
