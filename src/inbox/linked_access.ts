import { decideAccess } from '../policy/access.ts';
import { type Account, accountsOf } from '../store/accounts.ts';
import type { Query } from '../store/db.ts';
import { linkedWith } from '../store/links.ts';
import type { Settings } from '../types/settings.ts';
import { findBinding } from './route.ts';

/**
 * Whether an account may come in where only linked ones are answered (rule 13): one it is linked with must be let in
 * by something else than a link. Otherwise two strangers whom one person let in would keep each other in for good.
 */
export async function isLetInByLink(q: Query, settings: Settings, known: Account | null): Promise<boolean> {
  if (known === null) return false;
  const others = await accountsOf(q, await linkedWith(q, known.personId));
  return others.some(({ channel, userId, directChat, admin, pairedAt }) => {
    const binding = findBinding(settings.bindings, channel, 'direct', directChat === null ? [] : [directChat]);
    if (!binding) return false;
    const account = `${channel}:${userId}`;
    const verdict = decideAccess({
      kind: 'direct',
      account,
      // As far as its platform has told; a guest cannot have linked without being admitted.
      membership: 'full',
      admin: admin || settings.admins.has(account),
      paired: pairedAt !== null,
      linked: false,
      access: binding.access,
      mustBeAdmitted: false,
      chatAdmitted: false,
    });
    return verdict.allow;
  });
}
