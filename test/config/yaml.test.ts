import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOf } from './support.ts';

test('a key written twice is an error with both lines', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway:\n  name: A\n  listen: 127.0.0.1:1\n  name: B\n'), [
    'config.yaml:4 gateway.name: is written twice, first in line 2; remove one',
  ]);
});

test('a tab that indents is an error that says so', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway:\n\tname: A\n'), [
    'config.yaml:2 not valid YAML: a tab cannot indent; use spaces',
  ]);
});

test('a bracket that is left open is named', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway: { name: A\nmodels: { a: { provider: demo } }\n'), [
    'config.yaml:2 not valid YAML: a `{` is not closed before this',
  ]);
});

test('several documents are an error with the line of the second', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway: {}\n---\ngateway: {}\n'), [
    'config.yaml:2 the file holds several YAML documents; keep one and remove the "---" before the others',
  ]);
});

test('merge keys are an error and merge nothing', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway: &g { name: A }\nconsole: { <<: *g }\n'), [
    'config.yaml:2 console: merge keys (<<) are not read; write the values out',
  ]);
});

test('tags are an error', (t) => {
  assert.deepEqual(errorsOf(t, 'gateway: { name: !env NAME }\n'), [
    'config.yaml:1 not valid YAML: tags (!name) are not read; remove it, or quote the value if it is text',
  ]);
});

test('YAML 1.1 is refused, where yes would mean true', (t) => {
  assert.deepEqual(errorsOf(t, '%YAML 1.1\n---\nconsole: { enabled: yes }\n'), [
    'config.yaml:1 only YAML 1.2 is read; remove the %YAML line',
  ]);
});

test('aliases may be used, but not to blow the file up', { timeout: 5000 }, (t) => {
  assert.deepEqual(
    errorsOf(t, 'models: { a: &m { provider: demo }, b: *m }\nagents: { x: { model: b, instructions: Hi. } }\n'),
    [],
  );
  const layers = ['l0: &l0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    layers.push(`l${i}: &l${i} [${Array.from({ length: 10 }, () => `*l${i - 1}`).join(', ')}]`);
  assert.deepEqual(errorsOf(t, `${layers.join('\n')}\n`), [
    'config.yaml: the file is too large once its aliases (*name) are followed; write the values out instead',
  ]);
});

test('an alias of what is around it ends', { timeout: 5000 }, (t) => {
  assert.deepEqual(errorsOf(t, 'gateway: &g { log: *g }\n'), [
    'config.yaml: the file is too large once its aliases (*name) are followed; write the values out instead',
  ]);
});

test('nesting without end is refused', { timeout: 5000 }, (t) => {
  const errors = errorsOf(t, `policies: ${'['.repeat(500)}${']'.repeat(500)}\n`);
  assert.deepEqual(errors, [
    'config.yaml: the file is too large once its aliases (*name) are followed; write the values out instead',
  ]);
});

test('a name that would reach the prototype is refused', (t) => {
  assert.deepEqual(errorsOf(t, 'policies:\n  __proto__: { x: allow }\n'), [
    'config.yaml:2 policies.__proto__: this name cannot be used',
  ]);
  assert.equal(({} as Record<string, unknown>).x, undefined);
});

test('what is not a settings file is refused in one line', (t) => {
  assert.deepEqual(errorsOf(t, ''), [
    'config.yaml: the file has no settings; see docs/configuration.md for a first one',
  ]);
  assert.deepEqual(errorsOf(t, '# only words\n'), [
    'config.yaml: the file has no settings; see docs/configuration.md for a first one',
  ]);
  assert.deepEqual(errorsOf(t, '- a\n- b\n'), ['config.yaml: the file must be a list of "key: value" settings']);
  assert.deepEqual(errorsOf(t, new Uint8Array([0x67, 0x3a, 0x20, 0xff, 0xfe])), [
    'config.yaml: the file is not UTF-8 text; save it as UTF-8',
  ]);
  assert.deepEqual(errorsOf(t, `# ${'x'.repeat(1024 * 1024)}\n`), [
    'config.yaml: the file is larger than 1 MiB; is this the right file?',
  ]);
});

test('an open bracket is an error with its line', (t) => {
  const [first] = errorsOf(t, 'gateway: { name: A\nmodels: {}\n');
  assert.match(first!, /^config\.yaml:\d not valid YAML: /);
});

test('an alias of nothing is an error', (t) => {
  assert.match(errorsOf(t, 'gateway:\n  name: *nope\n')[0]!, /^config\.yaml:2 .*nope/);
});
