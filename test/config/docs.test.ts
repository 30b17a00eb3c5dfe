import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { renderDocs } from '../../scripts/docs.ts';
import { formatIssue } from '../../src/config/issue.ts';
import { loadConfig } from '../../src/config/load.ts';
import { plugins } from '../../src/plugins.ts';

const root = join(import.meta.dirname, '..', '..');

test('docs/ holds what "npm run docs" would write now', () => {
  const rendered = renderDocs(plugins);
  assert.deepEqual(Object.keys(rendered), ['docs/config.schema.json', 'docs/configuration.md']);
  for (const [path, content] of Object.entries(rendered))
    assert.ok(readFileSync(join(root, path), 'utf8') === content, `${path} is stale: run "npm run docs"`);
});

test('the shipped configuration works in an empty environment, with the demo model and the chat page', () => {
  const loaded = loadConfig(join(root, 'config.yaml'), {}, plugins);
  assert.deepEqual(loaded.warnings, []);
  assert.deepEqual(loaded.notYet, []);
  assert.deepEqual(
    loaded.notices.map((issue) => formatIssue(loaded.file, issue)),
    ['config.yaml:20 channels.telegram: left out, because TELEGRAM_TOKEN is not set'],
  );
  assert.deepEqual(Object.keys(loaded.config.channels), ['local']);
  assert.deepEqual(
    loaded.config.bindings.map((binding) => binding.id),
    ['chat-page'],
  );
  assert.equal(loaded.config.models.main?.provider, 'demo');
});

test('the shipped configuration takes a key and a Telegram token from the environment', () => {
  const env = { OPENAI_API_KEY: 'sk-1', TELEGRAM_TOKEN: '12345:abcdefgh' };
  const { config, secretValues } = loadConfig(join(root, 'config.yaml'), env, plugins);
  assert.equal(config.models.main?.provider, 'openai');
  assert.deepEqual(Object.keys(config.channels), ['local', 'telegram']);
  const telegram = config.bindings.find((binding) => binding.id === 'telegram');
  assert.deepEqual(telegram?.where, { chats: 'any', direct: true });
  assert.equal(telegram?.access.direct, 'pairing');
  assert.equal(telegram?.access.group, 'open');
  assert.deepEqual(secretValues, ['12345:abcdefgh', 'sk-1']);
});

test('the shipped configuration tells editors its schema', () => {
  const [first] = readFileSync(join(root, 'config.yaml'), 'utf8').split('\n');
  assert.equal(first, '# yaml-language-server: $schema=docs/config.schema.json');
});
