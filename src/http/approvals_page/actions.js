/** What a person can do about a question that waits. What it means, and whether they may, the gateway says. */
import { make } from './make.js';

/** `parts`: the account that looks, and `decide(id, decision)`, which resolves when the page shows what came of it. */
export function actionsOf(view, { account, decide }) {
  const actions = make('div', 'actions');
  async function send(decision) {
    if (actions.getAttribute('aria-busy') === 'true') return;
    setBusy(actions, true);
    await decide(view.id, decision);
    setBusy(actions, false);
  }
  const act = (label, style, decision) => button(label, style, () => send({ decision }));
  const offered = view.question ? answers(view, act, send) : verdicts(view, act, send);
  const mayWithdraw = view.mayWithdraw && (view.requester.account === account || !view.mayDecide);
  if (!view.mayDecide) actions.append(make('p', 'note', 'Somebody else decides this.'));
  else actions.append(...offered.buttons);
  if (mayWithdraw) actions.append(act('Withdraw', 'plain', 'withdraw'));
  if (view.mayDecide) actions.append(offered.form);
  return actions;
}

function verdicts(view, act, send) {
  const form = wordsForm('Reason', 'Deny for this reason', 'deny', (reason) => send({ decision: 'deny', reason }));
  form.hidden = true;
  const why = button('Deny with a reason', 'plain', () => {
    form.hidden = !form.hidden;
    if (!form.hidden) form.querySelector('input').focus();
  });
  const always = {
    any: () => act('Always allow', 'plain', 'always'),
    exact: () => act('Always allow exactly this', 'plain', 'always_exact'),
  }[view.grantable];
  const buttons = [
    act('Approve', 'approve', 'approve'),
    act('Deny', 'deny', 'deny'),
    ...(always ? [always()] : []),
    why,
  ];
  return { buttons, form };
}

function answers(view, act, send) {
  const options = (view.options ?? []).map((answer) =>
    button(answer, 'plain', () => send({ decision: 'answer', answer })),
  );
  const form = wordsForm('Answer', 'Answer', 'approve', (answer) => answer && send({ decision: 'answer', answer }));
  return { buttons: [...options, act('Skip', 'plain', 'skip')], form };
}

function button(label, style, onClick) {
  const made = make('button', `choice ${style}`, label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

function wordsForm(label, submit, style, onSubmit) {
  const input = make('input');
  Object.assign(input, { type: 'text', maxLength: 1_000, placeholder: `${label}, for the agent to read` });
  input.setAttribute('aria-label', label);
  const form = make('form', 'said_back', input, make('button', `choice ${style}`, submit));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onSubmit(input.value.trim());
  });
  return form;
}

/** Not `disabled`: that would take the focus away from whoever presses by keyboard. */
function setBusy(actions, busy) {
  actions.setAttribute('aria-busy', String(busy));
  for (const one of actions.querySelectorAll('button')) one.setAttribute('aria-disabled', String(busy));
}
