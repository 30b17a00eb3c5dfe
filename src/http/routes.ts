/** Guard first, then the route. */
import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { sha256 } from '../base/digest.ts';
import { messageOf } from '../base/errors.ts';
import { redeemToken } from '../people/tokens.ts';
import { readSession, type SignedIn } from '../store/sessions.ts';
import type { ChannelRequest } from '../types/adapter.ts';
import { createApprovalsApi } from './approvals_api.ts';
import { approvalsPage, loadApprovalsAssets, themeOf } from './approvals_page.ts';
import { createBodyBudget, headOf, readBounded } from './body.ts';
import { readToken } from './cookies.ts';
import { isForwarded, isLoopback, judge } from './guard.ts';
import { noticePage, pageHeaders, pleaseSignIn } from './pages.ts';
import { createPoliciesApi } from './policies_api.ts';
import { createReadyCheck, readyBody } from './readiness.ts';
import type { HttpParts } from './server.ts';
import { createSignIn } from './sign_in.ts';
import { createSkillsApi } from './skills_api.ts';
import type { Streams } from './streams.ts';
import { type Channel, loggedPath, pageType, type Target, takesTokens, targetOf } from './target.ts';

interface RouteParts extends HttpParts {
  streams: Streams;
  hosts(host: string | null): ReadonlySet<string>;
  port(): number;
}

/** `id` is the hash of a cookie's token, or `token:` and the id of a person's token. */
type Session = SignedIn & { id: string };
type Env = {
  Bindings: { incoming: IncomingMessage };
  Variables: { target: Target; session: Session | null; trusted: boolean };
};

export function createRoutes(parts: RouteParts): Hono<Env> {
  const { clock, log, db, streams } = parts;
  const app = new Hono<Env>();
  const isReady = createReadyCheck();
  const bodies = createBodyBudget();
  const signIn = createSignIn({ ...parts, bodies, secure, endStreams: (session) => streams.end(session) });

  /** Cookies travel encrypted only where the visitor came by the public https address. */
  function secure(c: Context): boolean {
    if (!parts.publicUrl?.startsWith('https:')) return false;
    return new URL(parts.publicUrl).host === c.req.header('host') || isForwarded(c.req.raw.headers.keys());
  }

  async function sessionOf(c: Context<Env>): Promise<Session | null> {
    const token = readToken(c.req.header('cookie') ?? null, parts.port());
    if (!token) return null;
    const found = await readSession(db, token, clock.now());
    return found && { ...found, id: sha256(token) };
  }

  /** By a person's token where the request brings one, never by a cookie beside it; else by the cookie. */
  async function visitor(c: Context<Env>, target: Target, bearer: string | null): Promise<Session | null> {
    if (target.kind === 'health' || target.kind === 'platform') return null;
    if (bearer === null) return sessionOf(c);
    const found = await redeemToken(db, bearer, clock.now());
    return found && { channel: found.channel, userId: found.userId, name: found.name, id: `token:${found.tokenId}` };
  }

  app.use(async (c, next) => {
    const began = clock.now();
    await next();
    const fields = {
      method: c.req.method,
      path: loggedPath(c.req.path),
      status: c.res.status,
      ms: clock.now() - began,
    };
    if (c.res.status >= 500) log.warn(fields, 'request failed');
    else log.debug(fields, 'request');
  });

  app.use(async (c, next) => {
    const target = targetOf(c.req.path, parts.channels());
    const host = c.req.header('host') ?? null;
    const authorization = takesTokens(c.req.path) ? c.req.header('authorization') : undefined;
    // What else stands there, a proxy in front may have asked for.
    const bearer = authorization !== undefined && /^bearer\b/i.test(authorization) ? authorization : null;
    const session = await visitor(c, target, bearer);
    if (bearer !== null && session === null)
      return c.json({ error: 'That token is not good (any more).' }, 401, {
        'WWW-Authenticate': 'Bearer error="invalid_token"',
      });
    const forwarded = isForwarded(c.req.raw.headers.keys());
    const verdict = judge(
      {
        method: c.req.method,
        kind: target.kind,
        host,
        origin: c.req.header('origin') ?? null,
        fetchSite: c.req.header('sec-fetch-site') ?? null,
        fetchMode: c.req.header('sec-fetch-mode') ?? null,
        forwarded,
        session: session !== null,
        bearer: bearer !== null,
      },
      { hosts: parts.hosts(host?.toLowerCase() ?? null), publicUrl: parts.publicUrl },
    );
    if (!verdict.allowed) return c.text(`${verdict.reason}\n`, verdict.status);
    c.set('target', target);
    c.set('session', session);
    c.set('trusted', session !== null || (!forwarded && isLoopback(c.env.incoming.socket.remoteAddress)));
    await next();
    if (target.kind === 'platform') return;
    for (const [name, value] of Object.entries(pageHeaders)) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
  });

  app.get('/healthz', (c) => c.json({ ok: true }));
  app.get('/readyz', async (c) => {
    const now = await parts.readiness();
    const strict = c.req.query('strict') !== undefined;
    const ready = isReady(now, strict);
    return c.json(readyBody(now, ready, c.get('trusted')), ready ? 200 : 503);
  });
  app.get('/metrics', async (c) => {
    if (!c.get('trusted')) return c.text('Metrics need a direct connection from this machine, or a session.\n', 403);
    const text = await parts.metrics();
    if (text === '') return c.notFound();
    return c.text(text, 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  app.get('/', (c) => c.redirect('/chat'));
  app.get('/signin', signIn.show);
  app.post('/signin', signIn.redeem);
  app.get('/signin/*', signIn.asset);
  app.post('/signout', signIn.signOut);
  if (parts.skills) {
    const api = createSkillsApi({ db, clock, log, bodies, skills: parts.skills });
    app.get('/v1/skills', (c) => api.list(c.get('session')));
    app.get('/v1/skills/calls/:approval', (c) => api.call(c.get('session'), c.req.param('approval')));
    app.post('/v1/skills/:name/execute', (c) => api.execute(c.get('session'), c.req.param('name'), c.req.raw));
  }

  /** Nothing to anybody without a session (rule 93). */
  const signedIn = (answer: (c: Context, who: SignedIn) => Response | Promise<Response>) => (c: Context<Env>) => {
    const who = c.get('session');
    return who ? answer(c, who) : pleaseSignIn(c);
  };
  const approvals = createApprovalsApi({
    ...parts,
    bodies,
    isPage: (channel) => parts.channels().some(({ name, type }) => name === channel && type === pageType),
  });
  const serveAsset = loadApprovalsAssets();
  app.get(
    '/approvals',
    signedIn((c, who) => c.html(approvalsPage(who, themeOf(c.req.header('cookie'))))),
  );
  app.get('/approvals/assets/:name', (c) => serveAsset(c.req.param('name'), c.req.raw) ?? c.notFound());
  app.get('/api/v1/approvals', signedIn(approvals.list));
  app.post('/api/v1/approvals/:id', signedIn(approvals.decide));
  if (parts.policies) {
    const api = createPoliciesApi({ policies: parts.policies, bodies });
    app.get('/api/v1/policies', signedIn(api.list));
    app.put('/api/v1/policies/:scope/:capability/:tool', signedIn(api.put));
    app.delete('/api/v1/policies/:scope/:capability/:tool', signedIn(api.remove));
    app.delete('/api/v1/grants/:id', signedIn(api.forget));
  }

  app.all('*', (c) => {
    const target = c.get('target');
    if (target.kind === 'platform') return ask(c, target.channel, target.below, null);
    if (target.kind === 'chat') return chat(c, target.below);
    return c.notFound();
  });

  /** The page of the channel the session belongs to, else of the first web channel. */
  async function chat(c: Context<Env>, below: string): Promise<Response> {
    const pages = parts.channels().filter(({ type }) => type === pageType);
    const session = c.get('session');
    if (!session) return pleaseSignIn(c);
    const channel = pages.find(({ name }) => name === session.channel) ?? pages[0];
    if (!channel) return c.notFound();
    const who = channel.name === session.channel ? { account: session.userId, name: session.name } : null;
    return ask(c, channel, below, who);
  }

  async function ask(
    c: Context<Env>,
    channel: Channel,
    path: string,
    session: ChannelRequest['session'],
  ): Promise<Response> {
    const { adapter } = channel;
    if (!adapter.http) return c.notFound() as Response;
    const refusal = adapter.authorize?.({ request: headOf(c.req.raw), path, session });
    if (refusal) return closing(refusal);
    const read = await readBounded(c.req.raw, bodies);
    if (read.request === null) return read.refusal;
    const response = await adapter.http({ request: read.request, path, session }).finally(read.release);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const admitted = streams.admit(response, c.get('session')?.id ?? '');
    return admitted ?? c.json({ error: 'Too many open pages. Close some.' }, 503, { 'Retry-After': '30' });
  }

  app.notFound((c) =>
    c.html(noticePage('Nothing here', html`<p>This address leads nowhere. <a href="/chat">To the chat</a></p>`), 404),
  );
  app.onError((error, c) => {
    log.error({ method: c.req.method, path: loggedPath(c.req.path), error: messageOf(error) }, 'request broke');
    return c.json({ error: 'Something went wrong here. Try again.' }, 500);
  });
  return app;
}

/** Whoever is not heard does not go on sending the body either. */
function closing(refusal: Response): Response {
  const headers = new Headers(refusal.headers);
  headers.set('Connection', 'close');
  return new Response(refusal.body, { status: refusal.status, headers });
}
