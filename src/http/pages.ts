/** The few pages of the server itself. Everything interpolated is escaped by `html`. */
import type { Context } from 'hono';
import { html } from 'hono/html';

type Markup = ReturnType<typeof html>;

export const linkCommand = 'npm run gatehouse -- link';

/** No inline code, nothing from elsewhere, no framing (rule 37, issue 2). */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

export function noticePage(title: string, body: Markup, script?: string): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Gatehouse</title>
<link rel="icon" href="/signin/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/signin/page.css">
${script ? html`<script src="${script}" defer></script>` : ''}
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}

export const howToSignIn = html`<p>This page belongs to the people of this gateway. Sign-in links are made on the machine it runs on:</p>
<pre><code>${linkCommand}</code></pre>
<p>The link works once, for 15 minutes.</p>`;

/** Browsers get a page, programs get JSON. */
export function pleaseSignIn(c: Context): Response | Promise<Response> {
  const wantsPage = c.req.header('accept')?.includes('text/html') ?? false;
  return wantsPage
    ? c.html(noticePage('Please sign in', howToSignIn), 401)
    : c.json({ error: 'Sign in first.', signedOut: true }, 401);
}

/** Opening the link only shows this form: a preview or a prefetch must not use the code up (rule 93). */
export function redeemPage(code: string): Markup {
  return noticePage(
    'Signing you in',
    html`<form method="post" action="/signin"><input type="hidden" name="code" value="${code}"><button>Sign in</button></form>`,
    '/signin/submit.js',
  );
}

export const assets: Readonly<Record<string, { type: string; text: string }>> = {
  '/signin/icon.svg': {
    type: 'image/svg+xml',
    text: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#17695b"/><path d="M8 25V15a8 8 0 0 1 16 0v10" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/><path d="M13 25v-9a3 3 0 0 1 6 0v9" fill="none" stroke="#bfe6dc" stroke-width="2.6" stroke-linecap="round"/></svg>',
  },
  '/signin/submit.js': {
    type: 'text/javascript; charset=utf-8',
    text: "history.replaceState(null, '', '/signin');\ndocument.forms[0].submit();\n",
  },
  '/signin/page.css': {
    type: 'text/css; charset=utf-8',
    text: `:root { color-scheme: light dark; --ink: #23262b; --quiet: #646a73; --paper: #faf9f7; --line: #e3e0da; --accent: #17695b; --on: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7e5e0; --quiet: #9aa0a8; --paper: #17191c; --line: #2e3238; --accent: #6fc7b4; --on: #10211d; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { width: 100%; max-width: 30rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; font-weight: 600; letter-spacing: -.01em; }
p { margin: .75rem 0; color: var(--quiet); }
pre { margin: .75rem 0; padding: .75rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: .6rem; }
code { font: .9rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace; color: var(--ink); }
button { padding: .6rem 1.2rem; border: 0; border-radius: .6rem; background: var(--accent); color: var(--on); font: inherit;
  font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`,
  },
};
