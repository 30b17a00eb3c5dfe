/** The page: what the person does, and the connection the answers come through. */
import { startChoices } from './choices.js';
import { isAnswering, putLine, putLive, showKnownLines, stay, toEnd } from './lines.js';
import { toast } from './toasts.js';
import { sendMessage, sendNow, startSending } from './unsent.js';
import { lookSoon } from './waiting.js';

const element = (id) => document.getElementById(id);
const words = element('words');
const draft = `gatehouse.draft.${document.body.dataset.account}`;

/** The server pings every 15 s; a connection silent for longer than this is dead. */
const silenceMs = 40_000;
const pauseMsMax = 10_000;
/** After sending, dots are shown until something is heard, but not for ever. */
const expectMs = 10_000;

let after = Number(document.body.dataset.after);
let source = null;
let pauseMs = 500;
let silence = 0;
let reopening = 0;
let signedOut = false;
let status = null;
let expecting = 0;
let unread = 0;

/* The connection */

function connect() {
  clearTimeout(reopening);
  source?.close();
  if (signedOut) return;
  source = new EventSource(`/chat/api/events?after=${after}`);
  source.addEventListener('hello', () => {
    pauseMs = 500;
    showLink('up', 'Connected');
    lookSoon();
    sendNow();
  });
  on('line', (line) => {
    after = Math.max(after, line.seq);
    if (line.who === 'bot') {
      lookSoon();
      expect(false);
      if (document.hidden) document.title = `(${++unread}) Gatehouse`;
    }
    putLine(line);
  });
  on('live', (live) => {
    if (live.answerId) expect(false);
    putLive(live);
  });
  on('status', ({ text }) => {
    status = text;
    if (text) expect(false);
  });
  on('ping', () => {});
  source.addEventListener('error', lost);
  listen();
}

function on(name, handle) {
  source.addEventListener(name, (event) => {
    handle(JSON.parse(event.data));
    listen();
    showActivity();
  });
}

/** Starts the wait for the next sign of life. */
function listen() {
  clearTimeout(silence);
  silence = setTimeout(connect, silenceMs);
}

function lost() {
  showLink('down', 'Reconnecting');
  status = null;
  showActivity();
  // The browser tries again by itself unless the server answered with an error.
  if (source.readyState !== EventSource.CLOSED) return;
  clearTimeout(reopening);
  reopening = setTimeout(async () => {
    const answer = await fetch(`/chat/api/messages?after=${after}`).catch(() => null);
    if (answer?.status === 401) showSignedOut();
    else connect();
  }, pauseMs);
  pauseMs = Math.min(pauseMs * 2, pauseMsMax);
}

function showLink(state, label) {
  element('link').dataset.state = state;
  if (element('link-label').textContent !== label) element('link-label').textContent = label;
}

function showSignedOut() {
  signedOut = true;
  source?.close();
  clearTimeout(silence);
  showLink('out', 'Signed out');
  toast('You are signed out. Open a new sign-in link; what you wrote is kept in this tab.');
}

/* What is going on */

function expect(yes) {
  clearTimeout(expecting);
  expecting = 0;
  if (yes) {
    expecting = setTimeout(() => {
      expecting = 0;
      showActivity();
    }, expectMs);
  }
}

function showActivity() {
  const busy = status !== null || expecting !== 0 || isAnswering();
  element('status').hidden = status === null && expecting === 0;
  const text = status ?? '';
  if (element('status-text').textContent !== text) element('status-text').textContent = text;
  element('stop').hidden = !busy;
  stay();
}

/* Writing */

function fit() {
  words.style.height = 'auto';
  words.style.height = `${words.scrollHeight}px`;
  element('send').disabled = words.value.trim() === '';
  stay();
}

function write(text) {
  words.value = text;
  fit();
  keepDraft();
}

function keepDraft() {
  try {
    sessionStorage.setItem(draft, words.value);
  } catch {
    // Then a reload forgets the draft.
  }
}

function submit(text) {
  if (text.trim() === '') return;
  expect(true);
  sendMessage(text);
  showActivity();
  toEnd();
}

function stop() {
  expect(false);
  sendMessage('', 'stop');
}

element('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = words.value;
  write('');
  submit(text);
  words.focus();
});
words.addEventListener('input', () => {
  fit();
  keepDraft();
});
words.addEventListener('keydown', (event) => {
  // While an input method composes, Enter belongs to it.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  element('composer').requestSubmit();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !element('stop').hidden) {
    event.preventDefault();
    stop();
  } else if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.target.closest('textarea, input')) {
    event.preventDefault();
    words.focus();
  }
});
element('stop').addEventListener('click', () => {
  stop();
  words.focus();
});
element('new').addEventListener('click', () => {
  sendMessage('', 'new');
  words.focus();
});
element('empty').addEventListener('click', (event) => {
  const prompt = event.target.closest('.prompt');
  if (!prompt) return;
  submit(prompt.textContent);
  words.focus();
});

/* The page */

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
  source?.close();
  await fetch('/signout', { method: 'POST' }).catch(() => {});
  location.assign('/signin');
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  unread = 0;
  document.title = 'Gatehouse';
  if (!source || source.readyState === EventSource.CLOSED) connect();
});
window.addEventListener('online', connect);
window.addEventListener('pageshow', (event) => {
  if (event.persisted) connect();
});

showKnownLines();
startChoices({ onSignedOut: showSignedOut });
startSending({
  onSent: (path) => path === 'stop' && expect(false),
  onRefused(text, error) {
    toast(error);
    expect(false);
    showActivity();
    if (words.value === '') write(text);
  },
  onSignedOut: showSignedOut,
});
try {
  write(sessionStorage.getItem(draft) ?? '');
} catch {
  fit();
}
connect();
if (matchMedia('(hover: hover)').matches) words.focus();
