/** The page of approvals: asks the gateway what there is, shows it, and sends decisions. */
import { showDecided, showPending, tellTimes } from './cards.js';

const element = (id) => document.getElementById(id);
const pollMs = 5_000;
const decidedShown = 30;
const pendingShown = 200;
const toastMsMin = 7_000;
const msPerChar = 60;

let timer = 0;
let signedOut = false;
/** Answers of the server come in any order; an older one than what is shown is dropped. */
let asked = 0;
let shown = 0;

/* What there is */

async function refresh() {
  clearTimeout(timer);
  if (signedOut || document.hidden) return;
  const turn = ++asked;
  const [pending, decided] = await Promise.all([
    read(`state=pending&limit=${pendingShown}`),
    read(`state=decided&limit=${decidedShown}`),
  ]);
  if (turn < shown) return;
  shown = turn;
  clearTimeout(timer);
  if (!signedOut) timer = setTimeout(refresh, pollMs);
  if (!pending || !decided) return;
  showLink('up', 'Live');
  showPending(element('pending'), pending, decided, { account: document.body.dataset.account, decide });
  const inPlace = new Set([...element('pending').children].map(({ dataset }) => dataset.id));
  const past = decided.filter(({ id }) => !inPlace.has(id)).sort((a, b) => b.decidedAt - a.decidedAt);
  showDecided(element('decided'), past);
  element('past').hidden = past.length === 0;
  element('empty').hidden = inPlace.size > 0;
  element('count').hidden = pending.length === 0;
  element('count').textContent = String(pending.length);
  document.title = `${pending.length > 0 ? `(${pending.length}) ` : ''}Approvals · Gatehouse`;
  tellTimes();
}

/** Null when there was no good answer. */
async function read(query) {
  const response = await fetch(`/api/v1/approvals?${query}`).catch(() => null);
  if (response?.status === 401) showSignedOut();
  else if (!response?.ok) showLink('down', 'Reconnecting');
  return response?.ok ? (await response.json()).approvals : null;
}

/* Deciding */

/** Resolves when the gateway has answered and the page shows what came of it. */
async function decide(id, decision) {
  const response = await fetch(`/api/v1/approvals/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(decision),
  }).catch(() => null);
  const { error, state, notice } = (await response?.json().catch(() => null)) ?? {};
  if (response?.status === 401) showSignedOut();
  else if (!response) toast('The gateway cannot be reached. Nothing is decided; try again.');
  else if (!response.ok) toast(error ?? `The gateway refused this (${response.status}).`);
  else if (state === 'pending') toast(notice, 'notice');
  await refresh();
}

/* The page */

function showLink(state, label) {
  element('link').dataset.state = state;
  if (element('link-label').textContent !== label) element('link-label').textContent = label;
}

function showSignedOut() {
  if (signedOut) return;
  signedOut = true;
  showLink('out', 'Signed out');
  toast('You are signed out. Open a new sign-in link.');
}

function toast(text, kind = 'problem') {
  const note = document.createElement('p');
  note.className = `toast ${kind}`;
  note.textContent = text;
  element(kind === 'problem' ? 'problems' : 'notices').append(note);
  setTimeout(() => note.remove(), Math.max(toastMsMin, text.length * msPerChar));
}

element('theme').addEventListener('click', () => {
  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark;
  const chosen = dark ? 'light' : 'dark';
  root.dataset.theme = chosen;
  // What the system says anyway is not kept, so that the page goes on following it.
  const ageS = (chosen === 'dark') === prefersDark ? 0 : 31_536_000;
  // biome-ignore lint/suspicious/noDocumentCookie: the server needs it to paint the first frame in the right colours
  document.cookie = `gatehouse_theme=${chosen}; path=/; max-age=${ageS}; samesite=lax`;
});
element('leave').addEventListener('click', async () => {
  signedOut = true;
  await fetch('/signout', { method: 'POST' }).catch(() => {});
  location.assign('/signin');
});
document.addEventListener('visibilitychange', refresh);
window.addEventListener('online', refresh);
window.addEventListener('pageshow', (event) => event.persisted && refresh());
refresh();
