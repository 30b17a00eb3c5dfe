/**
 * The deciding part of the router, pure: which binding, is it for the bot, is it a command, whose conversation.
 * Everything that needs the database is handed in as a fact.
 */
import type { InboxRow } from '../store/inbox.ts';
import type { IncomingMessage } from '../types/message.ts';
import type { BindingSpec } from '../types/spec.ts';

/**
 * The most specific `where` wins (rule 12): a listed chat before `any` or `direct`. `ids` are the chat's own and those
 * it had before the platform gave it a new one.
 */
export function findBinding(
  bindings: readonly BindingSpec[],
  channel: string,
  kind: 'direct' | 'group',
  ids: readonly string[],
): BindingSpec | null {
  let general: BindingSpec | null = null;
  for (const binding of bindings) {
    if (binding.channel !== channel) continue;
    const { chats, direct } = binding.where;
    if (isListed(binding, ids)) return binding;
    if (kind === 'direct' ? direct : chats === 'any') general ??= binding;
  }
  return general;
}

export function isListed({ where }: BindingSpec, ids: readonly string[]): boolean {
  const { chats } = where;
  return chats !== 'any' && ids.some((id) => chats.includes(id));
}

/** A group that no binding names: which binding would answer there once it is admitted, if any. */
export function findAdmissible(bindings: readonly BindingSpec[], channel: string): BindingSpec | null {
  const own = bindings.filter((binding) => binding.channel === channel);
  return own.find((binding) => binding.where.chats === 'any') ?? own.find((binding) => binding.where.direct) ?? null;
}

const commandPattern = /^[!/]([a-z][a-z_]*)(?:\s+([\s\S]*))?$/i;

/** `written` with a slash or `!`; `mentioned` behind the bot's name; `bare` words, which must be a code beyond doubt. */
export type CommandForm = 'written' | 'mentioned' | 'bare';

/**
 * Rule 18: `/name` where the platform delivers it as a command, `!name` everywhere, and the bare name after a mention
 * only if name and valid arguments are the whole message; in a direct chat also without one. `find` knows the commands and which arguments fit them.
 */
export function readCommand<Spec>(
  message: IncomingMessage,
  find: (name: string, args: string, form: CommandForm) => Spec | undefined,
): { spec: Spec; args: string } | null {
  if (message.forwarded) return null;
  const candidates: { name: string; args: string; form: CommandForm }[] = [];
  if (message.command) candidates.push({ ...message.command, form: 'written' });
  const words = (message.addressedText ?? message.text).trim();
  const written = commandPattern.exec(words);
  if (written) candidates.push({ name: written[1]!.toLowerCase(), args: (written[2] ?? '').trim(), form: 'written' });
  const plain = /^([a-z]+)(?:\s+([\s\S]*))?$/i.exec(words);
  const addressedByName = message.mentionsBot && message.addressedText !== undefined;
  if (plain && (addressedByName || message.chat.kind === 'direct')) {
    const form = addressedByName ? 'mentioned' : 'bare';
    candidates.push({ name: plain[1]!.toLowerCase(), args: (plain[2] ?? '').trim(), form });
  }
  for (const { name, args, form } of candidates) {
    const spec = find(name, args, form);
    if (spec !== undefined) return { spec, args };
  }
  return null;
}

export interface AddressFacts {
  trigger: BindingSpec['trigger'];
  bots: BindingSpec['bots'];
  /** The bot already takes part in the thread of this message. */
  inThread: boolean;
}

/** Rule 10. Commands are judged before this. */
export function isAddressed(message: IncomingMessage, facts: AddressFacts): boolean {
  if (message.forOtherBot) return false;
  if (message.sender.kind === 'bot' && (facts.bots === 'ignore' || (facts.bots === 'mention' && !message.mentionsBot)))
    return false;
  if (message.chat.kind === 'direct') return true;
  // Somebody else's command that was passed on is not an order to this bot.
  if (message.mentionsBot || message.repliesTo?.toBot || (message.command && !message.forwarded)) return true;
  if (facts.trigger === 'all') return true;
  return facts.trigger === 'follow' && facts.inThread;
}

/** The thread a message belongs to and is answered in (rule 21): its own, or the one its answer opens. */
export function threadOf(message: IncomingMessage, threads: 'open' | 'given' | false): string | undefined {
  if (message.thread !== undefined) return message.thread;
  return threads === 'open' && message.chat.kind === 'group' ? message.messageId : undefined;
}

export interface ConversationKey {
  binding: string;
  audience: 'direct' | 'group';
  chat: string;
  /** Empty unless the scope says so. */
  thread: string;
  /** Empty unless the scope says so. */
  user: string;
}

/**
 * Rule 19, and the invariant behind P2: the audience and the chat are part of every key, so a conversation never spans
 * two audiences.
 */
export function conversationKeyOf(
  message: IncomingMessage,
  binding: BindingSpec,
  thread: string | undefined,
): ConversationKey {
  const direct = message.chat.kind === 'direct';
  const byThread = direct ? binding.directThreads : binding.scope === 'thread';
  return {
    binding: binding.id,
    audience: direct ? 'direct' : 'group',
    chat: message.chat.id,
    thread: byThread ? (thread ?? '') : '',
    user: !direct && binding.scope === 'user' ? message.sender.id : '',
  };
}

/** Fields are JSON so that no id can pretend to be two. */
export function keyText(key: ConversationKey): string {
  return JSON.stringify([key.binding, key.audience, key.chat, key.thread, key.user]);
}

export function rekeyChat(text: string, from: string, to: string): string {
  const parts = JSON.parse(text) as string[];
  if (parts[2] === from) parts[2] = to;
  return JSON.stringify(parts);
}

/** Of messages that are due, in order: the first ones of one person in one thread. */
export function takeTogether(due: InboxRow[]): InboxRow[] {
  const [first] = due;
  const other = due.findIndex(
    (row) => row.userId !== first?.userId || row.thread !== first.thread || row.chat !== first.chat,
  );
  return other < 0 ? due : due.slice(0, other);
}
