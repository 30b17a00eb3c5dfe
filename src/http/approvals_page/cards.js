/**
 * The questions as cards. Whatever somebody else wrote is put in as text, never as markup. A card that is decided stays
 * where it is until the page is loaded again: nothing below it may move under a finger that is about to press.
 */

import { actionsOf } from './actions.js';
import { make } from './make.js';

const minuteMs = 60_000;
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', minuteMs],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

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
  return relative.format(ms < 0 ? Math.trunc(ms / size) : Math.round(ms / size), unit);
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
    // Decided between the two answers: the next one tells how.
    if (view) card.classList.add('closed');
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
  const written = known.querySelector('.said_back:not([hidden]) input')?.value;
  const focused = known.contains(document.activeElement) ? document.activeElement : null;
  known.replaceWith(card);
  const form = card.querySelector('.said_back');
  if (written !== undefined && form) {
    form.hidden = false;
    form.querySelector('input').value = written;
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
  const card = make(
    'article',
    'card',
    heading(view),
    about(view),
    ...asked(view, true),
    view.question ? null : deciders(view),
  );
  card.append(actionsOf(view, parts));
  card.setAttribute('aria-label', `${view.tool} of ${view.agent}`);
  return card;
}

function closedCard(view) {
  const more = make('details', '', make('summary', '', 'What was asked'), ...asked(view, false));
  return make('article', 'card closed', heading(view), make('p', 'outcome', ...outcomeOf(view)), about(view), more);
}

function heading(view) {
  if (view.question) return make('h3', '', make('span', 'capability', 'a question of the agent'));
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
  if (view.question) return [make('p', 'asks', view.input)];
  const input = make('pre', 'arguments', view.input);
  input.tabIndex = 0;
  input.setAttribute('aria-label', 'Arguments');
  const said = view.message
    ? make('blockquote', 'said', make('span', 'by', "In the agent's own words"), make('p', '', view.message))
    : null;
  return [isOpen ? make('p', 'label', 'Arguments') : null, input, said].filter(Boolean);
}

function deciders({ approvers, signatures }) {
  const line = make('p', 'deciders', approvers);
  for (const { name, account, at } of signatures) {
    line.append(make('span', 'signed', `approved by ${name || account} `, timeOf(at)));
  }
  return line;
}

function outcomeOf({ state, decidedBy, decidedAt, reason, question, answer }) {
  const answered = answer === null ? 'skipped' : 'answered';
  const said = question && state === 'approved' ? answered : state;
  return [
    make('b', `state ${state}`, said),
    decidedBy ? ` by ${decidedBy} ` : ' ',
    decidedAt ? timeOf(decidedAt) : null,
    (reason ?? answer) ? make('q', 'why', reason ?? answer) : null,
  ].filter(Boolean);
}
