/**
 * Gives free lanes their next run: the waiting messages of one person, in order (rule 22). The unique index on active
 * runs is what keeps a lane to one run, whatever else happens.
 */
import type { Clock } from '../base/clock.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { placeOf } from '../base/place.ts';
import { createStage, type Stage, type TurnResult } from '../queue/stage.ts';
import { findAccount } from '../store/accounts.ts';
import { type Conversation, readConversation, setQueueNotice } from '../store/conversations.ts';
import type { Db, Transaction } from '../store/db.ts';
import {
  dueMessages,
  type InboxRow,
  nextWaitingAt,
  readyConversations,
  refuseWaiting,
  takeMessages,
} from '../store/inbox.ts';
import { addRun, claimRuns, type Run, takeResumable } from '../store/runs.ts';
import type { Settings } from '../types/settings.ts';
import { wordsFor } from '../words/index.ts';
import { takeTogether } from './route.ts';
import { tell } from './tell.ts';

/**
 * What was read of a run in the transaction that made it, where that was the only one under way (SQLite). It stays so
 * until the run begins: the run holds the lane, so nobody appends to the conversation or parks another run there, and
 * an edit of a message that is taken is a message of its own.
 */
export interface Dispatched {
  conversation: Conversation & { parked: number };
  /** In the order of their ids. */
  messages: readonly InboxRow[];
}

export interface DispatchParts {
  db: Db;
  clock: Clock;
  log: Log;
  settings: () => Settings;
  /** The runs of this process; without it new runs only wait to be claimed. */
  worker?: { owner: string; free(): number; begin(run: Run, known?: Dispatched): void };
}

/** Lanes served in one transaction. */
const lanesPerTurn = 64;

export function createDispatch(parts: DispatchParts): Stage {
  const { db, clock, log, worker } = parts;
  const turn = async (): Promise<TurnResult> => {
    const now = clock.now();
    const { served, claimed, dispatched } = await db.tx(async (q) => {
      const dispatched = new Map<string, Dispatched>();
      // First, since what people decided goes to the head of its lane.
      const resumed = await takeResumable(q, lanesPerTurn);
      const ready = await readyConversations(q, now, lanesPerTurn);
      for (const id of ready) await dispatchConversation(parts, q, id, now, dispatched);
      // Claimed in the same transaction where this process has room: one commit less on the way of every message.
      const made = resumed + ready.length;
      const room = made > 0 ? (worker?.free() ?? 0) : 0;
      const claimed = room > 0 && worker ? await claimRuns(q, worker.owner, now, limits.leaseMs, room) : [];
      if (made > claimed.length) q.ring('run');
      return { served: Math.max(resumed, ready.length), claimed, dispatched };
    });
    for (const run of claimed) worker?.begin(run, dispatched.get(run.id));
    return { again: served === lanesPerTurn, nextAt: await nextWaitingAt(db, now) };
  };
  return createStage({ name: 'dispatch', db, clock, log, bells: ['dispatch'], turn });
}

async function dispatchConversation(
  parts: DispatchParts,
  q: Transaction,
  id: string,
  now: number,
  dispatched: Map<string, Dispatched>,
): Promise<void> {
  const conversation = await readConversation(q, id);
  const settings = parts.settings();
  // The agent of a chat is the one its binding names now, whoever answered there before.
  const binding = settings.bindings.find((candidate) => candidate.id === conversation.binding);
  const agent = binding && settings.agents.get(binding.agent);
  const due = await dueMessages(q, id, now, limits.waitingMessagesMax);
  const first = due[0];
  if (!first) return;
  if (!agent) {
    parts.log.warn(
      { conversation: id, binding: conversation.binding, agent: binding?.agent },
      'nobody answers in the chat of a waiting message any more: its binding or agent is not configured',
    );
    await refuseWaiting(q, id);
    const account = await findAccount(q, first.channel, first.userId);
    const place = placeOf(first.channel, first.chat, first.thread);
    const direct = conversation.audience === 'direct';
    const words = wordsFor(account?.language, settings.language);
    await tell(q, { place, direct, replyTo: first.payload?.replyTo ?? null }, words.nobodyAnswers, now);
    return;
  }
  const taken = takeTogether(due);
  const runId = newId(now);
  const last = taken.at(-1) as InboxRow;
  const added = await addRun(q, {
    id: runId,
    conversationId: id,
    agent: binding.agent,
    agentVersion: agent.version,
    binding: conversation.binding,
    // The answer goes where the message came from, not where the conversation began (rule 21).
    place: placeOf(last.channel, last.chat, last.thread),
    replyTo: last.payload?.replyTo ?? null,
    userId: first.userId,
    createdAt: now,
  });
  // Another process has put a parked run into this lane: its end rings again.
  if (!added) return;
  await takeMessages(
    q,
    taken.map((row) => row.id),
    runId,
  );
  if (parts.db.dialect === 'sqlite')
    dispatched.set(runId, { conversation, messages: taken.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });
  if (conversation.noticeAt !== null) await setQueueNotice(q, id, null);
}
