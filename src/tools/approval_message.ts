/** The sentence an agent may give with a call that people are asked about (A3). */
import { cleanName } from '../base/safe_text.ts';
import type { Json, JsonSchema } from '../types/json.ts';
import type { Tool } from '../types/tool.ts';

export const approvalMessageName = '_approval_message';
const charactersMax = 140;

const property = {
  type: 'string',
  maxLength: charactersMax,
  description:
    'One short sentence for the people who decide about this call: what it will do and why. They see it as your words, ' +
    'beside the tool and its arguments. It is not passed to the tool.',
};

const extended = new WeakMap<JsonSchema, JsonSchema>();

/** A copy with the property, the same one each time; a schema that has the name of its own stays as it is. */
export function withApprovalMessage(schema: JsonSchema): JsonSchema {
  if (declares(schema)) return schema;
  let copy = extended.get(schema);
  if (!copy) {
    copy = { ...schema, properties: { ...propertiesOf(schema), [approvalMessageName]: property } };
    extended.set(schema, copy);
  }
  return copy;
}

/**
 * Takes the agent's sentence out of the arguments, before they are checked, shown, digested or used. It comes back on
 * one line, of at most 140 characters, without what cannot be seen and with no `@` that could begin a mention; null
 * when there is none.
 */
export function takeApprovalMessage(
  tool: Pick<Tool, 'inputSchema'>,
  input: Json,
): { input: Json; message: string | null } {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return { input, message: null };
  if (!Object.hasOwn(input, approvalMessageName) || declares(tool.inputSchema)) return { input, message: null };
  const { [approvalMessageName]: said, ...rest } = input;
  return { input: rest, message: typeof said === 'string' ? sentenceOf(said) : null };
}

function sentenceOf(said: string): string | null {
  const words = cleanName(said.slice(0, charactersMax * 16), charactersMax);
  // No platform begins a mention at the full-width sign, and people read it as the same.
  const quiet = words.replaceAll('@', '\uff20');
  return quiet === '' ? null : quiet;
}

function propertiesOf(schema: JsonSchema): Record<string, unknown> {
  const { properties } = schema;
  return properties !== null && typeof properties === 'object' ? (properties as Record<string, unknown>) : {};
}

function declares(schema: JsonSchema): boolean {
  return Object.hasOwn(propertiesOf(schema), approvalMessageName);
}
