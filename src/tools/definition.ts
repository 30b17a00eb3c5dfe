/** What an approval and an "always allow" are for (A1; rules 43, 50): digests of a tool, of arguments, of one call. */
import { canonicalJson, sha256 } from '../base/digest.ts';
import type { Json } from '../types/json.ts';
import type { Tool } from '../types/tool.ts';

/** Tools live as long as their capability; a changed one is another object. */
const definitions = new WeakMap<Tool, string>();

/**
 * What the tool is: its schema, its words and, where it has one, the digest of its folder or image. Of the tool itself:
 * other words for the model do not change what a person has approved.
 */
export function definitionOf(tool: Tool): string {
  let definition = definitions.get(tool);
  if (definition === undefined) {
    const { inputSchema, description, returns } = tool;
    definition = sha256(
      canonicalJson({
        inputSchema: inputSchema as Json,
        description,
        returns,
        definition: tool.definition ?? null,
      }),
    );
    definitions.set(tool, definition);
  }
  return definition;
}

/** `input` without the agent's message. */
export function argumentsDigest(input: Json): string {
  return sha256(canonicalJson(input));
}

export interface ExactCall {
  capability: string;
  tool: string;
  definition: string;
  agentVersion: number;
  /** Without the agent's message. */
  input: Json;
}

/** What is decided, and what runs: the same digest or nothing (A1). */
export function callDigest({ capability, tool, definition, agentVersion, input }: ExactCall): string {
  return sha256(canonicalJson({ capability, tool, definition, agentVersion, input }));
}
