/** The lines on the screen: their order, the growing answer, times, and staying at the end. */

const log = document.getElementById('log');
const scroll = document.getElementById('scroll');
const jump = document.getElementById('jump');
const empty = document.getElementById('empty');

/** Nearer to the end than this counts as reading the newest. */
const nearEndPx = 90;
/** How long a growing answer that was taken away stays, so that its line can take its place without a flicker. */
const farewellMs = 1_500;

/** Between the top of the screen and the divider of a new conversation. */
const fenceGapPx = 8;

let live = null;
let farewell = 0;
let following = true;

const find = (key) => log.querySelector(`[data-key="${CSS.escape(key)}"]`);

/** The server made this HTML and escaped every word in it. */
function elementOf(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/** Puts a line where its time says; a line that is known changes in its place. */
export function putLine({ html }) {
  const line = elementOf(html);
  const known = find(line.dataset.key);
  setTime(line);
  const bubble = live && (live.dataset.answer === line.dataset.answer || (farewell !== 0 && line.matches('.bot')));
  if (known) replace(known, line);
  else if (bubble) live.replaceWith(line);
  else {
    line.classList.add('fresh');
    insert(line);
  }
  if (bubble) {
    if (known) live.remove();
    dropFarewell();
    live = null;
  }
  settle();
}

/** Whoever was at a button of the line by keyboard stays there, or with the line when the button is gone. */
function replace(known, line) {
  const focused = known.contains(document.activeElement) ? document.activeElement : null;
  known.replaceWith(line);
  if (!focused) return;
  const { press } = focused.dataset;
  const same = press ? line.querySelector(`[data-press="${CSS.escape(press)}"]`) : null;
  if (!same) line.tabIndex = -1;
  (same ?? line).focus({ preventScroll: true });
}

/** The person's own line, before the server has it. */
export function putWaiting(id, text) {
  const line = document.createElement('article');
  line.className = 'line me waiting fresh';
  Object.assign(line.dataset, { key: `u:${id}`, at: String(Date.now()) });
  const speaker = document.createElement('h2');
  speaker.className = 'unseen';
  speaker.textContent = 'You';
  const words = document.createElement('div');
  words.className = 'words';
  words.textContent = text;
  line.append(speaker, words, document.createElement('footer'));
  const existing = find(line.dataset.key);
  if (existing) return;
  insert(line, true);
  settle();
  toEnd();
}

/** `state`: waiting, retrying, refused or sent. A line that came from the server is sent. */
export function markLine(id, state) {
  const line = find(`u:${id}`);
  if (!line) return;
  line.classList.remove('waiting', 'retrying', 'refused');
  if (state !== 'sent' && !line.dataset.seq) line.classList.add(state);
}

export function removeLine(id) {
  const line = find(`u:${id}`);
  if (line && !line.dataset.seq) line.remove();
  settle();
}

/** Shows the answer as far as it has come; `answerId` null takes it away. */
export function putLive({ answerId, html, startedAt }) {
  if (!answerId) {
    if (live && farewell === 0) {
      farewell = setTimeout(() => {
        live?.remove();
        live = null;
        dropFarewell();
        settle();
      }, farewellMs);
    }
    return;
  }
  dropFarewell();
  if (live && live.dataset.answer !== answerId) {
    live.remove();
    live = null;
  }
  if (!live) {
    live = elementOf(
      '<article class="line bot live fresh" aria-live="off" aria-busy="true"><div class="prose"></div></article>',
    );
    Object.assign(live.dataset, { answer: answerId, at: String(startedAt) });
    insert(live);
  }
  morph(live.firstElementChild, html);
  settle();
}

export const isAnswering = () => live !== null && farewell === 0;

function dropFarewell() {
  clearTimeout(farewell);
  farewell = 0;
}

/** Replaces only the blocks that changed: what is read or selected above stays as it is. */
function morph(target, html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  const wanted = [...template.content.childNodes];
  let same = 0;
  while (same < wanted.length && target.childNodes[same]?.isEqualNode(wanted[same])) same++;
  while (target.childNodes.length > same) target.lastChild.remove();
  target.append(...wanted.slice(same));
}

/** `last`: at the end whatever the clocks say. */
function insert(line, last = false) {
  const lines = log.querySelectorAll('.line');
  let before = null;
  if (!last) {
    for (let i = lines.length - 1; i >= 0 && isLater(lines[i], line); i--) before = lines[i];
  }
  log.insertBefore(line, before);
  empty.hidden = true;
}

/** A line the server does not have yet comes after all that it has. */
function isLater(shown, line) {
  return !shown.dataset.seq && !shown.matches('.live') ? true : Number(shown.dataset.at) > Number(line.dataset.at);
}

/** Days between lines, and the end in view if the reader was there. */
function settle() {
  let day = '';
  for (const line of log.querySelectorAll('.line')) {
    const own = dayOf(Number(line.dataset.at));
    if (own !== day && own !== 'Today') line.dataset.day = own;
    else if (own !== day && day !== '') line.dataset.day = own;
    else line.removeAttribute('data-day');
    day = own;
  }
  clearBelowFence();
  if (following) toEnd();
  else jump.hidden = false;
}

/** A new conversation begins on an empty screen: room below its divider until lines fill it. */
function clearBelowFence() {
  const fence = [...log.querySelectorAll('.line.fence')].at(-1);
  if (!fence) return;
  // Measured with more room than is needed: a page that is not full would not tell how much it lacks.
  const room = scroll.clientHeight;
  log.style.paddingBottom = `${room}px`;
  const top = fence.getBoundingClientRect().top - scroll.getBoundingClientRect().top + scroll.scrollTop;
  const surplus = fenceGapPx - (top - (scroll.scrollHeight - scroll.clientHeight));
  log.style.paddingBottom = `${Math.max(0, Math.floor(room - surplus))}px`;
}

function dayOf(at) {
  const date = new Date(at);
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at >= midnight) return 'Today';
  if (at >= midnight - 86_400_000) return 'Yesterday';
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long', year });
}

function setTime(line) {
  const time = line.querySelector('time');
  if (!time) return;
  const date = new Date(time.dateTime);
  time.textContent = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  time.title = date.toLocaleString();
}

export function toEnd() {
  following = true;
  jump.hidden = true;
  scroll.scrollTop = scroll.scrollHeight;
}

/** Keeps the end in view when what is below it changes (status, keyboard, window). */
export function stay() {
  if (!following) return;
  clearBelowFence();
  toEnd();
}

export function showKnownLines() {
  for (const line of log.querySelectorAll('.line')) setTime(line);
  settle();
  toEnd();
}

scroll.addEventListener(
  'scroll',
  () => {
    following = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < nearEndPx;
    if (following) jump.hidden = true;
  },
  { passive: true },
);
jump.addEventListener('click', toEnd);
new ResizeObserver(stay).observe(scroll);

log.addEventListener('click', async (event) => {
  const button = event.target.closest('.copy');
  if (!button) return;
  const code = button.closest('figure').querySelector('code');
  const copied = await copy(code);
  button.textContent = copied ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1_500);
});

/** Without https or localhost there is no clipboard for pages: the code is selected instead. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return false;
  }
}
