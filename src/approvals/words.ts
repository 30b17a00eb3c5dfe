/** Decisions in words: `yes 4K7`, a bare yes where it is beyond doubt, answers to questions (rules 44, 45, 56). */
import { cleanName, inCode, literal } from '../base/safe_text.ts';
import { type Approval, findByCode, pendingShownIn, readBatch } from '../store/approvals.ts';
import { type Card, cardSent, cardsOfBatch, findCardByRef, isLastOfOurs } from '../store/cards.ts';
import type { Transaction } from '../store/db.ts';
import type { Actor } from '../types/approval.ts';
import type { IncomingMessage } from '../types/message.ts';
import type { Words } from '../words/index.ts';
import { type Deciding, decideApproval } from './decide.ts';
import type { ApprovalParts } from './parts.ts';
import { noticeOf } from './press.ts';
import { codeChars, type Reply, readReply } from './reply.ts';
import { isRequester } from './rule.ts';

/** A message that may decide something, in the transaction that accepts it. */
export interface Hearing {
  q: Transaction;
  parts: ApprovalParts;
  channel: string;
  message: IncomingMessage;
  words: Words;
  now: number;
  /** Somebody the gateway has met: a stranger learns nothing of codes (rule 14). */
  isKnown: boolean;
  /** Who wrote it; asked only when the words mean a question. */
  actor: () => Promise<Actor>;
}

/** `notice` is for the sender alone, null when the card says everything; `list` is for the chat. */
export type Said = { notice: string | null } | { list: string };

/** A cheap look at the words alone: whether they could decide or answer anything. */
export function couldDecide(message: IncomingMessage): boolean {
  if (message.forwarded) return false;
  const text = textOf(message);
  return readReply(text) !== null || codeAnswer(text) !== null || (message.repliesTo?.toBot ?? false);
}

function textOf(message: IncomingMessage): string {
  // `/approve@our_bot 4K7`, as a platform's menu of commands writes it where several bots are.
  const { command } = message;
  if (command && (command.name === 'approve' || command.name === 'deny'))
    return `${command.name} ${command.args}`.trim();
  return (message.addressedText ?? message.text).trim().replace(/^[!/](?=(?:approve|deny)\b)/i, '');
}

const codedPattern = new RegExp(`^(?=[A-Z]*[0-9])([A-Z0-9]{${codeChars.min},${codeChars.max}})\\s+(\\S[\\s\\S]*)$`);

/** `4K7 blue`: a code in capitals with a digit, and an answer behind it. */
function codeAnswer(text: string): { code: string; answer: string } | null {
  const match = codedPattern.exec(text);
  return match && { code: match[1]!, answer: match[2]! };
}

/** Null: these words decide nothing and are what they are, chat. */
export async function decideByWords(hearing: Hearing): Promise<Said | null> {
  const { q, channel, message, words } = hearing;
  const text = textOf(message);
  const reply = readReply(text);
  const chat = message.chat.id;
  const card = message.repliesTo?.toBot ? await findCardByRef(q, channel, chat, message.repliesTo.messageId) : null;
  const coded = codeAnswer(text);
  const asked = coded && (await findByCode(q, channel, chat, coded.code));
  if (coded && asked?.kind === 'question') return settle(hearing, asked, { choice: 'answer', answer: coded.answer });
  if (reply?.code != null) {
    const approval = await findByCode(q, channel, chat, reply.code);
    if (approval) return (await isAfter(hearing, approval, true)) ? settle(hearing, approval, decidingOf(reply)) : null;
    const isForUs = hearing.isKnown && (message.chat.kind === 'direct' || card !== null);
    return isForUs ? { notice: words.questions.noSuchCode(reply.code) } : null;
  }
  if (card) return replyToCard(hearing, card, text, reply);
  return reply && message.chat.kind === 'direct' ? bareReply(hearing, reply) : null;
}

async function replyToCard(hearing: Hearing, card: Card, text: string, reply: Reply | null): Promise<Said | null> {
  const batch = await readBatch(hearing.q, card.batch);
  const open = batch.filter(({ state }) => state === 'pending');
  const [only] = open;
  // The question is over: an explicit yes or no is told so, everything else is chat.
  if (!only) return reply && batch[0] ? settle(hearing, batch[0], decidingOf(reply)) : null;
  if (only.kind === 'question' && open.length === 1) return settle(hearing, only, { choice: 'answer', answer: text });
  // Whoever is asked by the agent must say which answer this is.
  const isAnswer = open.some(({ kind }) => kind === 'question') && isRequester(only, await hearing.actor());
  if (!reply && isAnswer) return { list: listOpen(open, hearing.words) };
  if (!reply) return null;
  return open.length > 1 ? { list: listOpen(open, hearing.words) } : settle(hearing, only, decidingOf(reply));
}

/** Beyond doubt only while the card is our last message there and its question the only open one. */
async function bareReply(hearing: Hearing, reply: Reply): Promise<Said | null> {
  const { q, channel, message } = hearing;
  const open = await pendingShownIn(q, channel, message.chat.id);
  const [only] = open;
  // A question of the agent alone is answered in reply to it; a yes may be said to something else.
  if (!only || (open.length === 1 && only.kind === 'question')) return null;
  if (!(await isShownLast(hearing, open))) return null;
  if (open.length > 1) return { list: listOpen(open, hearing.words) };
  return (await isAfter(hearing, only, false)) ? settle(hearing, only, decidingOf(reply)) : null;
}

async function isShownLast({ q, channel, message }: Hearing, open: readonly Approval[]): Promise<boolean> {
  for (const batch of new Set(open.map((approval) => approval.batch)))
    for (const card of await cardsOfBatch(q, batch))
      if (card.place.channel === channel && card.place.chat === message.chat.id && (await isLastOfOurs(q, card)))
        return true;
  return false;
}

/**
 * Written after the card was shown in that chat, by the platform's own time (rule 44). Within the same tick of a platform
 * that counts in seconds its message ids tell. Where a send was cut off, the person may have read a copy that we know
 * nothing of: who knows the code has.
 */
async function isAfter({ q, channel, message }: Hearing, approval: Approval, byCode: boolean): Promise<boolean> {
  if (approval.state !== 'pending') return true;
  for (const card of await cardsOfBatch(q, approval.batch)) {
    if (card.place.channel !== channel || card.place.chat !== message.chat.id) continue;
    const sent = await cardSent(q, card);
    if (byCode && sent?.maybeEarlier) return true;
    if (sent?.at == null) continue;
    if (message.sentAt > sent.at) return true;
    if (message.sentAt < sent.at) continue;
    const [own, theirs] = [Number(sent.ref), Number(message.messageId)];
    return Number.isSafeInteger(own) && Number.isSafeInteger(theirs) ? theirs > own : true;
  }
  return false;
}

const decidingOf = ({ choice, reason }: Reply) => ({ choice, reason });

const listedCharsMax = 80;

export function listOpen(open: readonly Approval[], { questions }: Words): string {
  return questions.ambiguous(
    open.map(({ code, kind, tool, capability, input }) => {
      const what =
        kind === 'question'
          ? literal(cleanName(input, listedCharsMax))
          : questions.ofCapability(inCode(tool), inCode(capability));
      return `- \`${code}\`: ${what}`;
    }),
  );
}

async function settle(hearing: Hearing, approval: Approval, deciding: Omit<Deciding, 'actor'>): Promise<Said> {
  const { q, parts, words, now } = hearing;
  const decided = await decideApproval(q, parts, approval.id, { ...deciding, actor: await hearing.actor() }, now);
  return { notice: await noticeOf(q, decided, words) };
}
