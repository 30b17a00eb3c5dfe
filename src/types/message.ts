/**
 * What goes in and out of an adapter. No behaviour here, only words.
 * Ids are strings as the platform gives them (numbers become their decimal form) and never display names.
 * Times are epoch milliseconds.
 */

/** Who will read the answer: one person, a room, or nobody known. */
export type Audience = 'direct' | 'group' | 'public';

/** A place on a platform where a message can be put. `channel` is the key under `channels:`. */
export interface Place {
  channel: string;
  chat: string;
  /** Set only inside a real thread or topic; the General topic of a Telegram forum has none. */
  thread?: string;
}

export interface Sender {
  id: string;
  /** As shown by the platform. For people's eyes and for speaker names; never for a decision. */
  name: string;
  /** `anonymous` is somebody who cannot be told apart: an anonymous admin, a channel speaking as itself. */
  kind: 'human' | 'bot' | 'self' | 'anonymous' | 'system';
  /** Slack and Mattermost tell guests and strangers from full members; elsewhere `full`. */
  membership: 'full' | 'guest' | 'external';
  /** BCP 47, where the platform tells. */
  language?: string;
}

export interface IncomingFile {
  /** What `Adapter.download` takes. */
  ref: string;
  name: string;
  mime: string;
  /** As announced by the platform; checked again after the download. */
  bytes?: number;
  kind: 'image' | 'audio' | 'voice' | 'video' | 'document' | 'sticker';
}

export interface ChatInfo {
  id: string;
  kind: 'direct' | 'group';
  title?: string;
}

export interface IncomingMessage {
  kind: 'message';
  /** The inbox key, unique in this channel: what rule 1 names, so that a redelivery meets the same key. */
  key: string;
  chat: ChatInfo;
  thread?: string;
  messageId: string;
  sender: Sender;
  /** The person's words, unchanged. */
  text: string;
  /** From the platform's own structures (entities, mention lists), never from matching text. */
  mentionsBot: boolean;
  /** The words without a leading mention of the bot; what a command is read from. Absent = `text`. */
  addressedText?: string;
  /** A command the platform itself marked as addressed to this bot (`/new@our_bot` gives `new`). */
  command?: { name: string; args: string };
  /** Addressed to another bot by the platform's own structures (`/new@other_bot`): never for us. */
  forOtherBot?: boolean;
  repliesTo?: { messageId: string; toBot: boolean };
  files: IncomingFile[];
  /** Parts of one message that the platform delivers apart carry the same marker (Telegram media_group_id). */
  partOf?: string;
  forwarded?: boolean;
  sentAt: number;
}

/** The words of an earlier message changed. A change without a change of words must not be reported. */
export interface Edit {
  kind: 'edit';
  key: string;
  chat: ChatInfo;
  thread?: string;
  messageId: string;
  sender: Sender;
  text: string;
  sentAt: number;
}

export interface Deletion {
  kind: 'deletion';
  key: string;
  chat: ChatInfo;
  messageId: string;
  sentAt: number;
}

/** The bot was added to or removed from a chat, by whom. */
export interface Membership {
  kind: 'membership';
  key: string;
  chat: ChatInfo;
  change: 'added' | 'removed';
  by: Sender;
  sentAt: number;
}

/** The platform gave a chat a new id (Telegram group to supergroup). Sent once or twice; handling is idempotent. */
export interface Migration {
  kind: 'migration';
  key: string;
  from: string;
  to: string;
  sentAt: number;
}

/** Somebody pressed a button of a question of ours. The core decides what it means and whether it counts. */
export interface Decision {
  kind: 'decision';
  /** Of the press itself: Telegram callback id, Slack action_ts, Mattermost trigger_id (rule 1). */
  key: string;
  chat: ChatInfo;
  thread?: string;
  /** The message that carries the button, as the platform names it; what `SentMessage.ref` was. */
  ref: string;
  sender: Sender;
  /** `Button.data`, as it came back; never trusted. */
  data: string;
  sentAt: number;
}

export type InboundEvent = IncomingMessage | Edit | Deletion | Membership | Migration | Decision;

export interface Button {
  /** Opaque to the adapter; at most `buttonDataBytes` of it. */
  data: string;
  label: string;
  style: 'approve' | 'deny' | 'plain';
}

/** What makes a message a question: buttons below its words. A question that is decided has none any more. */
export interface Question {
  /** Id of the card; the same in the edits of it. */
  card: string;
  /** Rows of buttons, top to bottom; empty = closed: an edit takes the buttons away. */
  buttons: Button[][];
}

export interface OutgoingMessage {
  /** Our outbox id. Platforms that let us mark our messages carry it, so that an unknown send can be looked up. */
  id: string;
  place: Place;
  /** The platform's id of the message this one answers. A missing target must not fail the send. */
  replyTo?: string;
  /** Markdown as the model wrote it, already cut to what one message of this platform can hold. */
  markdown: string;
  /** The id `Adapter.preview` was given while this answer was written: this message takes the preview's place. */
  answerId?: string;
  /** Its `markdown` holds everything that must be read; where an adapter has no buttons it shows that alone. */
  question?: Question;
}

/** What the platform calls our message; kept as the target of later edits. */
export interface SentMessage {
  ref: string;
  /** The platform's own time of it in epoch milliseconds, where the platform tells (rule 44). */
  sentAt?: number;
}
