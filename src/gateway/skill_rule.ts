/** What admins and the person say about a skill that somebody runs without a chat. */
import { ownEntry } from '../base/own_entry.ts';
import { peopleOf } from '../people/links.ts';
import { strictest } from '../policy/tools.ts';
import { findAccount } from '../store/accounts.ts';
import type { Query } from '../store/db.ts';
import type { SignedIn } from '../store/sessions.ts';
import { adminScope, readRulesOf } from '../store/tool_rules.ts';
import type { Settings } from '../types/settings.ts';
import type { Verdict } from '../types/tool.ts';

/** The strictest of an admin's rule (one set at run time over that of the file) and the person's own ones. */
export async function skillRule(
  q: Query,
  policies: Settings['policies'],
  name: string,
  person: Pick<SignedIn, 'channel' | 'userId'>,
): Promise<Verdict | undefined> {
  const account = await findAccount(q, person.channel, person.userId);
  const people = account ? await peopleOf(q, account.personId) : [];
  const rules = (await readRulesOf(q, [adminScope, ...people])).filter(
    ({ capability, tool }) => capability === `skill:${name}` && tool === name,
  );
  const admin = rules.find(({ scope }) => scope === adminScope)?.verdict;
  const written = ownEntry(ownEntry(policies, `skill:${name}`), name);
  const own = rules.filter(({ scope }) => scope !== adminScope).map(({ verdict }) => verdict);
  return strictest([admin ?? written, ...own]);
}
