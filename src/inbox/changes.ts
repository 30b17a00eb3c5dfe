/** Edits, deletions and new chat ids (rules 3, 4, 20), inside the accepting transaction. */
import { withdrawAll } from '../approvals/expire.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { wellFormed } from '../base/safe_text.ts';
import { migrateChat } from '../store/chats.ts';
import type { Transaction } from '../store/db.ts';
import { addInboxRow, findMessage, ignoreWaiting, openMessages, setPayload } from '../store/inbox.ts';
import { requestStop } from '../store/runs.ts';
import type { Deletion, Edit, Migration } from '../types/message.ts';
import type { Arriving } from './arrival.ts';
import { rekeyChat } from './route.ts';

/**
 * Before the run: the text is replaced. During it: handed over as a follow-up of the same person. After it, or with
 * the same words: nothing, so that an edit is never answered as if it were new (D5).
 */
export async function acceptEdit({ parts, q, channel, now }: Arriving, edit: Edit): Promise<void> {
  const text = wellFormed(edit.text).slice(0, limits.inboundTextCharsMax);
  const original = await findMessage(q, channel, edit.chat.id, edit.messageId);
  if (!original?.payload || original.userId !== edit.sender.id || original.payload.text === text) return;
  const payload = { ...original.payload, text };
  if (original.state === 'waiting') return setPayload(q, original.id, payload);
  if (original.state !== 'taken') return;
  await addInboxRow(q, {
    id: newId(now),
    channel,
    key: `follow-up:${edit.key}`,
    kind: 'message',
    chat: original.chat,
    thread: original.thread,
    messageId: original.messageId,
    userId: original.userId,
    state: 'waiting',
    conversationId: original.conversationId,
    partOf: null,
    notBefore: 0,
    payload: { ...payload, files: [] },
    receivedAt: now,
  });
  // A parked run goes on with the new words, and asks again if it still wants to (rule 3).
  const actor = `${channel}:${edit.sender.id}`;
  if (original.runId !== null) await withdrawAll(q, parts.approvals, original.runId, 'edited', actor, null, now);
  q.ring('dispatch');
}

/** A waiting message is taken out, and so is what followed from its edits; being answered cancels the run, silently. */
export async function acceptDeletion({ parts, q, channel, now }: Arriving, deletion: Deletion): Promise<void> {
  const stopRun = async (runId: string) => {
    if (await requestStop(q, { run: runId }, 'silent')) return;
    await withdrawAll(q, parts.approvals, runId, 'deleted', 'gateway', 'silent', now);
  };
  for (const row of await openMessages(q, channel, deletion.chat.id, deletion.messageId)) {
    if (row.state === 'waiting') await ignoreWaiting(q, row.id);
    else if (row.runId !== null) await stopRun(row.runId);
  }
}

/** Also for a send that is told of the new id first. */
export async function moveChat(
  q: Transaction,
  channel: string,
  { from, to }: Pick<Migration, 'from' | 'to'>,
): Promise<void> {
  await migrateChat(q, channel, from, to, (key) => rekeyChat(key, from, to));
}
