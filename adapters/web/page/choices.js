/**
 * Buttons below a question. A press is sent until the gateway has it, always with the same id, so that it counts once;
 * what it meant is for the gateway to say. The buttons go when the line comes back without them.
 */
import { toast } from './toasts.js';

const log = document.getElementById('log');
const pausesMs = [500, 1_500, 4_000];
/** The changed line comes about when the answer does: so long the buttons stay as they are. */
const settleMs = 600;

/** Lines with a press under way. */
const pressing = new Set();

const newId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const choicesOf = (ref) => log.querySelector(`.choices[data-ref="${CSS.escape(ref)}"]`);

function mark(ref) {
  const choices = choicesOf(ref);
  if (!choices) return;
  const busy = pressing.has(ref);
  choices.classList.toggle('busy', busy);
  choices.setAttribute('aria-busy', String(busy));
  // Not `disabled`: that would take the focus away from whoever pressed by keyboard.
  for (const button of choices.querySelectorAll('.choice')) button.setAttribute('aria-disabled', String(busy));
}

/** `onSignedOut`: the session is over and nothing was decided. */
export function startChoices({ onSignedOut }) {
  log.addEventListener('click', async (event) => {
    const button = event.target.closest('.choice');
    if (!button) return;
    const { ref } = button.closest('.choices').dataset;
    const { press: data } = button.dataset;
    if (pressing.has(ref)) return;
    pressing.add(ref);
    button.classList.add('pressed');
    mark(ref);
    const { notice, problem, signedOut } = await send(ref, data);
    if (signedOut) onSignedOut();
    if (notice) toast(notice, 'notice');
    if (problem) toast(problem);
    setTimeout(
      () => {
        pressing.delete(ref);
        for (const known of choicesOf(ref)?.querySelectorAll('.pressed') ?? []) known.classList.remove('pressed');
        mark(ref);
      },
      problem ? 0 : settleMs,
    );
  });
  // A line that changes while a press is under way.
  new MutationObserver(() => {
    for (const ref of pressing) mark(ref);
  }).observe(log, { childList: true });
}

async function send(ref, data) {
  const id = newId();
  for (let tries = 0; ; tries++) {
    const response = await fetch('/chat/api/presses', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id, ref, data }),
    }).catch(() => null);
    const { notice, error } = (await response?.json().catch(() => null)) ?? {};
    if (response?.ok) return { notice };
    if (response?.status === 401) return { signedOut: true };
    const hopeless = response && response.status < 500 && response.status !== 429;
    if (hopeless || tries === pausesMs.length)
      return { problem: error ?? 'The gateway cannot be reached. Nothing is decided; press again.' };
    await new Promise((resolve) => setTimeout(resolve, pausesMs[tries]));
  }
}
