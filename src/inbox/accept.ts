/**
 * The accepting transaction: the event's key, what it is (for the bot? a command? whose conversation?) and every row
 * that follows from it are committed together, and only then is the platform acknowledged (D1).
 */
import { couldDecide } from '../approvals/words.ts';
import { GatehouseError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { placeOf } from '../base/place.ts';
import { cleanName, inCode, wellFormed } from '../base/safe_text.ts';
import { auditAdded, hasNoAdmin, requestPairing } from '../people/admission.ts';
import { type AccessVerdict, decideAccess } from '../policy/access.ts';
import { type Account, ensureAccount, findAccount } from '../store/accounts.ts';
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
import type { Transaction } from '../store/db.ts';
import { nthLatestMessage } from '../store/inbox.ts';
import type { Inbox, Receipt } from '../types/adapter.ts';
import type { Decision, InboundEvent, IncomingMessage, Membership } from '../types/message.ts';
import type { Settings } from '../types/settings.ts';
import { wordsFor } from '../words/index.ts';
import { type Accepted, type Arrival, type Arriving, answer, Duplicate, type InboxParts, keep } from './arrival.ts';
import { acceptDeletion, acceptEdit, moveChat } from './changes.ts';
import { type CommandSpec, findCommand } from './commands.ts';
import { acceptDecision, acceptReply, chatMember } from './deciding.ts';
import { isLetInByLink } from './linked_access.ts';
import { queueMessage } from './queue_message.ts';
import {
  conversationKeyOf,
  findAdmissible,
  findBinding,
  isAddressed,
  isListed,
  keyText,
  readCommand,
  threadOf,
} from './route.ts';

/** An event that fails this often for a reason of its own would block its channel for good. */
const triesMax = 3;
const triesKept = 1_000;

export function createInbox(parts: InboxParts, channel: string): Inbox {
  const tries = new Map<string, number>();

  /**
   * A store in trouble is waited for, however long; every trouble but of the data is named `store_unavailable` by the
   * store. An event that is itself to blame, or our code, is named `invalid`, so that the platform goes on.
   */
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
        const asksMembers = event.kind === 'decision' || (event.kind === 'message' && event.chat.kind === 'group');
        const member = asksMembers ? await chatMember(parts, channel, event) : null;
        // Counted after the commit: a transaction may run more than once, or not come to its end.
        const { accepted, receipt } = await parts.db.tx((q) =>
          acceptEvent({ parts, q, now: parts.clock.now(), channel }, event, member),
        );
        if (accepted !== null) parts.count(accepted);
        return receipt;
      } catch (error) {
        if (!(error instanceof Duplicate)) throw judge(event, error);
        parts.count('inbox_duplicates');
        return undefined;
      }
    },
  };
}

interface Outcome {
  accepted: Accepted;
  receipt?: Receipt | undefined;
}

async function acceptEvent(arriving: Arriving, event: InboundEvent, member: boolean | null): Promise<Outcome> {
  if (event.kind === 'message') return { accepted: await acceptMessage(arriving, event, member) };
  const { q, channel } = arriving;
  await keep(arriving, event, 'handled');
  if (event.kind === 'decision') return { accepted: null, receipt: await acceptPress(arriving, event, member) };
  if (event.kind === 'edit') await acceptEdit(arriving, event);
  else if (event.kind === 'deletion') await acceptDeletion(arriving, event);
  else if (event.kind === 'migration') await moveChat(q, channel, event);
  else await acceptMembership(arriving, event);
  return { accepted: null };
}

async function acceptPress(arriving: Arriving, press: Decision, member: boolean | null): Promise<Receipt | undefined> {
  const notice = await acceptDecision(arriving, press, member);
  return notice === null ? undefined : { notice };
}

async function acceptMembership({ parts, q, channel, now }: Arriving, event: Membership): Promise<void> {
  const added = event.change === 'added';
  await ensureChat(q, channel, event.chat.id, now);
  await setAddedBy(q, channel, event.chat.id, added ? event.by.id : null);
  await setAdmissionNotice(q, channel, event.chat.id, null);
  const settings = parts.settings();
  const opens = added && settings.channels.get(channel)?.groupsNeedAdmission === true;
  if (opens && (await isTrusted(q, channel, event.by.id, settings)))
    await auditAdded(q, channel, event.chat.id, event.by.id, now);
}

async function acceptMessage(arriving: Arriving, raw: IncomingMessage, member: boolean | null): Promise<Accepted> {
  const { parts, q, now, channel } = arriving;
  const message: IncomingMessage = { ...raw, text: wellFormed(raw.text) };
  const ignore = async (): Promise<Accepted> => {
    await keep(arriving, message, 'ignored');
    return 'inbox_ignored';
  };
  const settings = parts.settings();
  const facts = settings.channels.get(channel);
  const speaks = message.sender.kind === 'human' || message.sender.kind === 'bot';
  if (!facts || !speaks || now - message.sentAt > limits.backlogAgeMs) return ignore();

  const { kind, id: chatId } = message.chat;
  let ids = [chatId];
  let found = findBinding(settings.bindings, channel, kind, ids);
  if (kind === 'group' && !(found && isListed(found, ids))) {
    ids = [chatId, ...(await formerIds(q, channel, chatId))];
    found = findBinding(settings.bindings, channel, kind, ids);
  }
  const mustBeAdmitted = kind === 'group' && facts.groupsNeedAdmission && !(found && isListed(found, ids));
  const binding = found ?? (mustBeAdmitted ? findAdmissible(settings.bindings, channel) : null);
  if (!binding) return ignore();

  const byHuman = message.sender.kind === 'human';
  const thread = threadOf(message, facts.threads);
  if (byHuman && couldDecide(message)) {
    const decided = await acceptReply(arriving, message, thread, member);
    if (decided !== undefined) return decided;
  }
  const command = byHuman ? readCommand(message, findCommand) : null;
  const inThread =
    binding.trigger === 'follow' && message.thread !== undefined
      ? await isInThread(q, channel, chatId, message.thread)
      : false;
  const isCommand = byHuman && !message.forOtherBot && command !== null;
  if (!isAddressed(message, { trigger: binding.trigger, bots: binding.bots, inThread }) && !isCommand) return ignore();
  // Two bots that answer each other would never end (rule 6).
  const window = now - limits.botWindowMs;
  const bot = byHuman ? null : await nthLatestMessage(q, channel, message.sender.id, limits.botMessagesMax, window);
  if (bot !== null) return ignore();

  const known = await findAccount(q, channel, message.sender.id);
  const account = `${channel}:${message.sender.id}`;
  const arrival: Arrival = {
    ...arriving,
    message,
    settings,
    facts,
    binding,
    place: placeOf(channel, chatId, thread),
    key: keyText(conversationKeyOf(message, binding, thread)),
    account: known,
    admin: (known?.admin ?? false) || settings.admins.has(account),
    words: wordsFor(known?.language ?? message.sender.language, settings.language),
  };
  const chat = mustBeAdmitted ? await findChat(q, channel, chatId) : null;
  const verdict = decideAccess({
    kind,
    account,
    membership: message.sender.membership,
    admin: arrival.admin,
    paired: known?.pairedAt != null,
    access: binding.access,
    mustBeAdmitted,
    linked: kind === 'direct' && binding.access.direct === 'linked' && (await isLetInByLink(q, settings, known)),
    chatAdmitted: chat !== null && (chat.admittedBy !== null || (await isTrusted(q, channel, chat.addedBy, settings))),
  });
  if (command) {
    const { spec, args } = command;
    // An admin must be able to admit the very group that is not admitted yet.
    const mayRun =
      verdict.allow || spec.open || spec.openTo?.(verdict.reason) || (arrival.admin && spec.name === 'pair');
    if (mayRun) return runCommand(arrival, spec, args, verdict.allow);
  }
  if (!verdict.allow) return refuse(arrival, verdict, chat);
  if (!inThread && thread !== undefined && (message.thread !== undefined || facts.threads === 'open'))
    await joinThread(q, channel, chatId, thread, now);
  return queueMessage(arrival, await accountOf(arrival));
}

/** Of somebody who may talk to the bot; in a direct chat it is kept where that is. */
function accountOf({ q, channel, message, now, account }: Arrival): Promise<Account> {
  const sender = message.chat.kind === 'direct' ? { ...message.sender, directChat: message.chat.id } : message.sender;
  return ensureAccount(q, channel, sender, newId(now), now, account);
}

/** Who adds the bot to a group opens it, when that is an admin or somebody an admin has admitted (rule 13). */
async function isTrusted(q: Transaction, channel: string, adder: string | null, settings: Settings): Promise<boolean> {
  if (adder === null) return false;
  if (settings.admins.has(`${channel}:${adder}`)) return true;
  const account = await findAccount(q, channel, adder);
  return account !== null && (account.admin || account.pairedAt !== null);
}

async function runCommand(arrival: Arrival, spec: CommandSpec, args: string, admitted: boolean): Promise<Accepted> {
  const { message } = arrival;
  const account = admitted ? await accountOf(arrival) : arrival.account;
  const reply = await spec.run({ ...arrival, account, args, admitted });
  await keep(arrival, message, 'handled');
  if (reply !== null) await answer(arrival, reply);
  return null;
}

async function refuse(
  arrival: Arrival,
  verdict: AccessVerdict & { allow: false },
  chat: Chat | null,
): Promise<Accepted> {
  const { q, channel, message, now, settings, words } = arrival;
  await keep(arrival, message, 'refused');
  if (message.sender.kind !== 'human') return 'inbox_refused';
  if (verdict.reason === 'pair') {
    const sender = { id: message.sender.id, name: cleanName(message.sender.name, 80) };
    const code = await requestPairing(q, channel, sender, message.chat.id, now);
    if (code !== null) {
      const mayClaim = message.chat.kind === 'direct' && (await hasNoAdmin(q, settings.admins.size));
      await answer(arrival, mayClaim ? `${words.pairing(code)}\n\n${words.pairingClaim}` : words.pairing(code));
    }
  } else if (verdict.reason === 'admission') {
    if (chat?.admissionNoticeAt == null) {
      await ensureChat(q, channel, message.chat.id, now);
      await setAdmissionNotice(q, channel, message.chat.id, now);
      await answer(arrival, words.groupNotAdmitted(inCode(message.chat.id)));
    }
  } else if (message.chat.kind === 'direct') {
    await answer(arrival, verdict.reason === 'linked' ? words.needsLink : words.notAllowed);
  }
  return 'inbox_refused';
}
