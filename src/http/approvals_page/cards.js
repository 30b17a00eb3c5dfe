/**
 * The questions as cards. Whatever somebody else wrote is put in as text, never as markup. A card that is decided stays
 * where it is until the page is loaded again: nothing below it may move under a finger that is about to press.
 */

const minuteMs = 60_000;
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', minuteMs],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** An element with classes, words and children. */
function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function timeOf(at) {
  const time = make('time');
  time.dateTime = new Date(at).toISOString();
  time.title = new Date(at).toLocaleString();
  time.dataset.at = String(at);
  time.textContent = ago(at);
  return time;
}

function ago(at) {
  const ms = at - Date.now();
  if (Math.abs(ms) < minuteMs) return ms < 0 ? 'just now' : 'in less than a minute';
  const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one);
  return relative.format(Math.trunc(ms / size), unit);
}

/** Ages grow while nothing else changes. */
export function tellTimes() {
  for (const time of document.querySelectorAll('time[data-at]')) time.textContent = ago(Number(time.dataset.at));
}

/** Oldest first; new ones come at the end. `decided` tells what became of cards that are pending no more. */
export function showPending(list, pending, decided, parts) {
  const open = [...pending].sort((a, b) => a.createdAt - b.createdAt);
  for (const view of open) put(list, view, () => openCard(view, parts));
  const ids = new Set(open.map(({ id }) => id));
  const outcomes = new Map(decided.map((view) => [view.id, view]));
  for (const card of list.children) {
    if (ids.has(card.dataset.id) || card.matches('.closed')) continue;
    const view = outcomes.get(card.dataset.id);
    const outcome = make('p', 'outcome', ...(view ? outcomeOf(view) : ['Decided']));
    outcome.setAttribute('role', 'status');
    const actions = card.querySelector('.actions');
    const focused = actions.contains(document.activeElement);
    actions.replaceChildren(outcome);
    card.classList.add('closed');
    if (focused) takeFocus(card, actions);
  }
}

/** Newest first. */
export function showDecided(list, decided) {
  const ids = new Set(decided.map(({ id }) => id));
  for (const card of [...list.children]) if (!ids.has(card.dataset.id)) card.remove();
  for (const view of decided) put(list, view, () => closedCard(view));
  for (const view of decided) list.append(find(list, view.id));
}

const find = (list, id) => list.querySelector(`:scope > [data-id="${CSS.escape(id)}"]`);

/** Builds a card anew only when something about it has changed: what is being read or typed stays. */
function put(list, view, build) {
  const version = JSON.stringify(view);
  const known = find(list, view.id);
  if (known?.dataset.version === version) return;
  const card = build();
  Object.assign(card.dataset, { id: view.id, version });
  if (!known) return void list.append(card);
  const written = known.querySelector('.reason:not([hidden]) input')?.value;
  const focused = known.contains(document.activeElement) ? document.activeElement : null;
  known.replaceWith(card);
  const reason = card.querySelector('.reason');
  if (written !== undefined && reason) {
    reason.hidden = false;
    reason.querySelector('input').value = written;
  }
  if (focused) takeFocus(card, focused);
}

/** Whoever was at a button or the reason by keyboard stays there, or with the card when that is gone. */
function takeFocus(card, focused) {
  const same = [...card.querySelectorAll('button, input')].find(
    ({ tagName, textContent }) => tagName === focused.tagName && textContent === focused.textContent,
  );
  if (!same) card.tabIndex = -1;
  (same ?? card).focus({ preventScroll: true });
}

function openCard(view, parts) {
  const card = make('article', 'card', heading(view), about(view), ...asked(view, true), deciders(view));
  card.append(actionsOf(view, parts));
  card.setAttribute('aria-label', `${view.tool} of ${view.agent}`);
  return card;
}

function closedCard(view) {
  const more = make('details', '', make('summary', '', 'What was asked'), ...asked(view, false));
  return make('article', 'card closed', heading(view), make('p', 'outcome', ...outcomeOf(view)), about(view), more);
}

function heading(view) {
  const tool = make('code', 'tool', view.tool);
  const from = make('span', 'capability', view.capability);
  const renamed = view.name === view.tool ? null : make('span', 'renamed', `the agent calls it ${view.name}`);
  return make('h3', '', tool, from, renamed);
}

function about(view) {
  const who = make('span', 'who', view.requester.name || view.requester.account);
  who.title = view.requester.account;
  const parts = ['Agent ', make('b', '', view.agent), ', asked by ', who, ' in ', make('span', 'place', placeOf(view))];
  const age = make('span', '', timeOf(view.createdAt));
  const end = view.state === 'pending' ? make('span', '', 'expires ', timeOf(view.expiresAt)) : null;
  return make('p', 'about', make('span', '', ...parts), age, end, make('span', 'code', view.code));
}

const placeOf = ({ place }) =>
  typeof place === 'string' ? place : [place.channel, place.chat, place.thread].filter(Boolean).join(' / ');

/** The call as it would run, and below it the agent's own words, marked as such (rule 49). */
function asked(view, isOpen) {
  const input = make('pre', 'arguments', view.arguments);
  input.tabIndex = 0;
  input.setAttribute('aria-label', 'Arguments');
  const said = view.message
    ? make('blockquote', 'said', make('span', 'by', "In the agent's own words"), make('p', '', view.message))
    : null;
  return [isOpen ? make('p', 'label', 'Arguments') : null, input, said].filter(Boolean);
}

function deciders({ approvers, dual, requester, signatures }) {
  const who = {
    requester: `${requester.name || requester.account}, who asked`,
    admins: 'an admin',
    members: 'anybody in the chat',
  };
  const one = Array.isArray(approvers) ? approvers.join(', ') : (who[approvers] ?? String(approvers));
  const line = make(
    'p',
    'deciders',
    dual ? `Two people must approve, one of them an admin: ${one}` : `Decides: ${one}`,
  );
  for (const { name, account, at } of signatures) {
    line.append(make('span', 'signed', `approved by ${name || account} `, timeOf(at)));
  }
  return line;
}

function outcomeOf({ state, decidedBy, decidedAt, reason }) {
  const by = decidedBy ? ` by ${decidedBy} ` : ' ';
  return [
    make('b', `state ${state}`, state),
    by,
    decidedAt ? timeOf(decidedAt) : null,
    reason ? make('q', 'why', reason) : null,
  ].filter(Boolean);
}

function actionsOf(view, { account, decide }) {
  const actions = make('div', 'actions');
  const act = (label, style, decision) => {
    const button = make('button', `choice ${style}`, label);
    button.type = 'button';
    button.addEventListener('click', () => send(decision));
    return button;
  };
  async function send(decision, reason) {
    if (actions.getAttribute('aria-busy') === 'true') return;
    setBusy(actions, true);
    await decide(view.id, decision, reason);
    setBusy(actions, false);
  }
  const mayWithdraw = view.requester.account === account;
  if (view.question) actions.append(make('p', 'note', 'The agent asks its person; the answer is given in the chat.'));
  else if (view.mayDecide) {
    const reason = reasonForm((text) => send('deny', text));
    const why = make('button', 'choice plain', 'Deny with a reason');
    why.type = 'button';
    why.addEventListener('click', () => {
      reason.hidden = !reason.hidden;
      if (!reason.hidden) reason.querySelector('input').focus();
    });
    const always = { any: ['Always allow', 'always'], exact: ['Always allow exactly this', 'always_exact'] }[
      view.grantable
    ];
    actions.append(
      act('Approve', 'approve', 'approve'),
      act('Deny', 'deny', 'deny'),
      ...(always ? [act(always[0], 'plain', always[1])] : []),
      why,
      ...(mayWithdraw ? [act('Withdraw', 'plain', 'withdraw')] : []),
      reason,
    );
    return actions;
  } else actions.append(make('p', 'note', 'Somebody else decides this.'));
  if (mayWithdraw) actions.append(act('Withdraw', 'plain', 'withdraw'));
  return actions;
}

function reasonForm(onSubmit) {
  const input = make('input');
  Object.assign(input, { type: 'text', maxLength: 1_000, placeholder: 'Reason, for the agent to read' });
  input.setAttribute('aria-label', 'Reason');
  const send = make('button', 'choice deny', 'Deny for this reason');
  const form = make('form', 'reason', input, send);
  form.hidden = true;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onSubmit(input.value.trim());
  });
  return form;
}

/** Not `disabled`: that would take the focus away from whoever presses by keyboard. */
function setBusy(actions, busy) {
  actions.setAttribute('aria-busy', String(busy));
  for (const button of actions.querySelectorAll('button')) button.setAttribute('aria-disabled', String(busy));
}
