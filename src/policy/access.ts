/**
 * Who may be answered (rule 13). Pure: facts in, verdict out. Beyond what this allows only `claim` is heard from
 * strangers, and from an admin `pair`.
 */
import type { Access } from '../types/spec.ts';

export interface AccessFacts {
  kind: 'direct' | 'group';
  /** `<channel>:<user id>` */
  account: string;
  membership: 'full' | 'guest' | 'external';
  admin: boolean;
  paired: boolean;
  /** Now, with an account that is let in by itself. */
  linked: boolean;
  access: Access;
  /** A group that no binding names by its id, where anybody can add this bot to a group of their own. */
  mustBeAdmitted: boolean;
  /** An admin admitted the chat, or an admin or paired account added the bot to it. */
  chatAdmitted: boolean;
}

export type AccessVerdict =
  | { allow: true }
  /** `pair`: give a code. `linked`: only linked accounts get in. `admission`: the group must be admitted first. */
  | { allow: false; reason: 'pair' | 'linked' | 'not_listed' | 'admission' };

const allowed: AccessVerdict = { allow: true };

export function decideAccess(facts: AccessFacts): AccessVerdict {
  const { access } = facts;
  const listed = access.allow.includes(facts.account);
  if (facts.kind === 'group') {
    if (access.group === 'allowlist') return listed || facts.admin ? allowed : { allow: false, reason: 'not_listed' };
    if (facts.mustBeAdmitted && !facts.chatAdmitted) return { allow: false, reason: 'admission' };
    return allowed;
  }
  if (listed || facts.admin || facts.paired) return allowed;
  if (access.direct === 'open') return facts.membership === 'full' ? allowed : { allow: false, reason: 'pair' };
  if (access.direct === 'pairing') return { allow: false, reason: 'pair' };
  if (access.direct === 'linked') return facts.linked ? allowed : { allow: false, reason: 'linked' };
  return { allow: false, reason: 'not_listed' };
}
