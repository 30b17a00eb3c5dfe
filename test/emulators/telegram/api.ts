import type { Clock } from '../../../src/base/clock.ts';
import type { AfterHook, BeforeHook, Fault, FaultRule } from './faults.ts';
import type { Call, CallMatch } from './record.ts';
import type { MemberStatus } from './state.ts';
import type { Button, Chat, Entity, Message, Update, User } from './wire.ts';

export interface EmulatorOptions {
  /** Default `900000001:emulator-token`. */
  token?: string;
  bot?: Partial<User>;
  /** Privacy mode of the bot in groups; default true, as BotFather sets it. */
  privacy?: boolean;
  /** With privacy on, a plain @mention reaches the bot. Default true (field-reports 93 saw it withheld). */
  privacyMentions?: boolean;
  /** Polls, retries, lifetimes and rate limits follow it. Default the system clock. */
  clock?: Clock;
  /** Rate limits (1 a second and chat with a short burst, 20 a minute and group, 30 a second overall). Default off. */
  limits?: 'enforce' | 'off';
  /** `counts`: no bodies, no update log, the last 100 messages of a chat; for benchmarks. */
  record?: 'all' | 'counts';
  /** Repeated short polls are stretched to 3 s as on the real server. Default true. */
  pollThrottle?: boolean;
  port?: number;
  firstUpdateId?: number;
}

/** A file a person sends. `size` claims a length without bytes (a file too big to fetch). */
export interface FileSpec {
  bytes?: Uint8Array | string;
  size?: number;
  name?: string;
  mime?: string;
  /** Seconds, of voice, audio and video. */
  duration?: number;
}

export interface SayOptions {
  /** Topic id; the General topic is no thread. */
  thread?: number;
  replyTo?: MessageRef;
  /** Replaces what would be found in the text (@mentions, /commands, links, e-mail, #tags). */
  entities?: Entity[];
  /** With a file, the text is its caption. */
  photo?: FileSpec;
  document?: FileSpec;
  voice?: FileSpec;
  audio?: FileSpec;
  video?: FileSpec;
  videoNote?: FileSpec;
  animation?: FileSpec;
  sticker?: FileSpec & { emoji?: string };
  mediaGroup?: string;
  /** Forwarded from this person, hidden name or chat. */
  forwarded?: User | string | Chat;
  /** Epoch seconds; default now. Older than 24 h is not delivered. */
  date?: number;
  /** Written as the group itself (anonymous admin) or as a channel. */
  as?: 'anonymous_admin' | Chat;
  /** A post of the linked channel that Telegram copies into the group. */
  automaticForward?: Chat;
  /** Any further fields of the message, such as `location` or `pinned_message`. */
  extra?: Record<string, unknown>;
}

export interface MessageRef {
  message_id: number;
  chat: { id: number };
}

/** Shown to the presser alone: at the top of the chat for a moment, or with `alert` in a box. Empty text shows nothing. */
export interface PressAnswer {
  text: string;
  alert: boolean;
}

export interface Press {
  /** Callback id. */
  id: string;
  update_id: number;
  /** Resolves with what the person saw when the bot answered the press; rejects when no answer came in time. */
  answered(options?: { timeoutMs?: number }): Promise<PressAnswer>;
  /** What has been answered so far; null for nothing. */
  readonly answer: PressAnswer | null;
  /** Its time is over: it can be answered no more. */
  readonly over: boolean;
}

/** A message as a person sees it now. Deleted ones are gone. */
export interface Visible {
  id: number;
  chat: number;
  from: User | undefined;
  fromBot: boolean;
  /** Text or caption. */
  text: string;
  /** Formatting as sent by the bot (after Telegram's own repairs). */
  entities: Entity[];
  /** What Telegram made live by itself: mention, url, bot_command, hashtag, email … */
  detected: Entity[];
  buttons: Button[][];
  thread: number | null;
  replyTo: number | null;
  /** Every text it had, oldest first. */
  versions: string[];
  mediaGroup: string | null;
  /** `photo`, `document`, `voice` … or null. */
  media: string | null;
  reactions: string[];
  /** Epoch seconds. */
  date: number;
  wire: Message;
}

export interface WebhookControl {
  readonly url: string;
  /** Attempts in order: what was sent, and the status that came back (0: no answer). */
  readonly attempts: { update: Update; status: number; at: number; secret: string | null }[];
  /** Tries all waiting retries now instead of after their delay. */
  retryNow(): void;
}

export interface TelegramEmulator {
  /** Base address: grammY's `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: User;
  close(): Promise<void>;

  // People and chats
  user(options?: { id?: number; name?: string; username?: string; language?: string; bot?: boolean }): User;
  /** The chat of a person with the bot; `started: false` makes sends fail as before the first /start. */
  privateChat(user: User, options?: { started?: boolean; topics?: boolean }): Chat;
  /** A group the bot is a member of (unless `bot: 'left'`); no update is made, use addBot for that. */
  group(options?: {
    id?: number;
    title?: string;
    members?: User[];
    admins?: User[];
    type?: 'group' | 'supergroup';
    forum?: boolean;
    botIsAdmin?: boolean;
    bot?: MemberStatus;
  }): Chat;
  channel(options?: { id?: number; title?: string; username?: string }): Chat;
  /** A forum topic (in a private chat with `topics` too), with its service message as update. Returns its thread id. */
  topic(chat: Chat, by: User, name: string): number;
  /** `lost`: what is sent there lands silently outside the topic. */
  setTopic(chat: Chat, thread: number, state: 'open' | 'closed' | 'deleted' | 'lost'): void;
  setMember(chat: Chat, user: User, status: MemberStatus): void;

  // What people do. Each makes the update Telegram would make, subject to privacy mode and allowed_updates.
  say(chat: Chat, user: User, text: string, options?: SayOptions): Message;
  /** 2 to 10 items as one album: one update each, caption on the first. */
  album(
    chat: Chat,
    user: User,
    items: FileSpec[],
    options?: SayOptions & { caption?: string; kind?: 'photo' | 'document' | 'video' },
  ): Message[];
  editMessage(message: MessageRef, text: string, options?: { entities?: Entity[]; date?: number }): Message;
  /** An edited_message update without a change of the words (a link preview came). */
  unfurl(message: MessageRef): Message;
  /** A person deletes; Telegram tells bots nothing. */
  deleteMessage(message: MessageRef): void;
  /** The button with this label or data, which must be on the message's keyboard now. */
  press(user: User, message: MessageRef, button: string): Press;
  /**
   * What another app may send: any data, for a message whose keyboard is gone or never was. A deleted message is
   * `inaccessible` by itself. `chat`: as if the message stood there.
   */
  pressStale(
    user: User,
    message: MessageRef,
    data: string,
    options?: { inaccessible?: boolean; chat?: Chat; noMessage?: boolean },
  ): Press;
  /** A copy in another chat of the bot. A keyboard goes along only if all its buttons are links (td ReplyMarkup.cpp). */
  forward(user: User, message: MessageRef, to: Chat): Message;
  react(user: User, message: MessageRef, emoji: string[], options?: { anonymous?: boolean }): void;
  /** A service message: `{ pinned_message }`, `{ new_chat_title }`, `{ video_chat_started: {} }` … */
  service(chat: Chat, by: User, fields: Record<string, unknown>): Message;
  addBot(chat: Chat, by: User, options?: { admin?: boolean }): void;
  removeBot(chat: Chat, by: User): void;
  join(chat: Chat, user: User): void;
  leave(chat: Chat, user: User): void;
  block(user: User): void;
  unblock(user: User): void;
  /**
   * Turns a group into a supergroup with a new id, which is returned. `announce`: both service messages in that order,
   * one of them, or none (the bot learns it from the 400 of its next call).
   */
  migrate(
    chat: Chat,
    by: User,
    options?: { announce?: 'to_then_from' | 'from_then_to' | 'to' | 'from' | 'none' },
  ): Chat;

  // Updates as such
  readonly updates: { update: Update; queued: boolean }[];
  /** Any update: `update_id` is added when missing. Nothing is checked. Returns the update_id. */
  pushRaw(update: Record<string, unknown>): number;
  /**
   * Delivers an update again, by the message or the update_id; `newId` gives it another update_id. `concurrently`: a
   * webhook gets it beside what else waits for that chat.
   */
  redeliver(what: number | MessageRef, options?: { newId?: boolean; concurrently?: boolean }): number;
  /** Updates that are not confirmed. */
  readonly pending: number;
  readonly pollsOpen: number;
  readonly webhook: WebhookControl;

  // What people see
  messages(chat: Chat | number): Visible[];
  visible(chat: Chat | number, filter?: { fromBot?: boolean; thread?: number | null }): Visible[];
  message(ref: MessageRef): Visible | undefined;
  drafts(chat: Chat | number): { draftId: number; text: string; at: number; thread: number | null }[];
  actions(chat: Chat | number): { action: string; at: number; thread: number | null }[];
  /** The default scope's menu. */
  readonly commandsMenu: { command: string; description: string }[];
  readonly warnings: string[];

  // What the client called
  readonly calls: Call[];
  readonly counts: Map<string, number>;
  /** The first matching call that has been answered (or hit by a fault) after call number `after`. */
  call(match: CallMatch, options?: { after?: number; timeoutMs?: number }): Promise<Call>;
  /** The first matching call as soon as it is received. */
  received(match: CallMatch, options?: { after?: number; timeoutMs?: number }): Promise<Call>;
  waitForMessage(
    chat: Chat | number,
    match: string | RegExp | ((message: Visible) => boolean),
    options?: { timeoutMs?: number },
  ): Promise<Visible>;
  /** All updates are confirmed and no call is open. The client may still be thinking. */
  idle(options?: { timeoutMs?: number }): Promise<void>;
  /** A long poll is open. */
  polling(options?: { timeoutMs?: number }): Promise<void>;
  /** Resolves when `ask` is truthy; asked after every change. */
  until<T>(what: string, ask: () => T | undefined | null | false, options?: { timeoutMs?: number }): Promise<T>;
  /** 429s answered by rate limits and floods; `ignored` are calls made during a retry_after. */
  readonly flooded: { refused: number; ignored: number };

  // What goes wrong
  fault(rule: FaultRule): Fault;
  /** From now on every change in the chat (or all) is answered 429 until `seconds` have passed on the clock. */
  flood(chat: Chat | number | 'all', seconds: number): void;
  before(match: CallMatch, hook: BeforeHook): () => void;
  after(match: CallMatch, hook: AfterHook): () => void;
}
