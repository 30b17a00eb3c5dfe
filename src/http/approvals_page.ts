/** `/approvals`: the page where questions are seen and decided outside the chat. It reads and writes by the API. */
import { readFileSync } from 'node:fs';
import { html } from 'hono/html';
import { sha256 } from '../base/digest.ts';
import type { SignedIn } from '../store/sessions.ts';

type Markup = ReturnType<typeof html>;

const types: Record<string, string> = {
  'approvals.css': 'text/css; charset=utf-8',
  'cards.css': 'text/css; charset=utf-8',
  'approvals.js': 'text/javascript; charset=utf-8',
  'cards.js': 'text/javascript; charset=utf-8',
  'actions.js': 'text/javascript; charset=utf-8',
  'make.js': 'text/javascript; charset=utf-8',
};

/** Serves what the page loads; null for a name that is not ours. The browser asks each time whether its copy is good. */
export function loadApprovalsAssets(): (name: string, request: Request) => Response | null {
  const files = new Map(
    Object.entries(types).map(([name, type]) => {
      const bytes = new Uint8Array(readFileSync(new URL(`approvals_page/${name}`, import.meta.url)));
      return [name, { bytes, type, etag: `"${sha256(bytes).slice(0, 32)}"` }];
    }),
  );
  return (name, request) => {
    const file = files.get(name);
    if (!file) return null;
    const headers = { ETag: file.etag, 'Cache-Control': 'private, no-cache', 'Content-Type': file.type };
    if (request.headers.get('if-none-match') === file.etag) return new Response(null, { status: 304, headers });
    return new Response(file.bytes, { headers });
  };
}

/** The theme is chosen on either page and kept in a cookie, so that the first frame has the right colours. */
export function themeOf(cookies: string | undefined): string | null {
  return /(?:^|;\s*)gatehouse_theme=(light|dark)(?:;|$)/.exec(cookies ?? '')?.[1] ?? null;
}

export function approvalsPage(who: SignedIn, theme: string | null): Markup {
  const account = `${who.channel}:${who.userId}`;
  return html`<!doctype html>
<html lang="en"${theme === null ? '' : html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Approvals · Gatehouse</title>
<link rel="icon" href="/signin/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/approvals/assets/approvals.css">
<link rel="stylesheet" href="/approvals/assets/cards.css">
<link rel="modulepreload" href="/approvals/assets/cards.js">
<link rel="modulepreload" href="/approvals/assets/actions.js">
<link rel="modulepreload" href="/approvals/assets/make.js">
<script type="module" src="/approvals/assets/approvals.js"></script>
</head>
<body data-account="${account}">
<header class="bar">
<p class="brand"><img src="/signin/icon.svg" alt="" width="24" height="24"><span>Gatehouse</span></p>
<nav class="pages" aria-label="Pages"><a href="/chat">Chat</a><a href="/approvals" aria-current="page">Approvals<span class="badge" id="count" hidden></span></a></nav>
<p class="link" id="link" data-state="connecting"><span class="dot"></span><span id="link-label" role="status">Connecting</span></p>
<nav class="tools" aria-label="Page">
<button type="button" id="theme" title="Light or dark" aria-label="Light or dark"><svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/></svg></button>
<button type="button" id="leave" title="Sign out (${who.name})" aria-label="Sign out"><svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M14 4H6v16h8"/><path d="M10 12h11"/><path d="m17 8 4 4-4 4"/></svg></button>
</nav>
</header>
<main>
<h1>Waiting for a decision</h1>
<section id="empty" hidden>
<p class="headline">Nothing is waiting.</p>
<p>When an agent wants to use a tool that asks first, it stops and a question appears in its chat and here. Whoever may decide it approves or denies, and the agent goes on from there.</p>
<p>You see what you asked for and what you may decide.</p>
</section>
<div id="pending" aria-label="Waiting for a decision"></div>
<section id="past" hidden>
<h2>Decided</h2>
<div id="decided"></div>
</section>
</main>
<div id="toasts"><div id="problems" role="alert"></div><div id="notices" role="status"></div></div>
<noscript><p class="noscript">This page needs JavaScript from this server. Nothing is loaded from anywhere else.</p></noscript>
</body>
</html>`;
}
