import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseManifest } from '../../src/skills/manifest.ts';
import { valid } from './support.ts';

const parse = (fields: object) => parseManifest(JSON.stringify({ ...valid, ...fields }));
const reasons = (fields: object) => parse(fields).reasons;

describe('skill.json', () => {
  it('is read as its format says', () => {
    const written = {
      schema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'x',
        type: 'object',
        properties: { path: { type: 'string' }, dry_run: { type: 'boolean', default: true } },
        required: ['path'],
      },
      env_allow: ['PATH', 'HOME', 'PATH'],
      timeout_seconds: 60,
      class: 'mutating',
      category: 'ops',
    };
    assert.deepEqual(parse(written), {
      manifest: {
        name: 'disk_cleaner',
        description: 'Frees disk space.',
        schema: {
          type: 'object',
          properties: { path: { type: 'string' }, dry_run: { type: 'boolean', default: true } },
          required: ['path'],
        },
        entry: 'run.sh',
        envAllow: ['PATH', 'HOME'],
        timeoutMs: 60_000,
        class: 'mutating',
        category: 'ops',
      },
      reasons: null,
      warnings: [],
      written: { name: 'disk_cleaner', entry: 'run.sh' },
    });
  });

  it('R62: what is absent, null, or zero where that means the default, gets its default', () => {
    const defaults = {
      name: 'disk_cleaner',
      description: 'Frees disk space.',
      schema: { type: 'object', properties: {} },
      entry: 'run.sh',
      envAllow: [],
      timeoutMs: 30_000,
      class: 'safe',
      category: 'external',
    };
    assert.deepEqual(parse({}).manifest, defaults);
    const empty = { schema: null, env_allow: null, timeout_seconds: 0, class: '', category: '' };
    assert.deepEqual(parse(empty).manifest, defaults);
  });

  it('R62: every wrong field is a reason, all at once', () => {
    assert.deepEqual(parseManifest('[]').reasons, ['must be a JSON object']);
    assert.deepEqual(parseManifest('null').reasons, ['must be a JSON object']);
    assert.match(parseManifest('{"name": "a",,}').reasons?.[0] ?? '', /JSON/);
    assert.deepEqual(parseManifest('{}').reasons, ['name is required', 'description is required', 'entry is required']);
    assert.deepEqual(reasons({ name: 'Disk-Cleaner', description: ' ', class: 'harmless', timeout_seconds: 1.5 }), [
      'name "Disk-Cleaner" must match [a-z0-9_]+',
      'description is required',
      'class "harmless" must be one of safe, mutating, dangerous',
      'timeout_seconds must be a whole number from 0 to 86400',
    ]);
    for (const effect of [false, 0, []])
      assert.deepEqual(reasons({ class: effect }), [
        `class ${JSON.stringify(effect)} must be one of safe, mutating, dangerous`,
      ]);
    assert.deepEqual(reasons({ name: 'a'.repeat(65) }), [
      'name must be at most 64 characters, since models take no longer ones',
    ]);
    for (const seconds of [-1, '60', 86_401])
      assert.deepEqual(reasons({ timeout_seconds: seconds }), [
        'timeout_seconds must be a whole number from 0 to 86400',
      ]);
    for (const list of ['PATH', [1], ['A=B'], ['']])
      assert.deepEqual(reasons({ env_allow: list }), ['env_allow must be a list of names of variables']);
    for (const key of ['name', 'description', 'entry', 'category'])
      assert.deepEqual(reasons({ [key]: 7 })?.[0], `${key} must be text`);
    assert.deepEqual(reasons({ entry: 'a\0b' }), ['entry must not hold a NUL or a line end']);
    assert.deepEqual(reasons({ entry: 'a\nb' }), ['entry must not hold a NUL or a line end']);
  });

  it('R62: a schema that no arguments can be checked by is a reason', () => {
    assert.deepEqual(reasons({ schema: [] }), ['schema must be a JSON Schema object']);
    assert.deepEqual(reasons({ schema: { type: 'string' } }), ['schema must have the type "object"']);
    assert.match(
      reasons({ schema: { properties: { a: { type: 'strong' } } } })?.[0] ?? '',
      /^schema: schema is invalid/,
    );
    assert.match(
      reasons({ schema: { properties: { a: { $ref: '#/nowhere' } } } })?.[0] ?? '',
      /^schema: can't resolve/,
    );
  });

  it('says which fields it does not know', () => {
    assert.deepEqual(parse({ env_alow: [] }).warnings, ['unknown field "env_alow" is ignored']);
  });
});
