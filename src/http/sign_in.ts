/** /signin and /signout: a one-time link becomes a session, by POST only (rule 93). */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Clock } from '../base/clock.ts';
import { sha256 } from '../base/digest.ts';
import type { Db, Transaction } from '../store/db.ts';
import {
  createSession,
  endSession,
  readSession,
  redeemLink,
  removeExpiredSignIns,
  type SignedIn,
} from '../store/sessions.ts';
import { type BodyBudget, readBounded } from './body.ts';
import { readToken, sessionCookie } from './cookies.ts';
import { assets, howToSignIn, noticePage, redeemPage } from './pages.ts';

const formBytesMax = 4_096;

export interface SignInParts {
  db: Db;
  clock: Clock;
  bodies: BodyBudget;
  /** Makes the visitor the owner, in the transaction that uses the link up: a throw leaves the link good. */
  onOwner(who: SignedIn, q: Transaction): Promise<void>;
  port(): number;
  secure(c: Context): boolean;
  endStreams(session: string): void;
}

export function createSignIn(parts: SignInParts) {
  const { db, clock } = parts;

  function show(c: Context): Response | Promise<Response> {
    const code = c.req.query('code');
    // `no-referrer` would make the browser send `Origin: null` with the form; the referrer stays on this origin.
    c.header('Referrer-Policy', 'same-origin');
    if (!code || code.length > 200) return c.html(noticePage('Sign in', howToSignIn));
    return c.html(redeemPage(code));
  }

  async function redeem(c: Context): Promise<Response> {
    const read = await readBounded(c.req.raw, parts.bodies, formBytesMax);
    const code = read.request && new URLSearchParams(await read.request.text()).get('code');
    if (read.request) read.release();
    const now = clock.now();
    const token = await db.tx(async (q) => {
      await removeExpiredSignIns(q, now);
      const link = code ? await redeemLink(q, code, now) : null;
      if (!link) return null;
      const who = { channel: link.channel, userId: link.userId, name: link.name };
      if (link.owner) await parts.onOwner(who, q);
      return createSession(q, who, now);
    });
    if (!token) {
      // Who is in already opened an old link, from a bookmark or the terminal: the page is what they want.
      const own = readToken(c.req.header('cookie') ?? null, parts.port());
      if (own && (await readSession(db, own, now))) return c.redirect('/chat', 303);
      const body = html`<p>It was used before, is older than 15 minutes, or was not copied whole.</p>${howToSignIn}`;
      return c.html(noticePage('This link does not work any more', body), 410);
    }
    await end(c);
    c.header('Set-Cookie', sessionCookie(token, parts.port(), parts.secure(c)));
    return c.redirect('/chat', 303);
  }

  async function end(c: Context): Promise<void> {
    const token = readToken(c.req.header('cookie') ?? null, parts.port());
    if (!token) return;
    await db.tx((q) => endSession(q, token));
    parts.endStreams(sha256(token));
  }

  async function signOut(c: Context): Promise<Response> {
    await end(c);
    c.header('Set-Cookie', sessionCookie(null, parts.port(), parts.secure(c)));
    return c.redirect('/signin', 303);
  }

  function asset(c: Context): Response {
    const found = assets[c.req.path];
    return found ? c.body(found.text, 200, { 'Content-Type': found.type }) : (c.notFound() as Response);
  }

  return { show, redeem, signOut, asset };
}
