/** Puts a message for the bot into its conversation's lane, or says why not (rules 5 and 17). */
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { cleanName } from '../base/safe_text.ts';
import { type Account, setLimitedNotice } from '../store/accounts.ts';
import { openConversation, setQueueNotice } from '../store/conversations.ts';
import { holdParts, type InboxPayload, nthLatestMessage, readLane } from '../store/inbox.ts';
import { type Accepted, type Arrival, answer, keep } from './arrival.ts';

export async function queueMessage(arrival: Arrival, account: Account): Promise<Accepted> {
  const { q, message, now, words, place, key, binding } = arrival;
  if (message.text.length > limits.inboundTextCharsMax) {
    await keep(arrival, message, 'refused');
    await answer(arrival, words.tooLong(message.text.length, limits.inboundTextCharsMax));
    return 'inbox_refused';
  }
  if (message.text.trim() === '' && message.files.length > 0 && message.files.every(cannotBeHeard)) {
    await keep(arrival, message, 'done');
    await answer(arrival, words.voiceNotHeard);
    return 'inbox_messages';
  }
  const conversation = await openConversation(
    q,
    { id: newId(now), key, binding: binding.id, place, audience: message.chat.kind },
    now,
  );
  const lane = await readLane(q, conversation.id, message.sender.id, now);
  // What waits for a slot of its sender's own counts against nobody else.
  const waiting = Math.max(lane.own, lane.due);
  if (waiting >= limits.waitingMessagesMax) {
    await keep(arrival, message, 'refused');
    if (conversation.noticeAt === null) {
      await setQueueNotice(q, conversation.id, now);
      await answer(arrival, words.queueFull(waiting));
    }
    return 'inbox_refused';
  }
  const quiet = message.partOf === undefined ? 0 : now + limits.partsQuietMs;
  // Never before the same person's earlier ones: order in a lane is kept per person.
  const due = Math.max(await dueAt(arrival, account), quiet, lane.ownDue);
  const payload: InboxPayload = {
    text: message.text,
    // The colon behind a name is ours: nobody's name may bring a second speaker.
    speaker: cleanName(message.sender.name.replaceAll(':', ' '), 80),
    files: message.files.slice(0, limits.filesPerMessageMax),
    replyTo: message.chat.kind === 'group' ? message.messageId : null,
  };
  // With the thread its answer opens: where it is answered is decided here (rule 21).
  const thread = place.thread ?? null;
  await keep(arrival, message, 'waiting', { conversationId: conversation.id, thread, payload, notBefore: due });
  if (message.partOf !== undefined)
    await holdParts(q, { conversationId: conversation.id, userId: message.sender.id }, message.partOf, due);
  q.ring('dispatch');
  return 'inbox_messages';
}

const cannotBeHeard = (file: { kind: string }) => file.kind === 'voice' || file.kind === 'audio';

/** Rule 17: what is over the rate waits for its slot, with one polite notice a minute. Zero = at once. */
async function dueAt(arrival: Arrival, account: Account): Promise<number> {
  const { q, channel, message, now, binding, words } = arrival;
  const rate = binding.access.rateLimit;
  if (rate === null) return 0;
  // Messages that already wait for later slots came in before this window.
  const since = now - rate.perMs * limits.waitingMessagesMax;
  const counted = await nthLatestMessage(q, channel, message.sender.id, rate.count, since);
  if (counted === null || counted + rate.perMs <= now) return 0;
  if (now - account.limitedNoticeAt >= 60_000) {
    await setLimitedNotice(q, channel, message.sender.id, now);
    await answer(arrival, words.rateLimited);
  }
  // A clock that was ahead has left times of its own behind.
  return Math.min(counted + rate.perMs, now + rate.perMs * limits.waitingMessagesMax);
}
