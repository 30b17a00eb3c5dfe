/**
 * A pressed button (rules 46 to 48). Adapters only report who pressed what where; everything is checked here, and whoever
 * may not is told so alone.
 */
import { literal } from '../base/safe_text.ts';
import { findAccountNamed } from '../store/accounts.ts';
import { readBatch } from '../store/approvals.ts';
import { bindCard, type Card, readCard } from '../store/cards.ts';
import { currentId } from '../store/chats.ts';
import type { Query, Transaction } from '../store/db.ts';
import type { Actor } from '../types/approval.ts';
import type { Decision } from '../types/message.ts';
import type { Words } from '../words/index.ts';
import { letters } from './buttons.ts';
import { plainText, stateText, whoDecides } from './card.ts';
import { sendDetails } from './close.ts';
import { type Decided, type Deciding, decideApproval, decideTogether } from './decide.ts';
import type { ApprovalParts } from './parts.ts';
import { isRequester, mayDecide } from './rule.ts';

const dataPattern = /^([a-z0-9]{10,40})\.(\d{1,2})\.([A-Za-z]|o\d{1,2})$/;

function readData(data: string): { card: string; position: number; what: string } | null {
  const match = dataPattern.exec(data);
  return match && { card: match[1]!, position: Number(match[2]), what: match[3]! };
}

/** Whether deciding what this button belongs to needs to know who stands in the chat; and which chat that is. */
export async function membershipNeeded(q: Query, data: string): Promise<{ channel: string; chat: string } | null> {
  const read = readData(data);
  const card = read && (await readCard(q, read.card));
  const [first] = card ? await readBatch(q, card.batch) : [];
  return first?.approvers === 'members' && first.state === 'pending' && !first.direct ? first.place : null;
}

/** What the presser is told alone, in plain text; null = nothing, the card shows it. */
export async function pressButton(
  ...[q, parts, channel, press, actor, words, now]: Parameters<typeof pressed>
): Promise<string | null> {
  const notice = await pressed(q, parts, channel, press, actor, words, now);
  return notice === null ? null : plainText(notice);
}

async function pressed(
  q: Transaction,
  parts: ApprovalParts,
  channel: string,
  press: Decision,
  actor: Actor,
  words: Words,
  now: number,
): Promise<string | null> {
  const { questions } = words;
  const read = readData(press.data);
  const card = read && (await readCard(q, read.card));
  if (!read || !card) return questions.unknown;
  if (!(await isFrom(q, channel, press, card))) return questions.notHere;
  const batch = await readBatch(q, card.batch);
  const approval = batch[read.position];
  if (!approval) return questions.unknown;
  if (read.what === letters.details) {
    if (!mayDecide(approval, actor) && !isRequester(approval, actor)) return notEntitled(q, approval, words);
    await sendDetails(q, parts, { ...card, ref: press.ref }, approval, words, now);
    return null;
  }
  if (read.what === letters.approve_all || read.what === letters.deny_all)
    return pressAll(q, parts, card, read.what === letters.approve_all ? 'approve' : 'deny', actor, words, now);
  const choice = choiceOf(read.what);
  if (choice === null) return questions.unknown;
  const deciding: Deciding =
    typeof choice === 'string'
      ? { choice, actor }
      : { choice: 'answer', answer: approval.options?.[choice.option] ?? '', actor };
  if (deciding.choice === 'answer' && approval.options?.[(choice as { option: number }).option] === undefined)
    return questions.unknown;
  return noticeOf(q, await decideApproval(q, parts, approval.id, deciding, now), words);
}

/** Whether the press is from the message that shows the card. The first authentic one binds it, where nothing else has. */
async function isFrom(q: Transaction, channel: string, press: Decision, card: Card): Promise<boolean> {
  if (card.place.channel !== channel) return false;
  if (card.place.chat !== press.chat.id)
    // The message stands where it was before the chat got a new id, and its own id there is forgotten (rule 20).
    return card.place.chat === (await currentId(q, channel, press.chat.id));
  if (card.ref === null) await bindCard(q, card.id, press.ref);
  return card.ref === null || card.ref === press.ref || card.sentRef === press.ref;
}

async function pressAll(
  q: Transaction,
  parts: ApprovalParts,
  card: Card,
  choice: 'approve' | 'deny',
  actor: Actor,
  words: Words,
  now: number,
): Promise<string | null> {
  const notices: string[] = [];
  const calls = (await readBatch(q, card.batch)).filter(({ kind }) => kind === 'tool');
  const open = calls.filter(({ state }) => state === 'pending');
  // Where all are decided, whoever comes late is told by whom (rule 48).
  const ids = (open.length > 0 ? open : calls).map(({ id }) => id);
  let closed = 0;
  for (const decided of await decideTogether(q, parts, ids, { choice, actor }, now)) {
    if (decided.kind === 'closed') closed++;
    const notice = await noticeOf(q, decided, words);
    if (notice !== null && !notices.includes(notice)) notices.push(notice);
  }
  if (notices.length > 0) return notices.join(' ');
  return closed > 0 ? null : words.questions.nobodyPending;
}

function choiceOf(what: string): Exclude<Deciding['choice'], 'answer'> | { option: number } | null {
  if (what.startsWith('o') && what.length > 1) return { option: Number(what.slice(1)) };
  const single = ['approve', 'deny', 'always', 'always_exact', 'skip', 'withdraw'] as const;
  return single.find((name) => letters[name] === what) ?? null;
}

/** In Markdown; null when the card itself says everything. */
export async function noticeOf(q: Transaction, decided: Decided, words: Words): Promise<string | null> {
  const { questions } = words;
  switch (decided.kind) {
    case 'closed':
      return null;
    case 'signed':
      return decided.again ? questions.signedAlready : questions.signedFirst;
    case 'not_entitled':
      return notEntitled(q, decided.approval, words);
    case 'not_grantable':
      return decided.approval.kind === 'question' ? questions.wantsAnswer : questions.notGrantable;
    case 'unknown':
      return questions.unknown;
    case 'already': {
      const { state, decidedBy } = decided.approval;
      if (state === 'pending') return questions.unknown;
      const said = stateText(decided.approval, questions);
      return decidedBy === null ? questions.over(said) : questions.already(said, literal(decidedBy));
    }
  }
}

async function notEntitled(
  q: Transaction,
  approval: Parameters<typeof whoDecides>[0] & { requesterAccount: string },
  words: Words,
): Promise<string> {
  const requester = (await findAccountNamed(q, approval.requesterAccount))?.name ?? approval.requesterAccount;
  return words.questions.notEntitled(whoDecides(approval, requester, words));
}
