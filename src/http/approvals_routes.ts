/** What /approvals and its API answer to whom: nothing to anybody without a session (rule 93). */
import type { Context } from 'hono';
import type { SignedIn } from '../store/sessions.ts';
import { type ApprovalsApiParts, createApprovalsApi } from './approvals_api.ts';
import { approvalsPage, loadApprovalsAssets, themeOf } from './approvals_page.ts';
import { pleaseSignIn } from './pages.ts';

type Answer = Response | Promise<Response>;

export function createApprovalRoutes(parts: ApprovalsApiParts) {
  const api = createApprovalsApi(parts);
  const serveAsset = loadApprovalsAssets();
  return {
    page: (c: Context, who: SignedIn | null): Answer =>
      who ? c.html(approvalsPage(who, themeOf(c.req.header('cookie')))) : pleaseSignIn(c),
    asset: (c: Context): Answer => serveAsset(c.req.param('name') ?? '', c.req.raw) ?? c.notFound(),
    list: (c: Context, who: SignedIn | null): Answer => (who ? api.list(c, who) : pleaseSignIn(c)),
    decide: (c: Context, who: SignedIn | null): Answer => (who ? api.decide(c, who) : pleaseSignIn(c)),
  };
}
