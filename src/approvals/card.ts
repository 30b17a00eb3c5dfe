/**
 * What people see of a batch of questions: Markdown and buttons. Pure. Arguments stand in a code block, so that nothing in
 * them is a link, a mention or a mark (rule 37), with invisible characters as escapes (rule 49). A card is never too long
 * for its platform: arguments are shortened, and Details shows them whole.
 */
import { inCode, literal, visibleText } from '../base/safe_text.ts';
import type { Approval } from '../store/approvals.ts';
import type { AdapterLimits, Features } from '../types/adapter.ts';
import type { Json } from '../types/json.ts';
import type { Question } from '../types/message.ts';
import type { Words } from '../words/index.ts';
import { buttonsOf } from './buttons.ts';

export interface CardFacts {
  card: string;
  approvals: readonly Approval[];
  /** Display names of who has signed so far, by approval id. */
  signed: ReadonlyMap<string, readonly string[]>;
  requesterName: string;
  /** Who else is shown this card; empty = nobody (rule 40). */
  alsoSentTo: readonly string[];
  /** Nobody in this chat may decide, and nobody who may could be shown it (rule 40). */
  unreached: boolean;
  timezone: string;
}

export interface Shown {
  markdown: string;
  question: Question;
  /** Arguments were shortened, and there is no Details button to see them whole. */
  needsFull: boolean;
}

type CardLimits = Pick<AdapterLimits, 'textLength' | 'measure' | 'buttonsPerMessage' | 'buttonsPerRow'>;

/** Room for one text that is not ours, in characters; where a card is too long, there is less for each. */
const roomSteps = [3_000, 1_500, 750, 375, 190, 95, 48, 24, 0] as const;

export function showCard(
  facts: CardFacts,
  words: Words,
  features: Pick<Features, 'buttons'>,
  limits: CardLimits,
): Shown {
  let shown: Shown | undefined;
  for (const room of roomSteps) {
    shown = showWithin(facts, words, features.buttons, limits, room);
    if (limits.measure(shown.markdown) <= limits.textLength) break;
  }
  return shown as Shown;
}

function showWithin(facts: CardFacts, words: Words, withButtons: boolean, limits: CardLimits, room: number): Shown {
  const options = facts.approvals.filter(isOpen).reduce((sum, one) => sum + (one.options?.length ?? 0) + 2, 0);
  // Where not every option has a button, all of them stand in the words.
  const isCrowded = !withButtons || options > limits.buttonsPerMessage;
  const texts = facts.approvals.map((approval) => itemText(facts, approval, words, room, withButtons, isCrowded));
  const markdown = [heading(facts, words), ...texts.map(({ text }) => text), footing(facts, words, room, withButtons)]
    .filter((part) => part !== '')
    .join('\n\n');
  const { card, approvals, alsoSentTo } = facts;
  const isCut = texts.map((text) => text.isCut);
  const buttons = withButtons
    ? buttonsOf({ card, approvals, isCut, mayWithdraw: alsoSentTo.length > 0 }, words, limits)
    : [];
  return {
    markdown,
    question: { card, buttons },
    needsFull: !withButtons && isCut.includes(true),
  };
}

/** The least that is kept of a sentence, a name and a list of names. */
const least = { sentence: 40, name: 32, list: 60 } as const;

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Some of the names and how many more there are, of at most about so many characters. */
function listed(names: readonly string[], most: number): string {
  let length = 0;
  const kept = names.filter((name, index) => {
    length += name.length + 2;
    return index === 0 || length <= most;
  });
  const more = names.length - kept.length;
  return kept.join(', ') + (more > 0 ? `, … (+${more})` : '');
}

const isOpen = ({ state }: Approval) => state === 'pending';

function heading({ approvals }: CardFacts, words: Words): string {
  const { questions } = words;
  const open = approvals.filter(isOpen);
  if (open.length > 1) {
    const calls = open.filter(({ kind }) => kind === 'tool').length;
    const asked = open.length - calls;
    const parts: string[] = [];
    if (calls > 0) parts.push(calls === 1 ? questions.needsApproval : questions.needApproval(calls));
    if (asked > 0) parts.push(asked === 1 ? questions.asks : questions.asksSeveral(asked));
    return `**${parts.join(', ')}**`;
  }
  const [only] = open;
  if (only === undefined || approvals.length > 1) return '';
  return only.kind === 'question'
    ? `**${questions.asks}** \`${only.code}\``
    : `**${questions.needsApproval}** \`${only.code}\``;
}

function footing(
  { approvals, requesterName, alsoSentTo, unreached, timezone }: CardFacts,
  words: Words,
  room: number,
  withButtons: boolean,
): string {
  const { questions } = words;
  const open = approvals.find(isOpen);
  if (!open) return '';
  const listChars = Math.max(room, least.list);
  const name = shorten(requesterName, Math.max(room, least.name));
  const lines = [questions.askedBy(literal(name))];
  const call = approvals.find((one) => isOpen(one) && one.kind === 'tool');
  if (call) lines.push(whoDecides(call, name, words, listChars));
  lines.push(questions.until(timeText(open.expiresAt, timezone)));
  if (unreached) lines.push(questions.unreached);
  // Of several in words each has its code; how to use one is said once.
  if (call && approvals.length > 1 && !withButtons) lines.push(questions.howTo(call.code));
  if (alsoSentTo.length > 0) lines.push(questions.alsoSentTo(listed(alsoSentTo.map(literal), listChars)));
  return lines.join(' ');
}

const approversCharsMax = 1_000;

/** In words, as the card and the console say it. */
export function whoDecides(
  { approvers, dual }: Pick<Approval, 'approvers' | 'dual'>,
  requesterName: string,
  { questions }: Words,
  listChars = approversCharsMax,
): string {
  const { who } = questions;
  if (dual) return who.dual;
  if (approvers === 'requester') return who.requester(literal(requesterName));
  if (approvers === 'admins') return who.admins;
  if (approvers === 'members') return who.members;
  return who.list(
    listed(
      approvers.map((account) => `\`${inCode(account)}\``),
      listChars,
    ),
  );
}

/** Our Markdown without its marks, for where people are shown plain text. */
export function plainText(markdown: string): string {
  return markdown.replace(/(?<!\\)`/g, '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

function itemText(
  facts: CardFacts,
  approval: Approval,
  words: Words,
  room: number,
  withButtons: boolean,
  withOptions: boolean,
): { text: string; isCut: boolean } {
  const { questions } = words;
  const many = facts.approvals.length > 1;
  const mark = many ? `${approval.position + 1}. \`${approval.code}\` ` : '';
  const { lines, isCut } =
    approval.kind === 'question'
      ? questionText(approval, mark, room, withOptions)
      : callText(approval, words, mark, room);
  if (isOpen(approval)) {
    const signed = facts.signed.get(approval.id) ?? [];
    if (signed.length > 0) lines.push(questions.signed(listed(signed.map(literal), Math.max(room, least.list))));
    if (approval.kind === 'question') {
      if (withOptions) lines.push(questions.howToAnswer(approval.code));
    } else if (!withButtons && !many) lines.push(questions.howTo(approval.code));
  } else lines.push(...endText(approval, facts.timezone, words, room));
  return { text: lines.join('\n\n'), isCut };
}

interface ItemText {
  lines: string[];
  isCut: boolean;
}

function questionText(approval: Approval, mark: string, room: number, withOptions: boolean): ItemText {
  const question = shorten(approval.input, Math.max(room, least.sentence));
  const lines = [`${mark}${literal(question)}`];
  let isCut = question !== approval.input;
  const options = isOpen(approval) && withOptions ? (approval.options ?? []) : [];
  if (options.length > 0) {
    const shown = room === 0 ? [] : options.map((option) => shorten(option, room));
    isCut ||= shown.join() !== options.join();
    if (shown.length > 0) lines.push(optionLines(shown));
  }
  return { lines, isCut };
}

/** As a list that people can refer to. */
export function optionLines(options: readonly string[]): string {
  return options.map((option, index) => `${index + 1}. ${literal(option)}`).join('\n');
}

function callText(approval: Approval, { questions }: Words, mark: string, room: number): ItemText {
  const named = (id: string) => inCode(room === 0 ? shorten(id, least.name) : id);
  const { input, message } = approval;
  const renamed = approval.name === approval.tool ? '' : questions.knownAs(named(approval.name));
  const lines = [`${mark}${questions.ofCapability(named(approval.tool), named(approval.capability))}${renamed}`];
  const isShort = input.length <= room;
  if (room > 0) lines.push(codeBlock(isShort ? input : input.slice(0, room).toWellFormed()));
  if (!isShort) lines.push(questions.cut(input.length));
  // As code: platforms make links and commands of plain words, and these are not ours.
  const said = message !== null && room >= least.sentence ? shorten(message, room) : null;
  if (said !== null) lines.push(questions.agentSays(`\`${inCode(said)}\``));
  return { lines, isCut: !isShort || said !== message };
}

function endText(approval: Approval, timezone: string, { questions }: Words, room: number): string[] {
  const when = timeText(approval.decidedAt ?? approval.expiresAt, timezone);
  const { answer, decidedBy } = approval;
  const kept = (text: string) => literal(shorten(text, Math.max(room, least.sentence)));
  const lines: string[] = [];
  if (answer !== null) lines.push(questions.answered(kept(answer)));
  const said = stateText(approval, questions);
  lines.push(decidedBy === null ? questions.ended(said, when) : questions.decided(said, kept(decidedBy), when));
  const reason = reasonText(approval, questions);
  if (reason !== null && room > 0) lines.push(questions.reason(kept(reason)));
  return lines;
}

/** What became of a question that is closed. */
export function stateText(
  { kind, state, answer }: Pick<Approval, 'kind' | 'state' | 'answer'>,
  { state: states, answerState }: Words['questions'],
): string {
  if (kind === 'question' && state === 'approved') return answer === null ? answerState.skipped : answerState.answered;
  return state === 'pending' ? '' : states[state];
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

/** What indents may make of arguments: nested deep, few characters would become millions. */
const indentedCharsMax = 64_000;

/** Arguments as people read them; `secrets` are masked by the caller. */
export function argumentsText(input: Json): string {
  const short = JSON.stringify(input) ?? 'null';
  const isShown = indentedLength(input, 0) <= Math.max(indentedCharsMax, 2 * short.length);
  return visibleText(isShown ? (JSON.stringify(input, null, indentChars) ?? 'null') : short, { keep: 'lines' });
}

const indentChars = 2;

/** About how many characters of blanks and line ends it takes; `input` is of a bounded depth. */
function indentedLength(input: Json, depth: number): number {
  if (typeof input !== 'object' || input === null) return 0;
  const values = Object.values(input);
  const ends = values.length * (1 + indentChars * (depth + 1)) + 1 + indentChars * depth;
  return values.reduce<number>((sum, value) => sum + indentedLength(value, depth + 1), ends);
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
