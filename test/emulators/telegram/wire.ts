/** The parts of Bot API objects that the emulator reads or writes. Other fields pass through as they are. */
export interface User {
  id: number;
  is_bot: boolean;
  first_name: string;
  last_name?: string | undefined;
  username?: string | undefined;
  language_code?: string | undefined;
  [field: string]: unknown;
}

export interface Chat {
  id: number;
  type: 'private' | 'group' | 'supergroup' | 'channel';
  title?: string | undefined;
  first_name?: string | undefined;
  username?: string | undefined;
  is_forum?: true | undefined;
}

/** `offset` and `length` count UTF-16 units. */
export interface Entity {
  type: string;
  offset: number;
  length: number;
  url?: string | undefined;
  language?: string | undefined;
  user?: User | undefined;
  custom_emoji_id?: string | undefined;
}

export interface Button {
  text: string;
  callback_data?: string | undefined;
  url?: string | undefined;
  [field: string]: unknown;
}

export interface Markup {
  inline_keyboard?: Button[][];
  [field: string]: unknown;
}

export interface Message {
  message_id: number;
  date: number;
  chat: Chat;
  from?: User | undefined;
  sender_chat?: Chat | undefined;
  message_thread_id?: number | undefined;
  is_topic_message?: true | undefined;
  reply_to_message?: Message | undefined;
  edit_date?: number | undefined;
  media_group_id?: string | undefined;
  text?: string | undefined;
  entities?: Entity[] | undefined;
  caption?: string | undefined;
  caption_entities?: Entity[] | undefined;
  reply_markup?: Markup | undefined;
  [field: string]: unknown;
}

export interface Update {
  update_id: number;
  [kind: string]: unknown;
}

export type Arguments = Record<string, unknown>;

/** A file of a multipart request. */
export interface Upload {
  name: string;
  type: string;
  bytes: Buffer;
}

/** An answer with `ok: false`. The description is Telegram's own text. */
export class ApiError extends Error {
  readonly code: number;
  readonly parameters: Record<string, unknown> | undefined;
  constructor(code: number, description: string, parameters?: Record<string, unknown>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export const badRequest = (text: string, parameters?: Record<string, unknown>) =>
  new ApiError(400, `Bad Request: ${text}`, parameters);
export const forbidden = (text: string) => new ApiError(403, `Forbidden: ${text}`);
