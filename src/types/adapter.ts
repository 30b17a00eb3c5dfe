/**
 * The contract of a platform. An adapter holds no rules: no access check, no memory, no policy. It knows its
 * platform's API, limits and markup, reports what happened, and does what it is told. `test/contract` runs the same
 * suite over every adapter.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { JsonSchema } from './json.ts';
import type { InboundEvent, IncomingFile, OutgoingMessage, Place, SentMessage } from './message.ts';

/** What the core does not read yet (the contract suite reads all) is marked with the feature that will. */
export interface Features {
  /** Questions are shown with buttons; without them they are decided by words. */
  buttons: boolean;
  edits: boolean;
  /** How an answer is shown while it is written: by edits of its first piece, by a stream of our own, or not. */
  streaming: 'edits' | 'live' | false;
  /** `open`: an answer to a message opens a thread (Slack). `given`: only topics that exist (Telegram). */
  threads: 'open' | 'given' | false;
  typing: boolean;
  /** Approvals. */
  reactions: boolean;
  files: boolean;
  /** Channel tools. */
  history: boolean;
  /** Channel tools. */
  directory: boolean;
  /** What one person presses can be answered so that nobody else sees it. */
  ephemeral: boolean;
  /** The platform tells us of deleted messages. */
  deletions: boolean;
  /** `find` can tell whether an earlier send with an outbox id arrived, or `send` itself ignores a repeated id. */
  reconcile: 'find' | 'idempotent' | false;
}

export interface AdapterLimits {
  /** Of one message, in the unit `measure` counts. */
  textLength: number;
  /** Length of one rendered part of an answer in the platform's unit; 0 for nothing visible. Pure. */
  measure(markdown: string): number;
  /** Visible changes (sends and edits) in one chat: a direct one, and a group. */
  directPerSecond: number;
  groupPerMinute: number;
  /** Calls of the account over all chats. */
  accountPerSecond: number;
  buttonsPerMessage: number;
  /** Buttons side by side in one row. */
  buttonsPerRow: number;
  buttonDataBytes: number;
  /** Of one file that `download` returns; a larger one is refused before it is fetched. */
  fileBytesMax: number;
}

/** What the bot is doing, for people to see; null clears it. Leased: the core repeats it while it holds. */
export type Status = { text: string } | null;

export interface Inbox {
  /**
   * Stores the event. Resolves after the commit; only then may the adapter acknowledge the platform (D1). A
   * duplicate resolves too. Rejects when nothing could be stored: the platform must redeliver.
   */
  accept(event: InboundEvent): Promise<Receipt | undefined>;
}

/** What the sender of an event is told at once and alone, where the platform can: the answer to a button press. */
export interface Receipt {
  notice: string;
}

export type ChannelState = 'starting' | 'up' | 'down' | 'failed';

/** One request of the gateway's HTTP server that belongs to this channel. */
export interface ChannelRequest {
  /** Its body is in memory and at most 1 MiB. */
  request: Request;
  /** Path below the channel's prefix, beginning with `/`. */
  path: string;
  /**
   * Who is signed in on this gateway's pages, or null; `account` is their user id on this channel. The core has
   * checked Host, Origin and the session.
   */
  session: { account: string; name: string } | null;
}

/** Lines kept for a chat by adapters that have no platform to keep them (the chat page). */
export interface Journal {
  /** Adds a line once: a known `key` in the same chat returns the line that is there. */
  append(chat: string, key: string, body: JournalBody): Promise<JournalLine>;
  /** Replaces the body of the line `key` and gives it a new `seq`; null when there is no such line. */
  update(chat: string, key: string, body: JournalBody): Promise<JournalLine | null>;
  /** Lines with `seq` greater than `after`, oldest first, at most `limit`; `latest` returns the newest ones. */
  read(chat: string, options: { after?: number; latest?: boolean; limit: number }): Promise<JournalLine[]>;
  /** Calls back when lines may have come, also from another process; the returned function ends it. */
  onChange?(listener: () => void): () => void;
}
export type JournalBody = Record<string, unknown>;
export interface JournalLine {
  seq: number;
  key: string;
  body: JournalBody;
  createdAt: number;
}

export interface AdapterContext {
  channel: string;
  log: Log;
  clock: Clock;
  publicUrl: string | null;
  journal: Journal;
  /** Small durable facts of the adapter itself, such as a polling offset. */
  state: { get(key: string): Promise<string | null>; set(key: string, value: string): Promise<void> };
  /** Tells /readyz and the log how the channel is; `failed` is for good, with what to do in `reason`. */
  report(state: ChannelState, reason?: string): void;
  /** Counts for /metrics, such as `reconnects` or `rate_limited`. */
  count(name: string): void;
}

export interface Adapter {
  readonly features: Features;
  readonly limits: AdapterLimits;
  /** The platform serves one receiver of this account at a time: of several processes only one is started. */
  readonly singleConsumer?: boolean;
  /**
   * Begins to receive. Resolves when the channel is up or has reported why not; network trouble is retried inside
   * (1 s doubling to 60 s with jitter, rule 8) and never rejects. May be called again after `stop`.
   */
  start(sink: Inbox): Promise<void>;
  /** Puts one message into a chat. Throws a DeliveryError that says whether it may have arrived. Never retries. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SentMessage>;
  /** Stops receiving; resolves when no further event will be accepted. Sending still works until `close`. */
  stop(): Promise<void>;
  close?(): Promise<void>;

  /** Replaces the words of a message of ours. Safe to repeat; "not modified" is success. */
  edit?(ref: string, message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  /** Called once approvals exist, as is `react`. */
  remove?(ref: string, place: Place): Promise<void>;
  /**
   * Shows an unfinished answer that is not a message yet; fire and forget, the latest wins. `answerId` is the same for
   * all pieces of one answer; empty markdown takes it away. False = not possible in this place (a Telegram group, an
   * old server): the core then shows a first piece and edits it.
   */
  preview?(place: Place, answerId: string, markdown: string): Promise<boolean>;
  setStatus?(place: Place, status: Status): Promise<void>;
  react?(ref: string, place: Place, emoji: string | null): Promise<void>;
  download?(file: IncomingFile, signal: AbortSignal): Promise<Uint8Array>;
  /** Whether a message with this outbox id stands in the place; null if not. */
  find?(message: OutgoingMessage): Promise<SentMessage | null>;
  /** Tells the platform which commands there are (Telegram's menu). */
  registerCommands?(commands: { name: string; description: string }[]): Promise<void>;
  /** Facts of the platform (P4). The core bounds each in time; what throws or is absent counts as no. */
  lookup?: {
    isMember?(chat: string, user: string): Promise<boolean>;
    chat?(chat: string): Promise<{ title: string }>;
  };
  http?(request: ChannelRequest): Promise<Response>;
  /**
   * Asked before `http`, while nothing of the body is read: the request has none yet. Null lets it in. Who has no right
   * to be heard must be refused here, or strangers fill the memory with bodies (rule 9).
   */
  authorize?(request: ChannelRequest): Response | null;
}

/** A platform as a folder: `adapters/<type>/index.ts` exports one of these, `src/plugins.ts` lists it. */
export interface AdapterPlugin<Config = Record<string, unknown>> {
  type: string;
  /** Of one entry under `channels:`; `type` is added by the core. With `description` and `default` for the docs. */
  configSchema: JsonSchema;
  /** Access when the binding says nothing (rule 13). */
  defaultAccess: { direct: 'open' | 'pairing'; group: 'open' | 'allowlist' };
  /** Anybody can add this bot to a group of their own, so `open` groups must be admitted (rule 13). */
  groupsNeedAdmission: boolean;
  /** What ids of accounts look like (a regular expression), so that a username in the configuration is refused. */
  accountIds?: { pattern: string; hint: string };
  /** Likewise ids of groups. Without it, what is not the id of an account is one. */
  groupIds?: { pattern: string };
  create(config: Config, context: AdapterContext): Adapter;
}
