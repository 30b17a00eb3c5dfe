/** Presses and words that decide questions, inside the accepting transaction; the deciding itself is in `approvals/`. */
import { actorOf } from '../approvals/actor.ts';
import { inTime } from '../approvals/ask.ts';
import { membershipNeeded, pressButton } from '../approvals/press.ts';
import { couldDecide, decideByWords } from '../approvals/words.ts';
import { placeOf } from '../base/place.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { findAccount } from '../store/accounts.ts';
import { pendingInChat } from '../store/approvals.ts';
import type { Decision, IncomingMessage, Place } from '../types/message.ts';
import { wordsFor } from '../words/index.ts';
import { type Accepted, type Arriving, type InboxParts, keep } from './arrival.ts';

/**
 * Whether the sender stands in the chat whose members may decide, as the platform says now (P4): asked before the
 * transaction, only where it will be needed. Null = not needed or not known, which counts as no.
 */
export async function chatMember(
  parts: InboxParts,
  channel: string,
  event: Decision | IncomingMessage,
): Promise<boolean | null> {
  const chat = await membersDecideIn(parts, channel, event);
  if (chat === null) return null;
  const lookup = parts.approvals.adapterOf(channel)?.lookup;
  return lookup?.isMember
    ? inTime((ms, call) => parts.clock.after(ms, call), lookup.isMember(chat, event.sender.id))
    : null;
}

async function membersDecideIn(
  { db }: InboxParts,
  channel: string,
  event: Decision | IncomingMessage,
): Promise<string | null> {
  if (event.kind === 'decision') {
    const needed = await membershipNeeded(db, event.data);
    return needed?.channel === channel ? needed.chat : null;
  }
  if (event.chat.kind !== 'group' || event.sender.kind !== 'human' || !couldDecide(event)) return null;
  const open = await pendingInChat(db, channel, event.chat.id);
  return open.some(({ approvers }) => approvers === 'members') ? event.chat.id : null;
}

/** What the presser is told alone. */
export async function acceptDecision(
  { parts, q, now, channel }: Arriving,
  press: Decision,
  member: boolean | null,
): Promise<string | null> {
  const settings = parts.settings();
  const account = await findAccount(q, channel, press.sender.id);
  const words = wordsFor(account?.language ?? press.sender.language, settings.language);
  // Anonymous admins and channels that speak as themselves decide nothing (rule 47).
  if (press.sender.kind !== 'human') return words.questions.unknown;
  const actor = await actorOf(q, settings, channel, press.sender, member);
  return pressButton(q, parts.approvals, channel, press, actor, words, now);
}

/** Undefined when the words are chat. */
export async function acceptReply(
  arriving: Arriving,
  message: IncomingMessage,
  thread: string | undefined,
  member: boolean | null,
): Promise<Accepted | undefined> {
  const { parts, q, now, channel } = arriving;
  const settings = parts.settings();
  const account = await findAccount(q, channel, message.sender.id);
  const words = wordsFor(account?.language ?? message.sender.language, settings.language);
  const said = await decideByWords({
    q,
    parts: parts.approvals,
    channel,
    message,
    words,
    now,
    isKnown: account !== null,
    actor: () => actorOf(q, settings, channel, message.sender, member),
  });
  if (said === null) return undefined;
  await keep(arriving, message, 'handled');
  const direct = message.chat.kind === 'direct';
  const here = { place: placeOf(channel, message.chat.id, thread), direct, replyTo: direct ? null : message.messageId };
  if ('list' in said) await say(arriving, here, said.list);
  else if (said.notice !== null) {
    // Alone where we can: in the chat they have with us.
    const own = direct ? null : (account?.directChat ?? null);
    await say(
      arriving,
      own === null ? here : { place: { channel, chat: own }, direct: true, replyTo: null },
      said.notice,
    );
  }
  return null;
}

async function say(
  { parts, q, now }: Arriving,
  to: { place: Place; direct: boolean; replyTo: string | null },
  markdown: string,
): Promise<void> {
  const limits = parts.limitsOf(to.place.channel);
  await enqueue(q, { ...to, markdown, runId: null, priority: 'notice' }, limits, now);
}
