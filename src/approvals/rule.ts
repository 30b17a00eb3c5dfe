/** Who may decide a question, and when two signatures are enough. Pure: facts in, verdict out (rules 47 and 57). */
import type { Actor, ApproverRule } from '../types/approval.ts';

/** What of a question its rule is held against. */
export interface Asked extends ApproverRule {
  /** Person id; null when nobody is known. */
  requester: string | null;
  requesterAccount: string;
}

export const operator: Actor = {
  account: 'cli',
  people: [],
  name: 'operator',
  admin: true,
  paired: true,
  membership: 'full',
  workspace: true,
  member: null,
};

export const isOperator = ({ account }: Actor) => account === operator.account;

/** Whether this person's word counts at all. The command line is the operator's, who holds the data itself. */
export function mayDecide(asked: Asked, actor: Actor): boolean {
  if (isOperator(actor)) return true;
  if (!asked.dual) return satisfies(asked, actor);
  return isKnown(actor) && (satisfies(asked, actor) || actor.admin);
}

/** Known by an admin's word or the workspace's (rule 57). */
export function isKnown({ admin, paired, membership, workspace }: Actor): boolean {
  return admin || paired || (workspace && membership === 'full');
}

function satisfies({ approvers, requester, requesterAccount }: Asked, actor: Actor): boolean {
  if (approvers === 'requester') return isRequester({ requester, requesterAccount }, actor);
  if (approvers === 'admins') return actor.admin;
  if (approvers === 'members') return actor.member === true && (actor.membership === 'full' || isKnown(actor));
  return approvers.includes(actor.account);
}

export function isRequester(asked: Pick<Asked, 'requester' | 'requesterAccount'>, actor: Actor): boolean {
  if (actor.account === asked.requesterAccount) return true;
  return asked.requester !== null && actor.people.includes(asked.requester);
}

/** One yes, apart from who is linked to whom. */
export interface Signed {
  personId: string;
  admin: boolean;
  isRequester: boolean;
}

/** Who counts as one person must be one `personId` here. */
export function isEnough(dual: boolean, signed: readonly Signed[]): boolean {
  if (!dual) return signed.length >= 1;
  const people = new Set(signed.map(({ personId }) => personId));
  const requesters = new Set(signed.filter(({ isRequester }) => isRequester).map(({ personId }) => personId));
  // Of somebody's accounts one may hold the role, and another not.
  return people.size >= 2 && signed.some(({ admin }) => admin) && [...people].some((one) => !requesters.has(one));
}
