/**
 * What people see of a batch of questions: Markdown and buttons. Pure. Arguments stand in a code block, so that nothing in
 * them is a link, a mention or a mark (rule 37), with invisible characters as escapes (rule 49). A card is never too long
 * for its platform: arguments are shortened, and Details shows them whole.
 */
import { inCode, literal, visibleText } from '../base/safe_text.ts';
import type { Approval } from '../store/approvals.ts';
import type { AdapterLimits, Features } from '../types/adapter.ts';
import type { Button, Question } from '../types/message.ts';
import type { Words } from '../words/index.ts';

export interface CardFacts {
  card: string;
  approvals: readonly Approval[];
  /** Display names of who has signed so far, by approval id. */
  signed: ReadonlyMap<string, readonly string[]>;
  requesterName: string;
  /** Who else is shown this card; empty = nobody (rule 40). */
  alsoSentTo: readonly string[];
  timezone: string;
}

export interface Shown {
  markdown: string;
  question: Question;
  /** Arguments were shortened, and there is no Details button to see them whole. */
  needsFull: boolean;
}

type CardLimits = Pick<AdapterLimits, 'textLength' | 'measure' | 'buttonsPerMessage' | 'buttonsPerRow'>;

const argumentCharsMax = 3_000;
const argumentCharsMin = 60;

export function showCard(
  facts: CardFacts,
  words: Words,
  features: Pick<Features, 'buttons'>,
  limits: CardLimits,
): Shown {
  for (let most = argumentCharsMax; ; most = Math.floor(most / 2)) {
    const texts = facts.approvals.map((approval) => itemText(facts, approval, words, most, features.buttons));
    const markdown = [heading(facts, words), ...texts.map(({ text }) => text), footing(facts, words)]
      .filter((part) => part !== '')
      .join('\n\n');
    if (limits.measure(markdown) > limits.textLength && most > argumentCharsMin) continue;
    const isCut = texts.some((text) => text.isCut);
    return {
      markdown,
      question: { card: facts.card, buttons: features.buttons ? buttonsOf(facts, words, texts, limits) : [] },
      needsFull: isCut && !features.buttons,
    };
  }
}

const isOpen = ({ state }: Approval) => state === 'pending';

function heading({ approvals }: CardFacts, words: Words): string {
  const { questions } = words;
  const open = approvals.filter(isOpen);
  if (open.length > 1) return `**${questions.needApproval(open.length)}**`;
  const [only] = open;
  if (only === undefined || approvals.length > 1) return '';
  return only.kind === 'question'
    ? `**${questions.asks}** \`${only.code}\``
    : `**${questions.needsApproval}** \`${only.code}\``;
}

function footing({ approvals, requesterName, alsoSentTo, timezone }: CardFacts, words: Words): string {
  const { questions } = words;
  const open = approvals.find(isOpen);
  if (!open) return '';
  const lines = [questions.askedBy(literal(requesterName))];
  if (open.kind === 'tool') lines.push(whoDecides(open, requesterName, words));
  lines.push(questions.until(timeText(open.expiresAt, timezone)));
  if (alsoSentTo.length > 0) lines.push(questions.alsoSentTo(alsoSentTo.map(literal).join(', ')));
  return lines.join(' ');
}

/** In words, as the card and the console say it. */
export function whoDecides(
  { approvers, dual }: Pick<Approval, 'approvers' | 'dual'>,
  requesterName: string,
  { questions }: Words,
): string {
  const { who } = questions;
  if (dual) return who.dual;
  if (approvers === 'requester') return who.requester(literal(requesterName));
  if (approvers === 'admins') return who.admins;
  if (approvers === 'members') return who.members;
  return who.list(approvers.map((account) => `\`${inCode(account)}\``).join(', '));
}

/** Our Markdown without its marks, for where people are shown plain text. */
export function plainText(markdown: string): string {
  return markdown.replace(/(?<!\\)`/g, '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

function itemText(
  facts: CardFacts,
  approval: Approval,
  words: Words,
  most: number,
  buttons: boolean,
): { text: string; isCut: boolean } {
  const { questions } = words;
  const lines: string[] = [];
  let isCut = false;
  const many = facts.approvals.length > 1;
  const mark = many ? `${approval.position + 1}. \`${approval.code}\` ` : '';
  if (approval.kind === 'question') {
    lines.push(`${mark}${literal(approval.input)}`);
    if (isOpen(approval) && !buttons)
      lines.push(...(approval.options ?? []).map((option, index) => `${index + 1}. ${literal(option)}`));
  } else {
    const renamed = approval.name === approval.tool ? '' : questions.knownAs(inCode(approval.name));
    lines.push(`${mark}${questions.ofCapability(inCode(approval.tool), inCode(approval.capability))}${renamed}`);
    isCut = approval.input.length > most;
    const shown = isCut ? `${approval.input.slice(0, most)}` : approval.input;
    lines.push(codeBlock(shown));
    if (isCut) lines.push(questions.cut(approval.input.length));
    // As code: platforms make links and commands of plain words, and these are not ours.
    if (approval.message !== null) lines.push(questions.agentSays(`\`${inCode(approval.message)}\``));
  }
  if (isOpen(approval)) {
    const signed = facts.signed.get(approval.id) ?? [];
    if (signed.length > 0) lines.push(questions.signed(signed.map(literal).join(', ')));
    if (!buttons) lines.push((approval.kind === 'question' ? questions.howToAnswer : questions.howTo)(approval.code));
  } else lines.push(...endText(approval, facts.timezone, words));
  return { text: lines.join('\n\n'), isCut };
}

function endText(approval: Approval, timezone: string, { questions }: Words): string[] {
  const state = approval.state as Exclude<Approval['state'], 'pending'>;
  const when = timeText(approval.decidedAt ?? approval.expiresAt, timezone);
  const lines: string[] = [];
  if (approval.kind === 'question' && state === 'approved')
    lines.push(approval.answer === null ? questions.skipped : questions.answered(literal(approval.answer)));
  lines.push(
    approval.decidedBy === null
      ? questions.ended(questions.state[state], when)
      : questions.decided(questions.state[state], literal(approval.decidedBy), when),
  );
  const reason = reasonText(approval, questions);
  if (reason !== null) lines.push(questions.reason(literal(reason)));
  return lines;
}

/** A reason of people as it is, one of ours in words. */
export function reasonText({ state, reason }: Approval, { whyWithdrawn }: Words['questions']): string | null {
  const isOurs = state === 'withdrawn' && reason !== null && Object.hasOwn(whyWithdrawn, reason);
  return isOurs ? whyWithdrawn[reason as keyof typeof whyWithdrawn] : reason;
}

/** With a fence that nothing inside can end. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** Arguments as people read them; `secrets` are masked by the caller. */
export function argumentsText(input: unknown): string {
  return visibleText(JSON.stringify(input, null, 2) ?? 'null', { keep: 'lines' });
}

const times = new Map<string, Intl.DateTimeFormat>();

/** `2026-11-30 10:05 UTC`, in the zone of whoever is spoken to. */
export function timeText(at: number, timezone: string): string {
  let format = times.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
    times.set(timezone, format);
  }
  return `${format.format(at)} ${timezone}`;
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
export type Letter = keyof typeof letters;

const buttonLabelCharsMax = 60;

function buttonsOf(
  { card, approvals, alsoSentTo }: CardFacts,
  { questions }: Words,
  texts: readonly { isCut: boolean }[],
  limits: CardLimits,
): Button[][] {
  const button = (of: Approval, what: string, label: string, style: Button['style']): Button => ({
    data: `${card}.${of.position}.${what}`,
    label,
    style,
  });
  const open = approvals.filter(isOpen);
  const many = approvals.length > 1;
  const rows: Button[][] = [];
  for (const approval of open) {
    const number = many ? ` ${approval.position + 1}` : '';
    if (approval.kind === 'question') {
      for (const [index, option] of (approval.options ?? []).entries())
        rows.push([button(approval, `o${index}`, cutLabel(visibleText(option)), 'plain')]);
      rows.push([button(approval, letters.skip, `${questions.skip}${number}`, 'plain')]);
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
    if (texts[approvals.indexOf(approval)]?.isCut)
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
  if (first && alsoSentTo.length > 0) rows.push([button(first, letters.withdraw, questions.withdraw, 'plain')]);
  return fitRows(rows, limits);
}

const cutLabel = (label: string) =>
  label.length <= buttonLabelCharsMax ? label : `${label.slice(0, buttonLabelCharsMax - 1)}…`;

/** What does not fit a row goes into the next; what does not fit the message is left out from the rows that only add. */
function fitRows(rows: readonly Button[][], { buttonsPerMessage, buttonsPerRow }: CardLimits): Button[][] {
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
