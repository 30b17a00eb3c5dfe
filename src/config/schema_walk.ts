/** Goes through data and its schema together: the same few branches the schema of the configuration uses. */
import type { Json, JsonObject, JsonSchema } from '../types/json.ts';
import type { Path } from './issue.ts';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schemas that hold for one value: `oneOf` by its `type`, `if` by the constant it compares. */
function branches(schema: JsonSchema, value: Json): JsonSchema[] {
  const out = [schema];
  for (const branch of (schema.oneOf as JsonSchema[] | undefined) ?? []) {
    const tag = (branch.properties as Record<string, JsonSchema>).type?.const;
    if (isObject(value) && value.type === tag) out.push(branch);
  }
  for (const part of (schema.allOf as JsonSchema[] | undefined) ?? []) {
    const tests = Object.entries(((part.if as JsonSchema | undefined)?.properties as JsonObject | undefined) ?? {});
    const holds = tests.every(([key, test]) => isObject(value) && isObject(test) && value[key] === test.const);
    if (holds) out.push(part.then as JsonSchema);
  }
  return out;
}

/** The schemas of one key of an object. */
function schemasOf(schemas: readonly JsonSchema[], key: string): JsonSchema[] {
  const fixed = schemas.map((schema) => (schema.properties as Record<string, JsonSchema> | undefined)?.[key]);
  const found = fixed.filter((schema) => schema !== undefined);
  if (found.length > 0) return found;
  return schemas.map((schema) => schema.additionalProperties).filter((schema) => isObject(schema)) as JsonSchema[];
}

/** Puts the defaults of the schema into the data, in place. */
export function fillDefaults(schema: JsonSchema, value: Json): void {
  fill(branches(schema, value), value);
}

function fill(schemas: readonly JsonSchema[], value: Json): void {
  if (Array.isArray(value)) {
    for (const schema of schemas)
      if (isObject(schema.items)) for (const item of value) fill(branches(schema.items as JsonSchema, item), item);
    return;
  }
  if (!isObject(value)) return;
  for (const schema of schemas)
    for (const [key, sub] of Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {}))
      if (!Object.hasOwn(value, key) && sub.default !== undefined) value[key] = structuredClone(sub.default) as Json;
  for (const [key, child] of Object.entries(value))
    fill(
      schemasOf(schemas, key).flatMap((schema) => branches(schema, child)),
      child,
    );
}

/** Settings of a channel that are secret whether or not its schema says so. */
const secretName = /(^|_)(token|password|secret|key)$/;

/** Calls back for every text that the schema marks `x-secret`. */
export function eachSecret(schema: JsonSchema, value: Json, found: (path: Path, secret: string) => void): void {
  const visit = (schemas: readonly JsonSchema[], at: Json, path: Path): void => {
    if (typeof at === 'string') {
      const named = path[0] === 'channels' && secretName.test(String(path.at(-1)));
      if (named || schemas.some((one) => one['x-secret'] === true)) found(path, at);
    } else if (Array.isArray(at))
      at.forEach((item, index) => {
        const items = schemas.map((one) => one.items).filter((one) => isObject(one)) as JsonSchema[];
        visit(
          items.flatMap((one) => branches(one, item)),
          item,
          [...path, index],
        );
      });
    else if (isObject(at))
      for (const [key, child] of Object.entries(at))
        visit(
          schemasOf(schemas, key).flatMap((one) => branches(one, child)),
          child,
          [...path, key],
        );
  };
  visit(branches(schema, value), value, []);
}
