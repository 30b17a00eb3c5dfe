/** The contract of a tool, after the Open Agent SDK's ToolProtocol and MCP's annotations. */
import type { Log } from '../base/log.ts';
import type { Json, JsonObject, JsonSchema } from './json.ts';
import type { Audience } from './message.ts';

/** Ours to say; hints of a server never lower it. */
export type Effect = 'safe' | 'mutating' | 'dangerous';
export type Verdict = 'allow' | 'ask' | 'block';

export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  /** Stable; rules are keyed on (capability, id). */
  id: string;
  effect: Effect;
  /** What the model sees; the id unless overridden. */
  name: string;
  /** What it does, when to use it, its arguments, and what comes back. */
  description: string;
  returns: string;
  inputSchema: JsonSchema;
  annotations: ToolAnnotations;
  /** What the tool declares for itself; absent follows `effect`. */
  policy?: Verdict;
  /** Two people must approve, whatever the effect. */
  dualSign?: boolean;
  /** What the tool is beyond its schema and words: the digest of its folder or image. Part of what is approved (rule 50). */
  definition?: string;
  /** A tool that is a question to the person (`ask_user`): the run waits for the answers, and `call` gets them. */
  questions?(input: JsonObject): AskedQuestion[];
  /** A success ends the run with this result as the answer. */
  terminalOnSuccess?: boolean;
  call(input: JsonObject, context: ToolContext): Promise<ToolOutcome>;
}

export interface AskedQuestion {
  question: string;
  /** To choose from; none = a free answer. */
  options: string[];
}

export interface ToolContext {
  toolUseId: string;
  agent: string;
  /** Whose store, notes and files this run may reach; computed by the core from who hears the answer (P1). */
  owner: { kind: 'person' | 'chat'; id: string } | null;
  person: { id: string; name: string } | null;
  audience: Audience;
  conversation: string;
  signal: AbortSignal;
  log: Log;
  now(): number;
  progress(text: string): void;
  /** What the person answered to `questions`, in their order; null = skipped. Absent for every other tool. */
  answers?: readonly (string | null)[];
  /** The run's values per owner: store_get and its siblings. */
  values: ValueStore;
}

/** Limits of rule 32; every method throws a GatehouseError('limit') with words for the model. */
export interface ValueStore {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<boolean>;
  list(): Promise<Record<string, string>>;
}

/** What a call gives back; the host adds the tool use id and cuts what is too long. */
export interface ToolOutcome {
  content: string;
  /** Parts that are not text. Read once results carry files. */
  typedContent?: Json[];
  isError?: boolean;
  /**
   * Its own arguments were wrong, or something behind it failed for now: the model may try once more. Counted once
   * there are tools from outside; until then the words of the result say so.
   */
  retry?: boolean;
}

export interface ToolResult extends ToolOutcome {
  toolUseId: string;
  isError: boolean;
}

/** What a tool call is, as the model made it. */
export interface ToolCall {
  id: string;
  /** As the model wrote it. */
  name: string;
  input: Json;
}
