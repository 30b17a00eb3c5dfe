/** `skill.json`: what it may say, and every reason why it is refused. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Json, JsonObject, JsonSchema } from '../types/json.ts';
import type { Effect } from '../types/tool.ts';

export interface Manifest {
  name: string;
  description: string;
  /** Always an object schema; without `$schema`, `$id` and `$async`, which say nothing about the arguments. */
  schema: JsonSchema;
  /** As written: a path from the folder of skill.json, or an absolute one. */
  entry: string;
  envAllow: string[];
  timeoutMs: number;
  class: Effect;
  category: string;
}

/** What also a wrong manifest says, for messages about it; empty where it says nothing. */
export interface WrittenNames {
  name: string;
  entry: string;
}

export type ManifestResult =
  | { manifest: Manifest; reasons: null; warnings: string[]; written: WrittenNames }
  | { manifest: null; reasons: string[]; warnings: string[]; written: WrittenNames };

const fields = ['name', 'description', 'schema', 'entry', 'env_allow', 'timeout_seconds', 'class', 'category'];
const nothing: WrittenNames = { name: '', entry: '' };
const classes: readonly Json[] = ['safe', 'mutating', 'dangerous'];

/** A field that is absent, null, or empty where that means the default, gets its default. Never throws. */
export function parseManifest(text: string): ManifestResult {
  let data: Json;
  try {
    data = JSON.parse(text) as Json;
  } catch (error) {
    return { manifest: null, reasons: [`not valid JSON: ${messageOf(error)}`], warnings: [], written: nothing };
  }
  if (data === null || typeof data !== 'object' || Array.isArray(data))
    return { manifest: null, reasons: ['must be a JSON object'], warnings: [], written: nothing };
  const written = data;
  const reasons: string[] = [];
  const warnings = Object.keys(written)
    .filter((key) => !fields.includes(key))
    .map((key) => `unknown field "${key}" is ignored`);
  const reason = (ok: boolean, words: string) => {
    if (!ok) reasons.push(words);
  };
  const textOf = (key: string, required: boolean): string => {
    const value = written[key] ?? '';
    if (typeof value !== 'string') reasons.push(`${key} must be text`);
    else if (required && value.trim() === '') reasons.push(`${key} is required`);
    return typeof value === 'string' ? value : '';
  };

  const name = textOf('name', true);
  reason(name === '' || /^[a-z0-9_]+$/.test(name), `name "${name}" must match [a-z0-9_]+`);
  reason(
    name.length <= limits.skillNameCharsMax,
    `name must be at most ${limits.skillNameCharsMax} characters, since models take no longer ones`,
  );
  const description = textOf('description', true);
  const entry = textOf('entry', true);
  reason(!/[\0\r\n]/.test(entry), 'entry must not hold a NUL or a line end');
  const category = textOf('category', false) || 'external';
  const effect = (written.class ?? '') === '' ? 'safe' : (written.class as Json);
  reason(classes.includes(effect), `class ${JSON.stringify(effect)} must be one of safe, mutating, dangerous`);
  const seconds = written.timeout_seconds ?? 0;
  reason(
    Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= limits.skillTimeoutSecondsMax,
    `timeout_seconds must be a whole number from 0 to ${limits.skillTimeoutSecondsMax}`,
  );
  const allowed = written.env_allow ?? [];
  const names = Array.isArray(allowed) ? allowed : [];
  reason(
    Array.isArray(allowed) && names.every((one) => typeof one === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(one)),
    'env_allow must be a list of names of variables',
  );
  const schema = argumentsSchema(written.schema, reasons);

  if (reasons.length > 0) return { manifest: null, reasons, warnings, written: { name, entry } };
  return {
    manifest: {
      name,
      description,
      schema,
      entry,
      envAllow: [...new Set(names as string[])],
      timeoutMs: Number(seconds) * 1_000 || limits.skillTimeoutMsDefault,
      class: effect as Effect,
      category,
    },
    reasons: null,
    warnings,
    written: { name, entry },
  };
}

/** The schema must describe an object, and compile: a model is never shown one that no arguments can be checked by. */
function argumentsSchema(written: Json | undefined, reasons: string[]): JsonSchema {
  if (written === undefined || written === null) return { type: 'object', properties: {} };
  if (typeof written !== 'object' || Array.isArray(written)) {
    reasons.push('schema must be a JSON Schema object');
    return {};
  }
  const { $schema: _version, $id: _id, $async: _async, ...rest } = written as JsonObject;
  const schema: JsonSchema = { type: 'object', ...rest };
  if (schema.type !== 'object') reasons.push('schema must have the type "object"');
  try {
    new Ajv2020({ strict: false }).compile(schema);
  } catch (error) {
    reasons.push(`schema: ${messageOf(error)}`);
  }
  return schema;
}
