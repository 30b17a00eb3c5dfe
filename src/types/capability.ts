/** A unit switched on per agent; a folder in `capabilities/` exports a CapabilityPlugin. */
import type { JsonObject, JsonSchema } from './json.ts';
import type { Audience } from './message.ts';
import type { Tool } from './tool.ts';

export interface CapabilityPlugin<Config = JsonObject> {
  id: string;
  name: string;
  category: string;
  description: string;
  configSchema: JsonSchema;
  /** Every tool it can contribute, for overrides, policies and docs; `attach` offers all or some of them. */
  tools: Tool[];
  /** Offered to every agent without being listed. */
  always?: boolean;
  /** Adds what this capability has to offer in this run; nothing added = not attached. */
  attach(run: RunBuilder, config: Config): void;
}

/** What a capability may know about the run it joins. */
export interface RunFacts {
  audience: Audience;
  person: { id: string; name: string } | null;
  /** The person's, or the gateway's where none is known: an IANA name that exists. */
  timezone: string;
  now(): number;
}

export interface RunBuilder {
  readonly facts: RunFacts;
  tool(tool: Tool): void;
  /** Part of the stable prefix (M1): must not change while configuration and grants do not. */
  instructions(text: string): void;
  /** A line placed after the stable prefix of each run, where things that change belong. */
  reminder(text: () => string): void;
  /** After the run's end is committed. For capabilities that hold something open; none does yet. */
  onFinish(hook: () => Promise<void>): void;
}
