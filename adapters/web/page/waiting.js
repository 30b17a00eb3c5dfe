/** How many questions wait for a decision, beside the link to the page of approvals. */

const badge = document.getElementById('waiting');
const pollMs = 30_000;
/** Lines come in bursts. */
const soonMs = 300;

let timer = 0;

async function look() {
  clearTimeout(timer);
  if (document.hidden) return;
  timer = setTimeout(look, pollMs);
  const response = await fetch('/api/v1/approvals?state=pending&limit=100').catch(() => null);
  if (!response?.ok) return;
  const { approvals } = await response.json();
  badge.hidden = approvals.length === 0;
  badge.textContent = approvals.length > 99 ? '99+' : String(approvals.length);
}

/** Something has changed that may be a question or its end. */
export function lookSoon() {
  clearTimeout(timer);
  timer = setTimeout(look, soonMs);
}

document.addEventListener('visibilitychange', look);
