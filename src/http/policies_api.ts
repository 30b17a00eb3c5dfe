/**
 * `/api/v1/policies`: what admins and the caller say about tools, and changing it (rules 38, 43, 91). The caller is the
 * account of the session or token; whether it is an admin is read anew for each request.
 */
import type { Context } from 'hono';
import { accountName } from '../base/account.ts';
import { GatehouseError } from '../base/errors.ts';
import type { SignedIn } from '../store/sessions.ts';
import type { Verdict } from '../types/tool.ts';
import { type BodyBudget, readBounded } from './body.ts';

/** What the gateway hands in. Every method throws a GatehouseError `not_found` for what there is not. */
export interface HttpPolicies {
  list(account: string): Promise<unknown>;
  /** `person` null = for everybody; `verdict` null takes the rule away. */
  change(
    rule: { capability: string; tool: string; verdict: Verdict | null; person: string | null },
    actor: string,
  ): Promise<unknown>;
  /** Only of the account's own person. */
  forget(id: string, account: string): Promise<unknown>;
  isAdmin(channel: string, userId: string): Promise<boolean>;
}

const bodyBytesMax = 4 * 1024;
const verdicts = ['allow', 'ask', 'block'] as const;

export function createPoliciesApi({ policies, bodies }: { policies: HttpPolicies; bodies: BodyBudget }) {
  async function answering(c: Context, work: () => Promise<unknown>): Promise<Response> {
    try {
      return c.json((await work()) as object);
    } catch (error) {
      if (!(error instanceof GatehouseError) || error.code !== 'not_found') throw error;
      return c.json({ error: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) }, 404);
    }
  }

  async function change(c: Context, who: SignedIn, verdict: Verdict | null): Promise<Response> {
    const scope = c.req.param('scope');
    if (scope !== 'admin' && scope !== 'own')
      return c.json({ error: 'The path is /api/v1/policies/admin|own/CAPABILITY/TOOL.' }, 404);
    if (scope === 'admin' && !(await policies.isAdmin(who.channel, who.userId)))
      return c.json({ error: 'Only an admin sets what holds for everybody.' }, 403);
    const account = accountName(who);
    const rule = {
      capability: c.req.param('capability') ?? '',
      tool: c.req.param('tool') ?? '',
      verdict,
      person: scope === 'own' ? account : null,
    };
    return answering(c, () => policies.change(rule, account));
  }

  return {
    /** `{ admin: [...], person: { account, own, grants } }` */
    list: (c: Context, who: SignedIn): Promise<Response> => answering(c, () => policies.list(accountName(who))),

    /** `{ verdict: allow|ask|block }` → the rule with what stood there before. */
    async put(c: Context, who: SignedIn): Promise<Response> {
      const read = await readBounded(c.req.raw, bodies, bodyBytesMax);
      if (read.request === null) return read.refusal;
      const sent = (await read.request
        .json()
        .catch(() => null)
        .finally(read.release)) as { verdict?: unknown } | null;
      const verdict = verdicts.find((one) => one === sent?.verdict);
      if (verdict === undefined) return c.json({ error: 'Send JSON: {"verdict": "allow|ask|block"}.' }, 400);
      return change(c, who, verdict);
    },

    remove: (c: Context, who: SignedIn): Promise<Response> => change(c, who, null),

    forget: (c: Context, who: SignedIn): Promise<Response> =>
      answering(c, () => policies.forget(c.req.param('id') ?? '', accountName(who))),
  };
}
