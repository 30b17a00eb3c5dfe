import { isLetInByLink } from '../inbox/linked_access.ts';
import { decideAccess } from '../policy/access.ts';
import { findAccount } from '../store/accounts.ts';
import type { Work } from './parts.ts';

/**
 * Whether whoever asked for a run may still be answered where they asked: days may have passed since it was parked, and
 * a yes must not act for somebody who was let go meanwhile. Membership of a workspace is what it was.
 */
export async function isStillAdmitted({ parts, run, binding, conversation }: Work): Promise<boolean> {
  if (binding === null) return false;
  const settings = parts.settings();
  const known = await findAccount(parts.db, run.place.channel, run.userId);
  const account = `${run.place.channel}:${run.userId}`;
  const isLinked = binding.access.direct === 'linked' && (await isLetInByLink(parts.db, settings, known));
  return decideAccess({
    kind: conversation.audience === 'direct' ? 'direct' : 'group',
    account,
    membership: 'full',
    admin: (known?.admin ?? false) || settings.admins.has(account),
    paired: known?.pairedAt != null,
    linked: isLinked,
    access: binding.access,
    mustBeAdmitted: false,
    chatAdmitted: true,
  }).allow;
}
