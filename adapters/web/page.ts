/** The page itself. No inline script or style (CSP); everything from outside is escaped. */
import { escapeHtml } from './render.ts';

export interface PageParts {
  name: string;
  account: string;
  theme: string | null;
  /** The journal position these lines reach to. */
  after: number;
  /** Rendered lines, in order. */
  lines: string[];
  /** There are older lines than the ones shown. */
  cut: boolean;
}

const prompts = ['What can you do?', 'Which tools do you have?', '/help', '/status'];

const icon = (path: string) =>
  `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`;

const icons = {
  compose: icon('<path d="M12 20h8"/><path d="M16.5 3.9a2 2 0 0 1 2.8 2.8L7.5 18.5 3.5 20l1.5-4z"/>'),
  theme: icon('<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>'),
  leave: icon('<path d="M14 4H6v16h8"/><path d="M10 12h11"/><path d="m17 8 4 4-4 4"/>'),
  send: icon('<path d="M12 20V5"/><path d="m5.5 11.5 6.5-6.5 6.5 6.5"/>'),
  stop: icon('<rect x="7" y="7" width="10" height="10" rx="2" fill="currentColor" stroke="none"/>'),
  down: icon('<path d="M12 5v14"/><path d="m6 13 6 6 6-6"/>'),
};

export function pageHtml({ name, account, theme, after, lines, cut }: PageParts): string {
  const chosen = theme ? ` data-theme="${escapeHtml(theme)}"` : '';
  const choices = prompts.map((text) => `<button type="button" class="prompt">${escapeHtml(text)}</button>`).join('');
  return `<!doctype html>
<html lang="en"${chosen}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Gatehouse</title>
<link rel="icon" href="/chat/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/chat/assets/chat.css">
<link rel="stylesheet" href="/chat/assets/bar.css">
<link rel="stylesheet" href="/chat/assets/lines.css">
<link rel="stylesheet" href="/chat/assets/choices.css">
<link rel="modulepreload" href="/chat/assets/choices.js">
<link rel="modulepreload" href="/chat/assets/lines.js">
<link rel="modulepreload" href="/chat/assets/toasts.js">
<link rel="modulepreload" href="/chat/assets/waiting.js">
<link rel="modulepreload" href="/chat/assets/unsent.js">
<script type="module" src="/chat/assets/chat.js"></script>
</head>
<body data-after="${after}" data-account="${escapeHtml(account)}">
<header class="bar">
<h1 class="brand"><img src="/chat/assets/icon.svg" alt="" width="24" height="24"><span>Gatehouse</span></h1>
<nav class="pages" aria-label="Pages"><a href="/chat" aria-current="page">Chat</a><a href="/approvals">Approvals<span class="badge" id="waiting" hidden></span></a></nav>
<p class="link" id="link" data-state="connecting"><span class="dot"></span><span id="link-label" role="status">Connecting</span></p>
<nav class="tools" aria-label="Page">
<button type="button" id="new" title="New conversation">${icons.compose}<span class="label">New</span></button>
<button type="button" id="theme" title="Light or dark" aria-label="Light or dark">${icons.theme}</button>
<button type="button" id="leave" title="Sign out (${escapeHtml(name)})" aria-label="Sign out">${icons.leave}</button>
</nav>
</header>
<main id="scroll">
<section id="empty"${lines.length > 0 ? ' hidden' : ''}>
<img src="/chat/assets/icon.svg" alt="" width="56" height="56">
<h2>What can I do for you?</h2>
<p>Ask in your own words, or begin with one of these.</p>
<div class="prompts">${choices}</div>
</section>
<div id="log" role="log" aria-live="polite" aria-relevant="additions" aria-label="Conversation">
${cut ? '<p class="cut">Earlier messages are not shown here.</p>\n' : ''}${lines.join('\n')}
</div>
<p id="status" hidden><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span><span id="status-text" role="status"></span></p>
</main>
<footer class="dock">
<button type="button" id="jump" hidden>${icons.down}<span>Jump to latest</span></button>
<form id="composer" class="composer">
<textarea id="words" rows="1" aria-label="Message" placeholder="Write a message" autocomplete="off" enterkeyhint="send"></textarea>
<button type="button" id="stop" title="Stop (Esc)" aria-label="Stop" hidden>${icons.stop}</button>
<button type="submit" id="send" title="Send (Enter)" aria-label="Send" disabled>${icons.send}</button>
</form>
<p class="hint"><span><kbd>Enter</kbd> send</span><span><kbd>Shift</kbd> <kbd>Enter</kbd> new line</span><span><kbd>Esc</kbd> stop</span><span><kbd>/help</kbd> commands</span></p>
</footer>
<div id="toasts"><div id="problems" role="alert"></div><div id="notices" role="status"></div></div>
<noscript><p class="noscript">The chat needs JavaScript from this server. Nothing is loaded from anywhere else.</p></noscript>
</body>
</html>
`;
}
