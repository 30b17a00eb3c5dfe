/** Words of a question to people whether one exact tool call may run, or of one the agent asks its person. */
import type { Approvers } from './spec.ts';

/**
 * pending    nobody has decided, or one of two has signed
 * approved   the call runs once
 * denied     the model is told, with the reason if one was given
 * expired    nobody decided in time; nothing runs
 * withdrawn  taken back: the run was stopped, its message edited or deleted, or the tool is another one now
 */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn';

/** What a press or a word says. `details` decides nothing. */
export type Choice = 'approve' | 'deny' | 'always' | 'always_exact' | 'details' | 'skip' | 'withdraw';

/** Who may decide, as stored with the question when it was asked. */
export interface ApproverRule {
  approvers: Approvers;
  /** Two different people, at least one an admin, at most one the requester (rule 57). */
  dual: boolean;
}

/** Somebody who acts, with what is known of them at that moment. */
export interface Actor {
  /** `<channel>:<user id>`, or `cli`. */
  account: string;
  /** All people linked to the account's own, itself first (rule 15); empty for the command line and for strangers. */
  people: readonly string[];
  name: string;
  admin: boolean;
  /** Admitted by an admin. */
  paired: boolean;
  membership: 'full' | 'guest' | 'external';
  /** Whether the platform tells guests and strangers from full members; where it does not, `membership` says nothing. */
  workspace: boolean;
  /** Whether the account stands in the question's chat, as the platform says now; null = not asked or not known. */
  member: boolean | null;
}
