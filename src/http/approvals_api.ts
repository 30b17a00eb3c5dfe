/** `/api/v1/approvals`: the questions a person asked for or may decide, and deciding them (rules 47, 48, 93). */
import type { Context } from 'hono';
import { actorOf } from '../approvals/actor.ts';
import { type ApprovalView, decideById, listApprovals } from '../approvals/api.ts';
import { type ApprovalParts, answerCharsMax, reasonCharsMax } from '../approvals/parts.ts';
import type { Clock } from '../base/clock.ts';
import { visibleText, wellFormed } from '../base/safe_text.ts';
import type { Db } from '../store/db.ts';
import type { SignedIn } from '../store/sessions.ts';
import type { Actor } from '../types/approval.ts';
import { type BodyBudget, readBounded } from './body.ts';

const listLimit = { standard: 50, most: 200 };
const bodyBytesMax = 32 * 1024;
const decisions = ['approve', 'deny', 'always', 'always_exact', 'withdraw', 'answer', 'skip'] as const;

export interface ApprovalsApiParts {
  db: Db;
  clock: Clock;
  bodies: BodyBudget;
  approvals: ApprovalParts;
  /** Everybody who signs in there is of the house: channels of the page, and no platform with guests. */
  isPage(channel: string): boolean;
}

export function createApprovalsApi({ db, clock, bodies, approvals, isPage }: ApprovalsApiParts) {
  /**
   * Read anew for each request, as for each press (rule 47). What only a platform knows is not asked here: an account of
   * one counts as a guest's, and as a member of no chat.
   */
  const actorFor = ({ channel, userId, name }: SignedIn): Promise<Actor> => {
    const membership = isPage(channel) ? 'full' : 'guest';
    return actorOf(db, approvals.settings(), channel, { id: userId, name, membership }, null);
  };

  /** `?state=pending|decided&limit=N` → `{ approvals }`. */
  async function list(c: Context, who: SignedIn): Promise<Response> {
    const state = c.req.query('state') ?? 'pending';
    if (state !== 'pending' && state !== 'decided') return c.json({ error: '"state" is pending or decided.' }, 400);
    const limit = Number(c.req.query('limit') ?? listLimit.standard);
    if (!Number.isInteger(limit) || limit < 1 || limit > listLimit.most)
      return c.json({ error: `"limit" is a number from 1 to ${listLimit.most}.` }, 400);
    const views = await listApprovals(db, approvals, await actorFor(who), { state, limit });
    return c.json({ approvals: views.map(shown) });
  }

  /**
   * `{ decision, reason?, answer? }` → 200 `{ state, notice }`; `state` is pending where one of two has signed. Else 403,
   * 404, 422 where nothing can be allowed for always, or 409 with the state it has and who decided.
   */
  async function decide(c: Context, who: SignedIn): Promise<Response> {
    const read = await readBounded(c.req.raw, bodies, bodyBytesMax);
    if (read.request === null) return read.refusal;
    const wanted = await readWanted(read.request).finally(read.release);
    if ('error' in wanted) return c.json(wanted, 400);
    const viewer = await actorFor(who);
    const outcome = await decideById(db, approvals, c.req.param('id') ?? '', { ...wanted, viewer }, clock.now());
    if (outcome.ok) return c.json({ state: outcome.state, notice: outcome.words });
    const error = outcome.words;
    if (outcome.why === 'unknown') return c.json({ error }, 404);
    if (outcome.why === 'not_entitled') return c.json({ error }, 403);
    if (outcome.why === 'not_grantable') return c.json({ error }, 422);
    return c.json({ error, state: outcome.view?.state ?? null, decidedBy: outcome.view?.decidedBy ?? null }, 409);
  }

  return { list, decide };
}

type Wanted = { choice: (typeof decisions)[number]; reason: string | null; answer?: string };

async function readWanted(request: Request): Promise<Wanted | { error: string }> {
  const body: unknown = await request.json().catch(() => null);
  const sent = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const choice = decisions.find((one) => one === sent.decision);
  if (choice === undefined) return { error: `Send JSON: {"decision": "${decisions.join('|')}", "reason": "…"}.` };
  const reason = readText(sent.reason, reasonCharsMax);
  const answer = readText(sent.answer, answerCharsMax);
  if (reason === undefined) return { error: `"reason" is a text of at most ${reasonCharsMax} characters.` };
  if (answer === undefined) return { error: `"answer" is a text of at most ${answerCharsMax} characters.` };
  if (choice === 'answer' && answer === null) return { error: '"answer" holds the answer.' };
  return { choice, reason, ...(answer === null ? {} : { answer }) };
}

/** Null for none, undefined for what is no such text. */
function readText(value: unknown, charsMax: number): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value.length > charsMax) return undefined;
  return wellFormed(value).trim() || null;
}

/** As people may be shown it: what cannot be seen stands as escapes in every text that somebody else wrote (rule 49). */
function shown(view: ApprovalView): ApprovalView {
  const seen = <T extends string | null>(text: T): T =>
    (text === null ? text : visibleText(text, { keep: 'lines' })) as T;
  return {
    ...view,
    name: seen(view.name),
    input: seen(view.input),
    message: seen(view.message),
    answer: seen(view.answer),
    options: view.options?.map(seen) ?? null,
    // Why the gateway took it back is kept as a word of its own.
    reason: seen(view.reason),
    decidedBy: seen(view.decidedBy),
    requester: { ...view.requester, name: seen(view.requester.name) },
    signatures: view.signatures.map((one) => ({ ...one, name: seen(one.name) })),
  };
}
