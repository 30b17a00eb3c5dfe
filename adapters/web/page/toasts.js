/** Short notes above the conversation that go by themselves. */

const toastMsMin = 7_000;
/** Longer words take longer to read. */
const msPerChar = 60;

/** `kind`: problem, read out at once, or notice, read out when there is a pause. */
export function toast(text, kind = 'problem') {
  const note = document.createElement('p');
  note.className = `toast ${kind}`;
  note.textContent = text;
  document.getElementById(kind === 'problem' ? 'problems' : 'notices').append(note);
  setTimeout(() => note.remove(), Math.max(toastMsMin, text.length * msPerChar));
}
