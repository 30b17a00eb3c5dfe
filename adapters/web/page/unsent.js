/**
 * Messages on their way: kept until the server has them, sent in order, and sent again with the same id after a lost
 * connection, so that each arrives once.
 */
import { markLine, putWaiting, removeLine } from './lines.js';

const store = `gatehouse.unsent.${document.body.dataset.account}`;
const pauseMsMax = 10_000;

let queue = [];
let busy = false;
let pauseMs = 500;
let timer = 0;
let handlers = { onSent() {}, onRefused() {}, onSignedOut() {} };

function keep() {
  try {
    sessionStorage.setItem(store, JSON.stringify(queue));
  } catch {
    // Private windows may refuse; then a reload forgets what was not sent.
  }
}

/** Takes up what an earlier load of this tab could not send. */
export function startSending(given) {
  handlers = given;
  try {
    queue = JSON.parse(sessionStorage.getItem(store) ?? '[]');
  } catch {
    queue = [];
  }
  for (const { id, path, text } of queue) if (path === 'messages') putWaiting(id, text);
  work();
}

/** `path`: messages, stop or new. */
export function sendMessage(text, path = 'messages') {
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const message = { id, text, path };
  // A stop must not wait behind a message that cannot be sent.
  if (path === 'stop') return void attempt(message);
  queue.push(message);
  keep();
  if (path === 'messages') putWaiting(id, text);
  work();
}

/** The connection is back: no reason to wait any longer. */
export function sendNow() {
  clearTimeout(timer);
  timer = 0;
  pauseMs = 500;
  work();
}

async function work() {
  if (busy || timer !== 0) return;
  busy = true;
  while (queue.length > 0) {
    const message = queue[0];
    const outcome = await attempt(message);
    if (outcome === 'later') {
      markLine(message.id, 'retrying');
      timer = setTimeout(() => {
        timer = 0;
        work();
      }, pauseMs);
      pauseMs = Math.min(pauseMs * 2, pauseMsMax);
      break;
    }
    if (outcome === 'out') break;
    pauseMs = 500;
    queue.shift();
    keep();
  }
  busy = false;
}

/** Resolves to done, later or out (the session is over; what is unsent stays). */
async function attempt({ id, text, path }) {
  let response;
  try {
    response = await fetch(`/chat/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id, text }),
    });
  } catch {
    return 'later';
  }
  if (response.ok) {
    markLine(id, 'sent');
    handlers.onSent(path);
    return 'done';
  }
  const { error } = await response.json().catch(() => ({}));
  if (response.status === 401) {
    handlers.onSignedOut();
    return 'out';
  }
  if (response.status >= 500 || response.status === 429) return 'later';
  removeLine(id);
  handlers.onRefused(text, error ?? `The gateway refused this (${response.status}).`);
  return 'done';
}
