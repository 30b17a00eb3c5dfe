/** Questions for the approvals page, the API and the command line: what somebody may see of them, and deciding there. */
import { findAccountNamed } from '../store/accounts.ts';
import { type Approval, listApprovalRows, readApproval, readSignatures, type Signature } from '../store/approvals.ts';
import type { Db, Query, Transaction } from '../store/db.ts';
import type { Actor, ApprovalState, Choice } from '../types/approval.ts';
import type { Place } from '../types/message.ts';
import { type Words, wordsFor } from '../words/index.ts';
import { plainText, reasonText, stateText, whoDecides } from './card.ts';
import { decideApproval } from './decide.ts';
import type { ApprovalParts } from './parts.ts';
import { noticeOf } from './press.ts';
import { isOperator, isRequester, mayDecide } from './rule.ts';

export interface ApprovalView {
  id: string;
  code: string;
  state: ApprovalState;
  /** It is a question of the agent (ask_user) and not a tool call. */
  question: boolean;
  options: string[] | null;
  answer: string | null;
  capability: string;
  tool: string;
  name: string;
  /** JSON as people read it, secrets masked. */
  input: string;
  message: string | null;
  agent: string;
  binding: string;
  place: Place;
  requester: { account: string; name: string };
  /** In words. */
  approvers: string;
  dual: boolean;
  signatures: { account: string; name: string; at: number }[];
  createdAt: number;
  expiresAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
  reason: string | null;
  mayDecide: boolean;
  mayWithdraw: boolean;
  /** Which "always allow" this viewer could give with a yes. */
  grantable: 'any' | 'exact' | null;
}

/** Looked through for what a person may see, of what could be theirs. */
const searchedMax = 1_000;

/** Newest first. A person sees what they asked for or may decide (rule 93), the operator everything. */
export async function listApprovals(
  q: Query,
  parts: Pick<ApprovalParts, 'settings'>,
  viewer: Actor,
  options: { state: 'pending' | 'decided'; limit: number },
): Promise<ApprovalView[]> {
  const concerned = isOperator(viewer) ? null : viewer;
  const limit = concerned === null ? options.limit : Math.max(searchedMax, options.limit);
  const rows = await listApprovalRows(q, options.state, concerned, limit);
  const views: ApprovalView[] = [];
  for (const approval of rows) {
    if (views.length >= options.limit) break;
    if (maySee(approval, viewer)) views.push(await viewOf(q, parts, approval, viewer));
  }
  return views;
}

export async function readApprovalView(
  q: Query,
  parts: Pick<ApprovalParts, 'settings'>,
  viewer: Actor,
  id: string,
): Promise<ApprovalView | null> {
  const approval = await readApproval(q, id);
  return approval && maySee(approval, viewer) ? viewOf(q, parts, approval, viewer) : null;
}

/** Membership is asked of the platform at the press only, so what members may decide is shown in their chat alone. */
function maySee(approval: Approval, viewer: Actor): boolean {
  return (
    isOperator(viewer) || isRequester(approval, viewer) || (approval.kind === 'tool' && mayDecide(approval, viewer))
  );
}

async function viewOf(
  q: Query,
  parts: Pick<ApprovalParts, 'settings'>,
  approval: Approval,
  viewer: Actor,
): Promise<ApprovalView> {
  const words = wordsFor(null, parts.settings().language);
  const nameOf = async (account: string) => (await findAccountNamed(q, account))?.name || account;
  const requesterName = await nameOf(approval.requesterAccount);
  const signatures: readonly Signature[] = approval.dual ? await readSignatures(q, approval.id) : [];
  const pending = approval.state === 'pending';
  const { id, code, state, options, answer, capability, tool, name, input, message, agent, binding, place } = approval;
  return {
    id,
    code,
    state,
    question: approval.kind === 'question',
    options,
    answer,
    capability,
    tool,
    name,
    input,
    message,
    agent,
    binding,
    place,
    requester: { account: approval.requesterAccount, name: requesterName },
    approvers: approval.kind === 'question' ? '' : plainText(whoDecides(approval, requesterName, words)),
    dual: approval.dual,
    signatures: await Promise.all(
      signatures.map(async ({ account, signedAt }) => ({ account, name: await nameOf(account), at: signedAt })),
    ),
    createdAt: approval.createdAt,
    expiresAt: approval.expiresAt,
    decidedBy: approval.decidedBy,
    decidedAt: approval.decidedAt,
    reason: reasonText(approval, words.questions),
    mayDecide: pending && (approval.kind === 'question' ? isRequester(approval, viewer) : mayDecide(approval, viewer)),
    mayWithdraw: pending && (isRequester(approval, viewer) || viewer.admin),
    grantable: pending && isRequester(approval, viewer) ? approval.grantable : null,
  };
}

export type ByIdOutcome =
  | { ok: true; state: ApprovalState; words: string }
  | {
      ok: false;
      why: 'unknown' | 'not_entitled' | 'decided' | 'not_grantable';
      words: string;
      view: ApprovalView | null;
    };

export async function decideById(
  db: Db,
  parts: ApprovalParts,
  id: string,
  asked: { choice: Exclude<Choice, 'details'> | 'answer'; reason?: string | null; answer?: string; viewer: Actor },
  now: number,
): Promise<ByIdOutcome> {
  const words: Words = wordsFor(null, parts.settings().language);
  return db.tx(async (q: Transaction): Promise<ByIdOutcome> => {
    const { viewer } = asked;
    const found = await readApproval(q, id);
    // An id of somebody else's is answered as one that does not exist.
    if (!found || !maySee(found, viewer))
      return { ok: false, why: 'unknown', words: words.questions.unknown, view: null };
    const { choice, reason = null, answer } = asked;
    const decided = await decideApproval(
      q,
      parts,
      id,
      { choice, reason, actor: viewer, ...(answer === undefined ? {} : { answer }) },
      now,
    );
    const notice = (await noticeOf(q, decided, words)) ?? '';
    if (decided.kind === 'closed') {
      const { state } = decided.approval;
      return { ok: true, state, words: words.questions.noted(stateText(decided.approval, words.questions)) };
    }
    if (decided.kind === 'signed') return { ok: true, state: 'pending', words: plainText(notice) };
    const why = decided.kind === 'already' ? 'decided' : decided.kind;
    const approval = 'approval' in decided ? decided.approval : null;
    const view = approval ? await viewOf(q, parts, approval, viewer) : null;
    return { ok: false, why, words: plainText(notice), view };
  });
}
