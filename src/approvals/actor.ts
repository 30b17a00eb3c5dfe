/** Who acts, from the rows as they are now (rule 47). */
import { peopleOf } from '../people/links.ts';
import { findAccount } from '../store/accounts.ts';
import type { Query } from '../store/db.ts';
import type { Actor } from '../types/approval.ts';
import type { Sender } from '../types/message.ts';
import type { Settings } from '../types/settings.ts';

export async function actorOf(
  q: Query,
  settings: Pick<Settings, 'admins' | 'channels'>,
  channel: string,
  sender: Pick<Sender, 'id' | 'name' | 'membership'>,
  member: boolean | null,
): Promise<Actor> {
  const known = await findAccount(q, channel, sender.id);
  const account = `${channel}:${sender.id}`;
  return {
    account,
    people: known ? await peopleOf(q, known.personId) : [],
    name: known?.name || sender.name,
    admin: (known?.admin ?? false) || settings.admins.has(account),
    paired: known?.pairedAt != null,
    membership: sender.membership,
    workspace: settings.channels.get(channel)?.groupsNeedAdmission === false,
    member,
  };
}
