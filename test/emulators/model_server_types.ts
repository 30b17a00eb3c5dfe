/** Words of the scripted model server: what it received, in one shape for all wires, and what it shall answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../src/types/json.ts';

/** `chat` OpenAI chat completions · `responses` OpenAI responses · `anthropic` messages · `google` generateContent. */
export type WireName = 'chat' | 'responses' | 'anthropic' | 'google';

export interface SeenCall {
  id: string;
  name: string;
  input: Json;
}

export interface SeenResult {
  id: string;
  text: string;
  isError: boolean;
}

export interface SeenMessage {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  calls: SeenCall[];
  results: SeenResult[];
  images: number;
  /** Reasoning and thinking parts as the wire carried them. */
  reasoning: JsonObject[];
}

export interface SeenTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** What the body says, the same for every wire. */
export interface Prompt {
  model: string;
  stream: boolean;
  instructions: string;
  messages: SeenMessage[];
  tools: SeenTool[];
  maxOutputTokens: number | null;
}

export interface SeenRequest extends Prompt {
  /** 1 for the first request that arrived, refused ones included. */
  number: number;
  wire: WireName;
  path: string;
  headers: IncomingHttpHeaders;
  raw: JsonObject;
  /** The bytes as they came. */
  body: string;
  /** Epoch milliseconds of arrival. */
  at: number;
  /** What the server answered with: 0 until it began. */
  status: number;
  /** Why a real server would have answered 400; null if it would not. */
  refusal: string | null;
  /** True once the client hung up before the answer was complete. */
  clientClosed: boolean;
  /** True once the script cut the connection. */
  brokenByScript: boolean;
  /** Resolves when the exchange is over: 'answered' in full, 'client' hung up, or 'broken' by the script. */
  ended: Promise<'answered' | 'client' | 'broken'>;
}

export interface ScriptedCall {
  name: string;
  input?: Json;
  /** Overrides the made-up id. */
  id?: string;
  /** Sent instead of the input's JSON, for malformed arguments. */
  rawArguments?: string;
}

export interface ScriptedUsage {
  /** All input tokens, cached ones included. */
  input: number;
  cachedInput?: number;
  output: number;
}

export interface ScriptedText {
  text?: string;
  calls?: ScriptedCall[];
  /** Reasoning before the text; comes with a signature that must come back unchanged. */
  reasoning?: string;
  usage?: ScriptedUsage;
  finish?: 'stop' | 'length' | 'content_filter';
  /** The text in these pieces instead of word by word. */
  pieces?: string[];
  /** Awaited before piece n (0-based) of the text is sent. */
  gate?: (piece: number) => Promise<void> | void;
  /** The socket is destroyed after this many pieces of text; 0 = after the opening events. */
  breakAfter?: number;
  /** The stream ends without a closing event after this many pieces of text. */
  endAfter?: number;
  /** Nothing more comes after this many pieces of text and the connection stays open. */
  hangAfter?: number;
  /** An error event of the wire instead of the rest. */
  errorAfter?: { pieces: number; type: string; message: string };
}

export interface ScriptedFailure {
  status: number;
  headers?: Record<string, string>;
  /** Sent as it is; absent: the wire's own error body. */
  body?: string;
  message?: string;
  /** The code or type in the wire's own error body. */
  code?: string;
}

export type Answer = ScriptedText | ScriptedFailure | { hang: true } | { destroy: true };

export type Responder = (request: SeenRequest) => Answer | undefined | Promise<Answer | undefined>;

/** One server-sent event; `piece` is set on those that carry text. */
export interface WireEvent {
  event?: string;
  data: string;
  piece?: number;
}

/** What differs from wire to wire; pure. */
export interface Wire {
  name: WireName;
  /** Throws a Refusal when a real server would answer 4xx. */
  read(raw: JsonObject, request: { path: string; headers: IncomingHttpHeaders }): Prompt;
  /** `nonce` makes ids unique per request. */
  events(answer: ScriptedText, prompt: Prompt, nonce: string): WireEvent[];
  /** The answer of a request that does not stream. */
  body(answer: ScriptedText, prompt: Prompt, nonce: string): string;
  /** The key the client sent. */
  key(headers: IncomingHttpHeaders): string | undefined;
  errorBody(status: number, message: string, code?: string): string;
  errorEvent(type: string, message: string): WireEvent;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(message: string, status = 400, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function refuse(message: string, status = 400, code?: string): never {
  throw new Refusal(message, status, code);
}

/** Narrowing helpers for bodies that come from outside. */
export function objectOf(value: unknown, where: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) refuse(`${where}: expected an object`);
  return value as JsonObject;
}

export function listOf(value: unknown, where: string): Json[] {
  if (!Array.isArray(value)) refuse(`${where}: expected an array`);
  return value as Json[];
}

export function textOf(value: unknown, where: string): string {
  if (typeof value !== 'string') refuse(`${where}: expected a string`);
  if (value.length === 0) refuse(`${where}: content must be non-empty`);
  return value;
}

/** Arguments must be the JSON of an object, as the stricter servers demand. */
export function argumentsOf(value: unknown, where: string): JsonObject {
  try {
    return objectOf(JSON.parse(textOf(value, where)), where);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return refuse(`${where}: arguments are not valid JSON`);
  }
}

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

export function nameOf(value: unknown, where: string): string {
  const name = textOf(value, where);
  if (!namePattern.test(name)) refuse(`Invalid '${where}': string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'.`);
  return name;
}

export function toolsOf(tools: SeenTool[]): SeenTool[] {
  const names = new Set<string>();
  for (const tool of tools) {
    if (names.has(tool.name)) refuse(`tools: Tool names must be unique (${tool.name}).`);
    names.add(tool.name);
    if (tool.schema.type !== 'object') refuse(`Invalid schema for function '${tool.name}': type must be 'object'.`);
  }
  return tools;
}

export function emptyMessage(role: SeenMessage['role']): SeenMessage {
  return { role, text: '', calls: [], results: [], images: 0, reasoning: [] };
}

/** Pieces of a text: the scripted ones, or words with their trailing blanks. */
export function piecesOf(answer: ScriptedText): string[] {
  return answer.pieces ?? answer.text?.match(/\s*\S+\s*/g) ?? (answer.text ? [answer.text] : []);
}

export function wholeText(answer: ScriptedText): string {
  return answer.pieces ? answer.pieces.join('') : (answer.text ?? '');
}

export function callsOf(
  answer: ScriptedText,
  nonce: string,
  prefix: string,
): { id: string; name: string; args: string }[] {
  return (answer.calls ?? []).map((call, index) => ({
    id: call.id ?? `${prefix}_${nonce}_${index + 1}`,
    name: call.name,
    args: call.rawArguments ?? JSON.stringify(call.input ?? {}),
  }));
}

/** Arguments travel in pieces that cut through keys and escapes. */
export function argumentPieces(args: string): string[] {
  return args.match(/[\s\S]{1,7}/g) ?? [''];
}

export function usageOf(answer: ScriptedText, prompt: Prompt): Required<ScriptedUsage> {
  const usage = answer.usage ?? {
    input: Math.ceil((prompt.instructions.length + JSON.stringify(prompt.messages).length) / 4),
    output: Math.max(1, Math.ceil(wholeText(answer).length / 4)),
  };
  return { cachedInput: 0, ...usage };
}
