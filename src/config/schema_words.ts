/**
 * Small makers of JSON Schema. Besides the standard keywords a schema of ours may carry
 * `x-message`: what the value must be, in words, for errors;
 * `x-secret`: the value is masked wherever it would be shown;
 * `x-moved`: keys people look for here that live elsewhere, with what to do.
 */
import type { JsonSchema } from '../types/json.ts';

export const vocabulary = ['x-message', 'x-secret', 'x-moved'];

type More = JsonSchema;

export function text(description: string, more: More = {}): JsonSchema {
  return { type: 'string', minLength: 1, description, ...more };
}

export function optionalText(description: string, more: More = {}): JsonSchema {
  return { type: ['string', 'null'], minLength: 1, default: null, description, ...more };
}

export function secret(description: string, more: More = {}): JsonSchema {
  return text(description, { 'x-secret': true, ...more });
}

export function optionalSecret(description: string, more: More = {}): JsonSchema {
  return optionalText(description, { 'x-secret': true, ...more });
}

export function flag(description: string, value: boolean): JsonSchema {
  return { type: 'boolean', default: value, description };
}

export function count(description: string, more: More = {}): JsonSchema {
  return { type: 'integer', minimum: 1, description, ...more };
}

/** USD; null = no cap. */
export function money(description: string, more: More = {}): JsonSchema {
  return { type: ['number', 'null'], exclusiveMinimum: 0, default: null, description, ...more };
}

export function choice(description: string, values: readonly string[], more: More = {}): JsonSchema {
  return { type: 'string', enum: values, description, ...more };
}

export function duration(description: string, value: string): JsonSchema {
  return {
    type: 'string',
    pattern: '^[0-9]{1,9}(s|m|h|d)$',
    'x-message': 'must be a duration such as 3s, 15m, 72h or 30d',
    default: value,
    description,
  };
}

export function list(description: string, items: JsonSchema, more: More = {}): JsonSchema {
  return { type: 'array', items, default: [], description, ...more };
}

/** A section with fixed keys; one that is absent counts as empty, so that its defaults hold. */
export function section(description: string, properties: Record<string, JsonSchema>, more: More = {}): JsonSchema {
  const empty = more.required === undefined ? { default: {} } : {};
  return { type: 'object', additionalProperties: false, properties, description, ...empty, ...more };
}

/** Entries under names that people choose. */
export function named(description: string, entry: JsonSchema, more: More = {}): JsonSchema {
  return {
    type: 'object',
    propertyNames: { pattern: namePattern, 'x-message': nameMessage },
    additionalProperties: entry,
    default: {},
    description,
    ...more,
  };
}

/** Entries under names that others choose, such as headers or tool ids. */
export function open(description: string, entry: JsonSchema, more: More = {}): JsonSchema {
  return { type: 'object', additionalProperties: entry, default: {}, description, ...more };
}

export const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';
export const nameMessage = 'must be a name of letters, digits, - and _, at most 64, such as acme-support';

/** `<channel>:<platform user id>` */
export function account(description: string): JsonSchema {
  return {
    type: 'string',
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*:.+$',
    'x-message': 'must be an account, <channel>:<platform user id>',
    description,
  };
}
