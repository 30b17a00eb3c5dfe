/**
 * A whole gateway with tools that ask, on one platform, and the people around it: what the cases of the suite are played
 * on. A platform joins with one `ApprovalStage` and a test file that hands it to `approvalSuite`.
 */
import type { TestContext } from 'node:test';
import type { CommitHooks } from '../../src/store/db.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { Tool } from '../../src/types/tool.ts';
import type { ModelServer } from '../emulators/model_server.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';

/** `direct`: the requester and the bot alone. `room`: a group of requester, member and admin, who may all talk to the bot. */
export type Where = 'direct' | 'room';

/**
 * `requester` asks the agent. `member` and `admin` are known to the bot from direct chats and stand in the room.
 * `stranger` has never talked to the bot and stands nowhere.
 */
export type Who = 'requester' | 'member' | 'admin' | 'stranger';

export interface SceneOptions {
  approvals?: Record<string, unknown>;
  /** Over what `actTools` gives. */
  tools?: (ran: Ran[]) => Tool[];
  config?: TestGatewayOptions['config'];
  /** Time stands still but while something is waited for, and `later` moves it. */
  timed?: boolean;
  hooks?: CommitHooks;
  /** Nobody is an admin. */
  noAdmin?: boolean;
  /** The language of everybody. */
  language?: string;
}

export interface Ran {
  tool: string;
  input: JsonObject;
}

/** A message of the bot as it stands now. */
export interface Shown {
  id: string;
  /** Of the platform. */
  chat: string;
  text: string;
  /** Labels, top to bottom. */
  buttons: string[];
  /** What the button with this label carries. */
  data(label: string): string;
  /** How often its words were changed. */
  edits: number;
}

export interface SayOptions {
  /** Answers this message. */
  to?: Shown;
  forwarded?: boolean;
  /** By the platform's time this long before now. */
  agoMs?: number;
  /** In their own chat with the bot instead of where the scene plays. */
  own?: boolean;
  anonymous?: boolean;
}

/** A function is asked with the words of each message. */
export type Match = string | RegExp | ((text: string) => boolean);

export interface Wait {
  /** In the direct chat of this person instead of where the scene plays. */
  of?: Who;
}

/** What somebody wrote, for `edit`. */
export type Written = { readonly written: unknown };

export interface Scene {
  readonly model: ModelServer;
  /** What tools of the agent were really called, in order. */
  readonly ran: Ran[];
  readonly where: Where;
  /** Messages can answer a message. */
  readonly replies: boolean;
  /** `<channel>:<user id>` */
  account(who: Who): string;
  /** As people see it. */
  name(who: Who): string;
  /** The requester writes to the agent. */
  ask(text: string): Written;
  /** Words as they are; in a room without a mention. */
  say(who: Who, text: string, options?: SayOptions): Written;
  edit(written: Written, text: string): void;
  /** The first message of the bot with these words and a button. */
  card(match?: Match, wait?: Wait): Promise<Shown>;
  /** The first message of the bot with these words. */
  sees(match: Match, wait?: Wait): Promise<Shown>;
  /** That message as it stands now. */
  now(shown: Shown): Shown;
  /** Resolves when its buttons are gone. */
  closed(shown: Shown): Promise<Shown>;
  /** Resolves when its words match. */
  becomes(shown: Shown, match: RegExp): Promise<Shown>;
  texts(wait?: Wait): string[];
  /** What of its words is live for people: mentions, links, commands. */
  live(shown: Shown): string[];
  /** How many messages of the bot the platform has refused. */
  refusedMessages(): number;
  /** What the presser is shown alone, '' for nothing. */
  press(who: Who, shown: Shown, label: string): Promise<string>;
  /** As any app may send it: this data on that message, whatever stands on it, also as if it stood in another chat. */
  pressData(who: Who, on: Shown, data: string, options?: { inChatOf?: Who }): Promise<string>;
  /** A copy of the card in the direct chat of a person, and a press of what the card's button carries on it. */
  pressForwarded(who: Who, shown: Shown, label: string): void;
  /** Presses of many at once; resolves with what each was told. */
  pressTogether(presses: readonly [Who, string][], shown: Shown): Promise<string[]>;
  /** Whether somebody stands in the room, as the platform says. */
  setMember(who: Who, stands: boolean): void;
  /** From now on the platform does not say who stands in the room. */
  hideMembers(): void;
  /** The next message of the bot is refused for good, so often. */
  refuseMessages(times: number): void;
  /** Nothing is under way any more: all that came is taken in, no run works, everything is delivered. */
  quiet(): Promise<void>;
  /** `downMs`: in a timed scene, so long nothing runs. */
  restart(changes?: TestGatewayOptions['config'], downMs?: number): Promise<void>;
  reload(changes: TestGatewayOptions['config']): Promise<void>;
  /** Tools from the next start on. */
  setTools(tools: (ran: Ran[]) => Tool[]): void;
  /** In a timed scene: so much time passes. */
  later(ms: number): Promise<void>;
  /** The store, behind the gateway's back. */
  change(sql: string): Promise<void>;
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
}

export interface ApprovalStage {
  /** Where this platform has people. */
  places: readonly Where[];
  /** Cases this platform cannot play, each with its reason. */
  cannot: Record<string, string>;
  open(t: TestContext, where: Where, options: SceneOptions): Promise<Scene>;
}
