/** Schemas come with skills, containers and servers; their authors are not trusted to be careful. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validatorOf } from '../../src/tools/validator.ts';

const errorsOf = (schema: object, input: unknown) => {
  const validate = validatorOf(schema);
  return validate(input) ? null : validate.errors?.map(({ instancePath, message }) => [instancePath, message]);
};

describe('checking arguments', () => {
  it('a pattern that would take years is given up, and the arguments are wrong', { timeout: 20_000 }, () => {
    const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^(\\w+\\s?)*$' } } };
    const endless = { name: `${'a'.repeat(60)}!` };
    assert.deepEqual(errorsOf(schema, endless), [['', 'cannot be checked: that takes more than 100 ms']]);
    assert.equal(errorsOf(schema, { name: 'two words' }), null);
    assert.deepEqual(errorsOf(schema, { name: '!' }), [['/name', 'must match pattern "^(\\w+\\s?)*$"']]);
  });

  it('a schema that leads to itself is no way to throw', () => {
    assert.deepEqual(errorsOf({ type: 'object', allOf: [{ $ref: '#' }] }, {}), [
      ['', 'cannot be checked: Maximum call stack size exceeded'],
    ]);
  });

  it('an asynchronous schema checks as any other', () => {
    const schema = { $async: true, type: 'object', properties: { a: { type: 'string' } } };
    assert.deepEqual(errorsOf(schema, { a: 1 }), [['/a', 'must be string']]);
    assert.equal(errorsOf(schema, { a: 'x' }), null);
  });
});
