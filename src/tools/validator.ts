/** Checks arguments against schemas that others wrote. Whatever those say, a check ends, and soon. */
import { createContext, Script } from 'node:vm';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export interface Validator {
  /** Never throws; false also where the check itself fails or takes too long. */
  (input: unknown): boolean;
  /** Of the last check. */
  errors: readonly Pick<ErrorObject, 'instancePath' | 'message'>[] | null;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false });
/** Per schema object: tools live as long as their capability, so each is compiled once. */
const validators = new WeakMap<object, Validator>();

export function validatorOf(schema: object): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    validator = compile(schema);
    validators.set(schema, validator);
  }
  return validator;
}

function compile(schema: object): Validator {
  const text = JSON.stringify(schema);
  // Whoever validates asynchronously answers with a promise, which is never false.
  const { $async: _async, ...sync } = schema as { $async?: unknown };
  const check = ajv.compile(sync);
  // It would keep the schemas of every reload.
  ajv.removeSchema(sync);
  const isSlow = /"(?:pattern|patternProperties|uniqueItems)":/.test(text);
  const validator: Validator = (input) => {
    validator.errors = null;
    try {
      const right = isSlow ? inTime(() => check(input)) : check(input);
      validator.errors = check.errors ?? null;
      return right;
    } catch (error) {
      validator.errors = [{ instancePath: '', message: `cannot be checked: ${messageOf(error)}` }];
      return false;
    }
  };
  validator.errors = null;
  return validator;
}

const room = createContext({ work: null });
const script = new Script('work()');

/** A regular expression may take years for 30 characters, and nothing else can interrupt one. Costs half a millisecond. */
function inTime(work: () => boolean): boolean {
  room.work = work;
  try {
    return script.runInContext(room, { timeout: limits.schemaCheckMsMax }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(`that takes more than ${limits.schemaCheckMsMax} ms`);
  } finally {
    room.work = null;
  }
}
