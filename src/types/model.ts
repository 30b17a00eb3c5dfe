/** One model request, apart from who serves it. */
import type { Json, JsonSchema } from './json.ts';
import type { ToolCall } from './tool.ts';

export interface ModelProfile {
  name: string;
  provider: 'openai' | 'anthropic' | 'google' | 'openai_compatible' | 'demo';
  model: string;
  apiKey: string | null;
  baseUrl: string | null;
  contextWindow: number;
  maxOutputTokens: number;
  /** USD per million tokens; null = unknown, cost is partial. */
  price: { input: number; cachedInput: number; output: number } | null;
  timeoutMs: number;
  retries: number;
  fallbacks: string[];
}

/**
 * A message of the transcript. `assistant` keeps the provider's own parts (reasoning, signatures, item ids) in
 * `native`, opaque JSON that is valid for the same provider only and dropped for a fallback.
 */
export type ModelMessage =
  | { role: 'user'; content: string; images?: { mime: string; base64: string }[] }
  | { role: 'assistant'; text: string; calls: ToolCall[]; native?: { provider: string; messages: Json } }
  | { role: 'tool'; results: { id: string; name: string; content: string; isError: boolean }[] };

export interface ModelTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
}

export interface ModelRequest {
  /** The stable prefix: instructions, then tools, then the messages up to the last finished exchange (M1). */
  instructions: string;
  tools: ModelTool[];
  messages: ModelMessage[];
  /** How many of `messages` belong to the stable prefix; a cache breakpoint is set behind them. */
  stableMessages: number;
  /** Identifies the run to the provider for cache routing; never a person. */
  cacheKey: string;
}

export interface Usage {
  /** All input tokens, cached ones included. */
  input: number;
  cachedInput: number;
  output: number;
}

export interface ModelAnswer {
  text: string;
  calls: ToolCall[];
  /** Goes into the transcript as it is. */
  message: Extract<ModelMessage, { role: 'assistant' }>;
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';
  usage: Usage;
  /** Which profile answered: the asked one or a fallback. */
  profile: string;
}

export interface ModelObserver {
  /** Text as it arrives. `reset` says that what was shown so far is void: a retry began anew. */
  onText(delta: string): void;
  onReset(): void;
  /** What a failed or aborted attempt is known to have spent (M3). */
  onSpent(profile: string, usage: Usage): void;
}

/** Serves requests from one profile and its fallbacks; throws a ModelError. */
export interface Model {
  ask(request: ModelRequest, observer: ModelObserver, signal: AbortSignal): Promise<ModelAnswer>;
}
