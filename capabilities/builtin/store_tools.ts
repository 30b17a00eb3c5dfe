import { GatehouseError } from '../../src/base/errors.ts';
import { limits } from '../../src/base/limits.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { Tool, ToolOutcome, ValueStore } from '../../src/types/tool.ts';

/**
 * Names, parameters and replies are those of the seed `selu-builtin-tools`; the limits are rule 32. The host has
 * checked the arguments against the schema.
 */

const key = (description: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: limits.valueKeyCharsMax,
  description,
});

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** Overwriting and deleting lose what was there; doing it twice changes nothing more. */
const idempotent = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };

const get: Tool = {
  id: 'store_get',
  name: 'store_get',
  effect: 'safe',
  description:
    'Reads one value that was stored earlier with store_set. Use it when you know the key, for example at the start ' +
    'of a task that continues earlier work; use store_list when you do not. `key` is the exact key, upper and lower ' +
    'case matter. Returns the value as it was stored, or null when there is no such key.',
  returns: 'The stored value, or null.',
  inputSchema: objectOf({ key: key('The key to read.') }),
  annotations: readOnly,
  call: (input, { values }) => answer(values, async (store) => (await store.get(String(input.key))) ?? 'null'),
};

const set: Tool = {
  id: 'store_set',
  name: 'store_set',
  effect: 'safe',
  description:
    'Stores one value durably under a key. Use it for small facts you will need in later conversations, such as ' +
    'preferences, checkpoints or settings; not for long texts or secrets. It stays until it is replaced or deleted, and ' +
    'is kept apart for each agent and each person (in a group: for each group). `key` is a short name, a value ' +
    'already stored under it is replaced; `value` is text, so write objects and lists as JSON. A value may have ' +
    `${limits.valueBytesMax / 1024} KiB, a store ${limits.valueKeysMax.toLocaleString('en')} keys and ` +
    `${limits.valueStoreBytesMax / 1024 / 1024} MiB. Returns a confirmation.`,
  returns: 'A confirmation.',
  inputSchema: objectOf({
    key: key('The key to store the value under.'),
    value: { type: 'string', description: 'The value to store; write objects and lists as JSON.' },
  }),
  annotations: idempotent,
  call: (input, { values }) =>
    answer(values, async (store) => {
      await store.set(String(input.key), String(input.value));
      return `Stored under ${quoted(input.key)}.`;
    }),
};

const remove: Tool = {
  id: 'store_delete',
  name: 'store_delete',
  effect: 'safe',
  description:
    'Deletes one stored value for good. Use it for what is outdated, or when the person asks to forget it. `key` is ' +
    'the exact key. Returns a confirmation, also when there was no such key.',
  returns: 'A confirmation.',
  inputSchema: objectOf({ key: key('The key to delete.') }),
  annotations: idempotent,
  call: (input, { values }) =>
    answer(values, async (store) => {
      const existed = await store.delete(String(input.key));
      return `Deleted ${quoted(input.key)}${existed ? '' : ' (there was no such key)'}.`;
    }),
};

const list: Tool = {
  id: 'store_list',
  name: 'store_list',
  effect: 'safe',
  description:
    'Lists everything that is stored for this agent and this person (in a group: this group). Use it to find out what ' +
    'is there or how a key is written. It takes no arguments. Returns one JSON object that maps each key to its value, ' +
    '{} when nothing is stored.',
  returns: 'A JSON object of all keys and values.',
  inputSchema: objectOf({}),
  annotations: readOnly,
  call: (_input, { values }) => answer(values, async (store) => JSON.stringify(await store.list())),
};

export const storeTools: Tool[] = [get, set, remove, list];

function objectOf(properties: Record<string, object>) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function quoted(value: JsonObject[string] | undefined): string {
  return JSON.stringify(value);
}

/** What the store refuses is an answer the model can act on; everything else is for the host. */
async function answer(store: ValueStore, work: (store: ValueStore) => Promise<string>): Promise<ToolOutcome> {
  try {
    return { content: await work(store) };
  } catch (error) {
    if (!(error instanceof GatehouseError) || (error.code !== 'limit' && error.code !== 'refused')) throw error;
    return { content: error.message, isError: true };
  }
}
