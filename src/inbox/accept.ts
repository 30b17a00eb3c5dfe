/**
 * The accepting transaction: the event's key, what it is (for the bot? a command? whose conversation?) and every row
 * that follows from it are committed together, and only then is the platform acknowledged (D1).
 */

import type { Clock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { cleanName, wellFormed } from '../base/safe_text.ts';
import { enqueue } from '../outbox/enqueue.ts';
import { requestPairing } from '../people/admission.ts';
import { type AccessVerdict, decideAccess } from '../policy/access.ts';
import { type Account, ensureAccount, findAccount, setLimitedNotice } from '../store/accounts.ts';
import {
  type Chat,
  ensureChat,
  findChat,
  formerIds,
  isInThread,
  joinThread,
  setAddedBy,
  setAdmissionNotice,
} from '../store/chats.ts';
import { openConversation, setQueueNotice } from '../store/conversations.ts';
import type { Db, Transaction } from '../store/db.ts';
import {
  addInboxRow,
  countWaiting,
  hasKey,
  holdParts,
  type InboxPayload,
  type InboxState,
  nthLatestMessage,
} from '../store/inbox.ts';
import type { AdapterLimits, Inbox } from '../types/adapter.ts';
import type { InboundEvent, IncomingMessage, Membership, Place } from '../types/message.ts';
import type { ChannelFacts, Settings } from '../types/settings.ts';
import type { BindingSpec } from '../types/spec.ts';
import { type Words, wordsFor } from '../words/index.ts';
import { acceptDeletion, acceptEdit, acceptMigration } from './changes.ts';
import { type CommandSpec, findCommand } from './commands.ts';
import {
  conversationKeyOf,
  findAdmissible,
  findBinding,
  isAddressed,
  isListed,
  keyText,
  placeOf,
  readCommand,
  threadOf,
} from './route.ts';

export interface InboxParts {
  db: Db;
  clock: Clock;
  log: Log;
  settings: () => Settings;
  /** How long our messages may be on a channel. */
  limitsOf: (channel: string) => Pick<AdapterLimits, 'textLength' | 'measure'>;
  count: (name: 'inbox_messages' | 'inbox_duplicates' | 'inbox_ignored' | 'inbox_refused') => void;
}

/** Another process stored the same key while this transaction ran: roll back and forget. */
class Duplicate extends Error {}

/** An event that fails this often for a reason of its own would block its channel for good. */
const triesMax = 3;
const triesKept = 1_000;

export function createInbox(parts: InboxParts, channel: string): Inbox {
  const tries = new Map<string, number>();

  /** A store in trouble is waited for; an event that cannot be stored is named `invalid`, so that the platform goes on. */
  function judge(event: InboundEvent, error: unknown): unknown {
    if (error instanceof GatehouseError) return error;
    const count = (tries.get(event.key) ?? 0) + 1;
    tries.delete(event.key);
    if (count < triesMax) {
      tries.set(event.key, count);
      if (tries.size > triesKept) tries.delete(tries.keys().next().value as string);
      return error;
    }
    parts.log.error({ channel, key: event.key, err: error }, 'an event cannot be stored and is given up');
    return new GatehouseError('invalid', 'this event cannot be stored', { cause: error });
  }

  return {
    async accept(event) {
      try {
        await parts.db.tx(async (q) => {
          if (await hasKey(q, channel, event.key)) throw new Duplicate();
          await acceptEvent(parts, channel, event, q);
        });
      } catch (error) {
        if (!(error instanceof Duplicate)) throw judge(event, error);
        parts.count('inbox_duplicates');
      }
    },
  };
}

async function acceptEvent(parts: InboxParts, channel: string, event: InboundEvent, q: Transaction): Promise<void> {
  const now = parts.clock.now();
  if (event.kind === 'message') return acceptMessage(parts, channel, event, q, now);
  await keep(q, channel, event, now, 'handled', null, null);
  if (event.kind === 'edit') await acceptEdit(q, channel, event, now);
  else if (event.kind === 'deletion') await acceptDeletion(q, channel, event);
  else if (event.kind === 'migration') await acceptMigration(q, channel, event);
  else await acceptMembership(channel, event, q, now);
}

async function acceptMembership(channel: string, event: Membership, q: Transaction, now: number): Promise<void> {
  await ensureChat(q, channel, event.chat, now);
  await setAddedBy(q, channel, event.chat.id, event.change === 'added' ? event.by.id : null);
  await setAdmissionNotice(q, channel, event.chat.id, null);
}

/** What of a message decides about it, gathered once. */
interface Arrival {
  parts: InboxParts;
  q: Transaction;
  now: number;
  channel: string;
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

async function acceptMessage(
  parts: InboxParts,
  channel: string,
  raw: IncomingMessage,
  q: Transaction,
  now: number,
): Promise<void> {
  const message: IncomingMessage = { ...raw, text: wellFormed(raw.text) };
  const ignore = () => {
    parts.count('inbox_ignored');
    return keep(q, channel, message, now, 'ignored', null, null);
  };
  const settings = parts.settings();
  const facts = settings.channels.get(channel);
  const speaks = message.sender.kind === 'human' || message.sender.kind === 'bot';
  if (!facts || !speaks || now - message.sentAt > limits.backlogAgeMs) return ignore();

  const chat = message.chat.kind === 'group' ? await findChat(q, channel, message.chat.id) : null;
  const former = message.chat.kind === 'group' ? await formerIds(q, channel, message.chat.id) : [];
  const listed = findBinding(settings.bindings, channel, message.chat, former);
  const binding =
    listed ??
    (message.chat.kind === 'group' && facts.groupsNeedAdmission ? findAdmissible(settings.bindings, channel) : null);
  if (!binding) return ignore();

  const command = readCommand(message, (name, args) => findCommand(name)?.accepts(args) ?? false);
  const thread = threadOf(message, facts.threads);
  const inThread =
    binding.trigger === 'follow' && message.thread !== undefined
      ? await isInThread(q, channel, message.chat.id, message.thread)
      : false;
  const forUs = !message.forOtherBot && (message.command !== undefined || command !== null);
  if (
    !isAddressed(message, { trigger: binding.trigger, bots: binding.bots, inThread }) &&
    !(forUs && message.sender.kind === 'human')
  )
    return ignore();

  const known = await findAccount(q, channel, message.sender.id);
  const account = `${channel}:${message.sender.id}`;
  const arrival: Arrival = {
    parts,
    q,
    now,
    channel,
    message,
    settings,
    facts,
    binding,
    place: placeOf(message, channel, facts.threads),
    key: keyText(conversationKeyOf(message, binding, thread)),
    account: known,
    admin: (known?.admin ?? false) || settings.admins.has(account),
    words: wordsFor(known?.language ?? message.sender.language, settings.language),
  };
  const verdict = decideAccess({
    kind: message.chat.kind,
    account,
    membership: message.sender.membership,
    admin: arrival.admin,
    paired: known?.pairedAt != null,
    access: binding.access,
    groupsNeedAdmission: facts.groupsNeedAdmission,
    chatListed: isListed(binding, [message.chat.id, ...former]),
    chatAdmitted: chat !== null && (chat.admittedBy !== null || (await addedByTrusted(q, channel, chat, settings))),
  });
  if (command) {
    const spec = findCommand(command.name) as CommandSpec;
    // An admin must be able to admit the very group that is not admitted yet.
    const mayRun = verdict.allow || spec.open || (arrival.admin && spec.name === 'pair');
    if (mayRun) return runCommand(arrival, spec, command.args, verdict.allow);
  }
  if (!verdict.allow) return refuse(arrival, verdict, chat);
  if (message.thread !== undefined || (thread !== undefined && facts.threads === 'open'))
    await joinThread(q, channel, message.chat.id, thread as string, now);
  return queue(arrival, await ensureAccount(q, channel, message.sender, newId(now), now, known));
}

async function addedByTrusted(q: Transaction, channel: string, chat: Chat, settings: Settings): Promise<boolean> {
  if (chat.addedBy === null) return false;
  if (settings.admins.has(`${channel}:${chat.addedBy}`)) return true;
  const adder = await findAccount(q, channel, chat.addedBy);
  return adder !== null && (adder.admin || adder.pairedAt !== null);
}

async function runCommand(arrival: Arrival, spec: CommandSpec, args: string, admitted: boolean): Promise<void> {
  const { q, channel, message, now, settings, words, facts, binding, admin, key, parts } = arrival;
  const account = admitted ? await ensureAccount(q, channel, message.sender, newId(now), now) : arrival.account;
  const reply = await spec.run({
    q,
    message,
    channel,
    facts,
    args,
    now,
    words,
    settings,
    account,
    admin,
    binding,
    conversationKey: key,
    tellDirect: (place, markdown) => tell(arrival, place, true, markdown, null),
  });
  await keep(q, channel, message, now, 'handled', null, null);
  if (reply !== null) await answer(arrival, reply);
}

async function refuse(arrival: Arrival, verdict: AccessVerdict & { allow: false }, chat: Chat | null): Promise<void> {
  const { q, channel, message, now, words, parts } = arrival;
  parts.count('inbox_refused');
  await keep(q, channel, message, now, 'refused', null, null);
  if (message.sender.kind !== 'human') return;
  if (verdict.reason === 'pair') {
    const code = await requestPairing(
      q,
      channel,
      { id: message.sender.id, name: cleanName(message.sender.name, 80) },
      message.chat.id,
      now,
    );
    if (code !== null) await answer(arrival, words.pairing(code));
  } else if (verdict.reason === 'admission') {
    if (chat?.admissionNoticeAt != null) return;
    await ensureChat(q, channel, message.chat, now);
    await setAdmissionNotice(q, channel, message.chat.id, now);
    await answer(arrival, words.groupNotAdmitted(message.chat.id));
  } else if (message.chat.kind === 'direct') {
    await answer(arrival, verdict.reason === 'linked' ? words.needsLink : words.notAllowed);
  }
}

async function queue(arrival: Arrival, account: Account): Promise<void> {
  const { q, channel, message, now, words, parts, place, key, binding } = arrival;
  parts.count('inbox_messages');
  if (message.text.length > limits.inboundTextCharsMax) {
    await keep(q, channel, message, now, 'refused', null, null);
    return answer(arrival, words.tooLong(message.text.length, limits.inboundTextCharsMax));
  }
  if (message.text.trim() === '' && message.files.length > 0 && message.files.every(cannotBeHeard)) {
    await keep(q, channel, message, now, 'done', null, null);
    return answer(arrival, words.voiceNotHeard);
  }
  const conversation = await openConversation(
    q,
    {
      id: newId(now),
      key,
      binding: binding.id,
      agent: binding.agent,
      place,
      audience: message.chat.kind,
      personId: message.chat.kind === 'direct' ? account.personId : null,
    },
    now,
  );
  const waiting = await countWaiting(q, conversation.id);
  if (waiting >= limits.waitingMessagesMax) {
    await keep(q, channel, message, now, 'refused', null, null);
    if (conversation.noticeAt !== null) return;
    await setQueueNotice(q, conversation.id, now);
    return answer(arrival, words.queueFull(waiting));
  }
  const due = Math.max(await dueAt(arrival, account), message.partOf === undefined ? 0 : now + limits.partsQuietMs);
  const payload: InboxPayload = {
    text: message.text,
    // The colon behind a name is ours: nobody's name may bring a second speaker.
    speaker: cleanName(message.sender.name.replaceAll(':', ' '), 80),
    files: message.files.slice(0, limits.filesPerMessageMax),
    replyTo: message.chat.kind === 'group' ? message.messageId : null,
  };
  await keep(q, channel, message, now, 'waiting', conversation.id, payload, due);
  if (message.partOf !== undefined) await holdParts(q, conversation.id, message.partOf, due);
  q.ring('dispatch');
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
  return counted + rate.perMs;
}

function answer(arrival: Arrival, markdown: string): Promise<void> {
  const direct = arrival.message.chat.kind === 'direct';
  return tell(arrival, arrival.place, direct, markdown, direct ? null : arrival.message.messageId);
}

async function tell(
  arrival: Arrival,
  place: Place,
  direct: boolean,
  markdown: string,
  replyTo: string | null,
): Promise<void> {
  await enqueue(
    arrival.q,
    { place, direct, markdown, runId: null, replyTo, priority: 'notice' },
    arrival.parts.limitsOf(place.channel),
    arrival.now,
  );
}

async function keep(
  q: Transaction,
  channel: string,
  event: InboundEvent,
  now: number,
  state: InboxState,
  conversationId: string | null,
  payload: InboxPayload | null,
  notBefore = 0,
): Promise<void> {
  const added = await addInboxRow(q, {
    id: newId(now),
    channel,
    key: event.key,
    kind: event.kind,
    chat: 'chat' in event ? event.chat.id : event.to,
    thread: 'thread' in event ? (event.thread ?? null) : null,
    messageId: 'messageId' in event ? event.messageId : null,
    userId: 'sender' in event ? event.sender.id : '',
    state,
    conversationId,
    partOf: event.kind === 'message' ? (event.partOf ?? null) : null,
    notBefore,
    payload,
    sentAt: event.sentAt,
    receivedAt: now,
  });
  if (!added) throw new Duplicate();
}
