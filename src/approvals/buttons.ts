/** The buttons of a batch of questions. Pure. */
import { visibleText } from '../base/safe_text.ts';
import type { Approval } from '../store/approvals.ts';
import type { AdapterLimits } from '../types/adapter.ts';
import type { Button } from '../types/message.ts';
import type { Words } from '../words/index.ts';

export type ButtonLimits = Pick<AdapterLimits, 'buttonsPerMessage' | 'buttonsPerRow'>;

export interface ButtonFacts {
  /** Its id; the data of each button begins with it. */
  card: string;
  approvals: readonly Approval[];
  /** Not all of a question can be read on the card, by its place there. */
  isCut: readonly boolean[];
  /** Others are shown the question too, so that it may be taken back. */
  mayWithdraw: boolean;
}

/** Letters of a button's data; only this folder makes and reads them. */
export const letters = {
  approve: 'a',
  deny: 'd',
  always: 'w',
  always_exact: 'x',
  details: 'i',
  skip: 's',
  withdraw: 'r',
  approve_all: 'A',
  deny_all: 'D',
} as const;

const buttonLabelCharsMax = 60;

export function buttonsOf(
  { card, approvals, isCut, mayWithdraw }: ButtonFacts,
  { questions }: Words,
  limits: ButtonLimits,
): Button[][] {
  const button = (of: Approval, what: string, label: string, style: Button['style']): Button => ({
    data: `${card}.${of.position}.${what}`,
    label,
    style,
  });
  const open = approvals.filter(({ state }) => state === 'pending');
  const many = approvals.length > 1;
  const rows: Button[][] = [];
  for (const approval of open) {
    const number = many ? ` ${approval.position + 1}` : '';
    if (approval.kind === 'question') {
      for (const [index, option] of (approval.options ?? []).entries())
        rows.push([button(approval, `o${index}`, cutLabel(visibleText(option)), 'plain')]);
      const last = [button(approval, letters.skip, `${questions.skip}${number}`, 'plain')];
      if (isCut[approvals.indexOf(approval)])
        last.push(button(approval, letters.details, `${questions.details}${number}`, 'plain'));
      rows.push(last);
      continue;
    }
    rows.push([
      button(approval, letters.approve, `${questions.approve}${number}`, 'approve'),
      button(approval, letters.deny, `${questions.deny}${number}`, 'deny'),
    ]);
    const more: Button[] = [];
    if (approval.grantable === 'any')
      more.push(button(approval, letters.always, `${questions.always}${number}`, 'plain'));
    if (approval.grantable === 'exact')
      more.push(button(approval, letters.always_exact, `${questions.alwaysExact}${number}`, 'plain'));
    if (isCut[approvals.indexOf(approval)])
      more.push(button(approval, letters.details, `${questions.details}${number}`, 'plain'));
    if (more.length > 0) rows.push(more);
  }
  const calls = open.filter(({ kind }) => kind === 'tool');
  const [first] = calls;
  if (first && calls.length > 1)
    rows.push([
      button(first, letters.approve_all, questions.approveAll, 'approve'),
      button(first, letters.deny_all, questions.denyAll, 'deny'),
    ]);
  if (first && mayWithdraw) rows.push([button(first, letters.withdraw, questions.withdraw, 'plain')]);
  return fitRows(rows, limits);
}

const cutLabel = (label: string) =>
  label.length <= buttonLabelCharsMax ? label : `${label.slice(0, buttonLabelCharsMax - 1)}…`;

/** What does not fit a row goes into the next; what does not fit the message is left out from the rows that only add. */
function fitRows(rows: readonly Button[][], { buttonsPerMessage, buttonsPerRow }: ButtonLimits): Button[][] {
  const fitted: Button[][] = [];
  for (const row of rows)
    for (let from = 0; from < row.length; from += buttonsPerRow) fitted.push(row.slice(from, from + buttonsPerRow));
  const count = () => fitted.reduce((sum, row) => sum + row.length, 0);
  while (count() > buttonsPerMessage) {
    const extra = fitted.findLastIndex((row) => row.every(({ style }) => style === 'plain'));
    fitted.splice(extra < 0 ? fitted.length - 1 : extra, 1);
  }
  return fitted;
}
