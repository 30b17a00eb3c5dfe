/**
 * What a test double of a platform must be able to do so that the contract suite can run over its adapter. A new
 * platform adds a file `<type>_driver.ts` with one of these and a test file that hands it to `adapterSuite`.
 */
import type { Clock } from '../../src/base/clock.ts';
import type { Db } from '../../src/store/db.ts';
import type { Adapter, AdapterContext, AdapterPlugin } from '../../src/types/adapter.ts';
import type { CaseName } from './adapter_suite.ts';

export interface Driver {
  plugin: AdapterPlugin;
  /** What this platform cannot do, each with its reason. What the adapter's `features` declare may not be listed. */
  cannot: Partial<Record<CaseName, string>>;
  /** A platform of its own with nobody in it. `db` is the core's store, for a platform that is kept by the core. */
  open(clock: Clock, db: Db): Promise<Platform>;
}

/** A place as the core names it. */
export interface Spot {
  chat: string;
  thread?: string;
}

/** Something a person wrote. */
export interface Said {
  spot: Spot;
  /** As the platform names it. */
  messageId: string;
  /** Whether the platform has been told that the gateway has it. */
  isAcknowledged(): boolean;
  /** Resolves when it has. */
  acknowledged(): Promise<void>;
}

export interface SayOptions {
  /** With the platform's own mention of the bot in front of the words. */
  mention?: boolean;
  /** Answers this message of the bot, or of a person. */
  replyTo?: string;
  forwarded?: boolean;
  file?: { name: string; mime: string; bytes: Uint8Array };
}

/** A button that a person pressed. */
export interface Pressed {
  /** Resolves with what this person alone is shown for it, when the platform has taken the press; null for nothing. */
  told(): Promise<string | null>;
  /** The platform brings the same press once more. */
  again(): void;
}

/** A message of the bot as people see it. */
export interface Seen {
  /** Without any markup; a line of a list or table is a line. */
  text: string;
  bold: string[];
  italic: string[];
  strike: string[];
  /** Code within a line. */
  code: string[];
  /** Blocks of code, byte for byte. */
  blocks: string[];
  links: { label: string; url: string }[];
  /** Whom these words notify or make live as a mention. */
  pings: string[];
  /** The message it visibly answers. */
  replyTo: string | null;
}

/**
 * One platform and the people on it. The first part every platform has; a case that needs a missing one of the others
 * must be in `cannot`. Everything a person does takes effect at once and in order.
 */
export interface Platform {
  /** Of the channel, as the configuration would give it. */
  config: Record<string, unknown>;
  publicUrl: string | null;
  /** What no log line, report or error may hold. */
  secrets: readonly string[];
  /** Stands between the adapter and what the core gives it, for a platform that is kept by the core. */
  wrap?(context: AdapterContext): AdapterContext;
  /** The adapter that receives from now on: for platforms that call the gateway. Called before its start. */
  attach?(adapter: Adapter): void;
  close(): Promise<void>;

  /** Returns the id of the account. */
  person(name: string): string;
  direct(person: string): Spot;
  say(spot: Spot, person: string, text: string, options?: SayOptions): Said;
  /** The platform brings the same event once more. */
  redeliver(said: Said): void;
  /** Events that break the platform's own shape, or are of kinds nobody knows. */
  disturb(spot: Spot, person: string): void;
  /** The bot's messages, oldest first. */
  seen(spot: Spot): Promise<Seen[]>;

  group?(people: string[]): Spot;
  thread?(people: string[]): Spot;
  /** The command in the platform's own form; `other`: addressed to another bot. */
  command?(spot: Spot, person: string, name: string, args: string, other?: boolean): Said;
  edit?(said: Said, text: string): void;
  remove?(said: Said): void;
  /** Presses the button with this label, which must be on the message now. */
  press?(spot: Spot, person: string, ref: string, label: string): Pressed;
  /** Labels of the buttons below a message of the bot, top to bottom and left to right; empty when it has none. */
  buttons?(spot: Spot, ref: string): Promise<string[]>;
  /** What the platform would bring of the bot's own words, or of another bot's. */
  sayAs?(who: 'self' | 'bot', spot: Spot, text: string): void;
  /** A file that claims to be of this size. */
  sendLarge?(spot: Spot, person: string, bytes: number): Said;
  /** Resolves when people see (or see no longer) that the bot is at work. */
  status?(spot: Spot, shown: boolean): Promise<void>;
  /** Resolves when people see this unfinished answer; null: none. */
  preview?(spot: Spot, text: string | null): Promise<void>;
  reactions?(spot: Spot, messageId: string): string[];

  /** The next message of the bot takes effect, but the bot does not learn it. */
  loseAnswer?(): void;
  /** The next message of the bot takes effect and is never answered; resolves when it has. */
  hang?(): Promise<void>;
  /** The platform asks to leave this chat alone for a while. */
  limit?(spot: Spot, seconds: number): void;
  /** The bot may write here no more. */
  forbid?(spot: Spot): void;
  /** A message of the bot is taken away by somebody else. */
  takeAway?(spot: Spot, ref: string): void | Promise<void>;
  /** Nothing can be reached; resolves when that is so. `up` ends it. */
  down?(): Promise<void>;
  up?(): Promise<void>;
  /** Every open connection ends in the middle. */
  cut?(): void;
  /** A configuration the platform refuses for good, and what its report must tell. */
  wrong?: { config: Record<string, unknown>; reason: RegExp };
}
