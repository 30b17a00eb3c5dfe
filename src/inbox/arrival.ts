/** What the accepting transaction knows of one message, and what it writes about it. */

import type { ApprovalParts } from '../approvals/parts.ts';
import type { Clock } from '../base/clock.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { enqueue } from '../outbox/enqueue.ts';
import type { Account } from '../store/accounts.ts';
import type { Db, Transaction } from '../store/db.ts';
import { addInboxRow, type InboxPayload, type InboxState } from '../store/inbox.ts';
import type { AdapterLimits } from '../types/adapter.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { InboundEvent, IncomingMessage, Place } from '../types/message.ts';
import type { ChannelFacts, Settings } from '../types/settings.ts';
import type { BindingSpec } from '../types/spec.ts';
import type { Words } from '../words/index.ts';

/** What an event came to, as it is counted once it is committed; null is not counted. */
export type Accepted = 'inbox_messages' | 'inbox_ignored' | 'inbox_refused' | null;

export interface InboxParts {
  db: Db;
  clock: Clock;
  log: Log;
  settings: () => Settings;
  /** What people may say something about. */
  capabilities: () => readonly CapabilityPlugin[];
  /** How long our messages may be on a channel. */
  limitsOf: (channel: string) => Pick<AdapterLimits, 'textLength' | 'measure'>;
  approvals: ApprovalParts;
  count: (name: NonNullable<Accepted> | 'inbox_duplicates') => void;
}

/** An event in its transaction. */
export interface Arriving {
  parts: InboxParts;
  q: Transaction;
  now: number;
  channel: string;
}

/** What of a message decides about it, gathered once. */
export interface Arrival extends Arriving {
  message: IncomingMessage;
  settings: Settings;
  facts: ChannelFacts;
  binding: BindingSpec;
  place: Place;
  key: string;
  account: Account | null;
  admin: boolean;
  words: Words;
}

/** The same key is stored already: roll back and forget. */
export class Duplicate extends Error {}

/** Stores the event under its key. Whatever was written before it in this transaction goes when the key is known. */
export async function keep(
  { q, channel, now }: Arriving,
  event: InboundEvent,
  state: InboxState,
  more: { conversationId?: string; thread?: string | null; payload?: InboxPayload; notBefore?: number } = {},
): Promise<void> {
  const added = await addInboxRow(q, {
    id: newId(now),
    channel,
    key: event.key,
    kind: event.kind,
    chat: 'chat' in event ? event.chat.id : event.to,
    thread: more.thread ?? ('thread' in event ? (event.thread ?? null) : null),
    messageId: 'messageId' in event ? event.messageId : null,
    userId: 'sender' in event ? event.sender.id : '',
    state,
    conversationId: more.conversationId ?? null,
    partOf: event.kind === 'message' ? (event.partOf ?? null) : null,
    notBefore: more.notBefore ?? 0,
    payload: more.payload ?? null,
    receivedAt: now,
  });
  if (!added) throw new Duplicate();
}

/** A line of the gateway's own, where the message came from. */
export async function answer({ parts, q, now, message, place }: Arrival, markdown: string): Promise<void> {
  const direct = message.chat.kind === 'direct';
  const replyTo = direct ? null : message.messageId;
  await enqueue(
    q,
    { place, direct, markdown, runId: null, replyTo, priority: 'notice' },
    parts.limitsOf(place.channel),
    now,
  );
}
