/** `/api/v1/approvals`: the questions a person asked for or may decide, and deciding them (rules 47, 48, 93). */
import type { Context } from 'hono';
import { visibleText, wellFormed } from '../base/safe_text.ts';
import type { SignedIn } from '../store/sessions.ts';
import type { ApprovalState } from '../types/approval.ts';
import type { Place } from '../types/message.ts';
import type { Approvers } from '../types/spec.ts';
import { type BodyBudget, readBounded } from './body.ts';

const listLimit = { standard: 50, most: 200 };
const bodyBytesMax = 16 * 1024;
const reasonCharsMax = 1_000;
const decisions = ['approve', 'deny', 'always', 'always_exact', 'withdraw'] as const;
export type DeskDecision = (typeof decisions)[number];

export interface ApprovalView {
  id: string;
  code: string;
  state: ApprovalState;
  capability: string;
  tool: string;
  name: string;
  /** JSON text, secrets masked. */
  input: string;
  message: string | null;
  agent: string;
  binding: string;
  place: Place;
  requester: { account: string; name: string };
  approvers: Approvers;
  dual: boolean;
  signatures: { name: string; account: string; at: number }[];
  createdAt: number;
  expiresAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
  reason: string | null;
  question: boolean;
  options: string[] | null;
  mayDecide: boolean;
  grantable: 'any' | 'exact' | null;
}

/** What the server needs of the approvals; who acts is the account of the session or token. */
export interface ApprovalDesk {
  list(who: SignedIn, options: { state: 'pending' | 'decided'; limit: number }): Promise<ApprovalView[]>;
  decide(who: SignedIn, id: string, decision: { choice: DeskDecision; reason: string | null }): Promise<Decided>;
}
export type Decided =
  | { ok: true; state: ApprovalState }
  | { ok: false; why: string; words: string; state?: ApprovalState; decidedBy?: string | null };

export interface ApprovalsApiParts {
  desk: ApprovalDesk;
  bodies: BodyBudget;
}

export function createApprovalsApi({ desk, bodies }: ApprovalsApiParts) {
  /** `?state=pending|decided&limit=N` → `{ approvals }`. */
  async function list(c: Context, who: SignedIn): Promise<Response> {
    const state = c.req.query('state') ?? 'pending';
    if (state !== 'pending' && state !== 'decided') return c.json({ error: '"state" is pending or decided.' }, 400);
    const limit = Number(c.req.query('limit') ?? listLimit.standard);
    if (!Number.isInteger(limit) || limit < 1 || limit > listLimit.most)
      return c.json({ error: `"limit" is a number from 1 to ${listLimit.most}.` }, 400);
    const approvals = await desk.list(who, { state, limit });
    return c.json({ approvals: approvals.map(shown) });
  }

  /** `{ decision, reason? }` → 200 `{ state }`, 403, 404, or 409 with the state it has and who decided. */
  async function decide(c: Context, who: SignedIn): Promise<Response> {
    const read = await readBounded(c.req.raw, bodies, bodyBytesMax);
    if (read.request === null)
      return read.status === 413
        ? c.json({ error: 'The request is larger than 16 KiB.' }, 413)
        : c.json({ error: 'Too much is being sent at once. Try again.' }, 503, { 'Retry-After': '2' });
    const wanted = await readWanted(read.request).finally(read.release);
    if ('error' in wanted) return c.json(wanted, 400);
    const outcome = await desk.decide(who, c.req.param('id') ?? '', wanted);
    if (outcome.ok) return c.json({ state: outcome.state });
    if (outcome.why === 'unknown') return c.json({ error: outcome.words }, 404);
    if (outcome.why === 'not_entitled') return c.json({ error: outcome.words }, 403);
    return c.json({ error: outcome.words, state: outcome.state ?? null, decidedBy: outcome.decidedBy ?? null }, 409);
  }

  return { list, decide };
}

type Wanted = { choice: DeskDecision; reason: string | null };

async function readWanted(request: Request): Promise<Wanted | { error: string }> {
  const body: unknown = await request.json().catch(() => null);
  const { decision, reason } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const choice = decisions.find((one) => one === decision);
  if (choice === undefined) return { error: `Send JSON: {"decision": "${decisions.join('|')}", "reason": "…"}.` };
  if (reason === undefined || reason === null || reason === '') return { choice, reason: null };
  if (typeof reason !== 'string') return { error: '"reason" is a text.' };
  if (reason.length > reasonCharsMax) return { error: `"reason" has at most ${reasonCharsMax} characters.` };
  return { choice, reason: wellFormed(reason).trim() || null };
}

/**
 * As people may be shown it: `arguments` is the input in lines, and what cannot be seen stands as escapes in every text
 * that somebody else wrote (rule 49).
 */
function shown(view: ApprovalView) {
  const seen = <T extends string | null>(text: T): T => (text === null ? text : (visibleText(text) as T));
  return {
    ...view,
    name: seen(view.name),
    message: seen(view.message),
    reason: seen(view.reason),
    decidedBy: seen(view.decidedBy),
    requester: { ...view.requester, name: seen(view.requester.name) },
    signatures: view.signatures.map((one) => ({ ...one, name: seen(one.name) })),
    arguments: visibleText(inLines(view.input), { keep: 'lines' }),
  };
}

function inLines(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    // Masked or cut text need not be JSON.
    return input;
  }
}
