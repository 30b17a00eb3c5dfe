/** Checks data against the schema and says what is wrong in people's words. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonObject, JsonSchema } from '../types/json.ts';
import { nearest, type Path, suggestion } from './issue.ts';
import { isObject } from './schema_walk.ts';
import { vocabulary } from './schema_words.ts';

export interface SchemaProblem {
  path: Path;
  message: string;
  /** There is nothing to take out: the value is missing, or only its name is wrong. */
  keep: boolean;
}

const compiled = new WeakMap<JsonSchema, ValidateFunction>();

function compile(schema: JsonSchema): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    // Unchecked and unoptimized: a test checks the schema, and compiling it takes a third of the time.
    const ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      strict: false,
      discriminator: true,
      messages: false,
      validateSchema: false,
      code: { optimize: false },
    });
    ajv.addVocabulary(vocabulary);
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  return validate;
}

/** Every problem once, the first reason for each place. `hidden` tells values that must not be shown. */
export function validate(schema: JsonSchema, data: JsonObject, hidden: (path: Path) => boolean): SchemaProblem[] {
  const check = compile(schema);
  if (check(data)) return [];
  const problems = new Map<string, SchemaProblem>();
  for (const error of check.errors ?? []) {
    const problem = describe(error, data, hidden);
    if (problem === null) continue;
    const key = JSON.stringify(problem.path);
    if (!problems.has(key)) problems.set(key, problem);
  }
  return [...problems.values()];
}

function describe(error: ErrorObject, data: JsonObject, hidden: (path: Path) => boolean): SchemaProblem | null {
  const path = pathOf(error.instancePath, data);
  const schema = (error.parentSchema ?? {}) as JsonSchema;
  const params = error.params as Record<string, unknown>;
  const wrong = (message: string, at: Path = path): SchemaProblem => ({ path: at, message, keep: false });
  switch (error.keyword) {
    case 'if':
      return null;
    case 'additionalProperties': {
      const key = String(params.additionalProperty);
      return wrong(unknownKey(key, schema), [...path, key]);
    }
    case 'required': {
      const key = String(params.missingProperty);
      if (schema.oneOf !== undefined) return missingTag(path, schema);
      const about = (schema.properties as Record<string, JsonSchema> | undefined)?.[key]?.description;
      return {
        path: [...path, key],
        message: `is missing${typeof about === 'string' ? `: ${lower(about)}` : ''}`,
        keep: true,
      };
    }
    case 'discriminator': {
      if (params.tagValue === undefined) return missingTag(path, schema);
      const near = suggestion(String(params.tagValue), tagsOf(schema), 'platforms');
      const at = [...path, 'type'];
      const value = hidden(at) ? 'the value' : `"${String(params.tagValue).slice(0, 60)}"`;
      return wrong(`${value} is not a platform known here${near}`, at);
    }
    case 'propertyNames': {
      const names = schema.propertyNames as JsonSchema;
      const at = [...path, String(params.propertyName)];
      return { path: at, message: String(names['x-message']), keep: true };
    }
    default:
      if (error.propertyName !== undefined) return null;
      if (error.data === null) return wrong(reason(error, schema, true));
      return wrong(String(schema['x-message'] ?? reason(error, schema, hidden(path))));
  }
}

function reason(error: ErrorObject, schema: JsonSchema, hide: boolean): string {
  const value = error.data as Json;
  const limit = (error.params as { limit?: number }).limit;
  switch (error.keyword) {
    case 'type':
      if (value === null) return 'is empty; give it a value or remove the line';
      return `must be ${kinds(schema.type)}, not ${kindOf(value)}`;
    case 'enum': {
      const allowed = (schema.enum as Json[]).map(String);
      if (typeof value === 'string' && !hide) {
        const near = nearest(value, allowed);
        if (near !== undefined) return `must be one of ${allowed.join(', ')}, did you mean "${near}"?`;
      }
      return `must be one of ${allowed.join(', ')}`;
    }
    case 'const':
      return `must be ${JSON.stringify(schema.const)}`;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minItems':
      return `needs at least ${limit === 1 ? 'one entry' : `${limit} entries`}`;
    case 'maxItems':
      return `takes at most ${limit} entries`;
    case 'uniqueItems':
      return 'must not name anything twice';
    case 'pattern':
      return `does not look right; it must match ${String(schema.pattern)}`;
    default:
      return `is not valid (${error.keyword})`;
  }
}

function unknownKey(key: string, schema: JsonSchema): string {
  const moved = schema['x-moved'];
  if (isObject(moved) && typeof moved[key] === 'string') return moved[key];
  const known = Object.keys((schema.properties as object | undefined) ?? {});
  return `unknown key${suggestion(key, known, 'keys here')}`;
}

function missingTag(path: Path, schema: JsonSchema): SchemaProblem {
  return { path: [...path, 'type'], message: `is missing; it is one of ${tagsOf(schema).join(', ')}`, keep: true };
}

function tagsOf(schema: JsonSchema): string[] {
  return (schema.oneOf as JsonSchema[]).map((branch) =>
    String((branch.properties as Record<string, JsonSchema>).type?.const),
  );
}

/** A JSON pointer as a path; positions in lists become numbers. */
function pathOf(pointer: string, data: Json): Path {
  const path: (string | number)[] = [];
  let at: Json | undefined = data;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) {
      path.push(Number(key));
      at = at[Number(key)];
    } else {
      path.push(key);
      at = isObject(at) ? at[key] : undefined;
    }
  }
  return path;
}

const kindWords: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section of "key: value" lines',
  null: 'null',
};

function kinds(type: unknown): string {
  const all = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  return all.map((one) => kindWords[String(one)] ?? String(one)).join(' or ');
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a section';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number';
  return typeof value === 'boolean' ? 'true or false' : 'text';
}

function lower(sentence: string): string {
  return (sentence[0]?.toLowerCase() ?? '') + sentence.slice(1).replace(/\.$/, '');
}

/** A copy without the values that are wrong, so that later checks meet only absent or valid ones. */
export function withoutWrong(data: JsonObject, problems: readonly SchemaProblem[]): JsonObject {
  const copy = structuredClone(data);
  for (const { path, keep } of problems) {
    if (keep) continue;
    let at: Json | undefined = copy;
    for (const part of path.slice(0, -1))
      at = Array.isArray(at) ? at[Number(part)] : isObject(at) ? at[String(part)] : undefined;
    const last = path.at(-1);
    if (Array.isArray(at)) at[Number(last)] = null;
    else if (isObject(at)) delete at[String(last)];
  }
  return copy;
}
