import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { formatIssue } from '../../src/config/issue.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createConfigSchema } from '../../src/config/schema.ts';
import { plugins } from '../../src/plugins.ts';
import type { JsonObject, JsonSchema } from '../../src/types/json.ts';

const file = join(import.meta.dirname, '..', 'fixtures', 'config.reference.yaml');
const env = {
  GATEHOUSE_KEY: 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=',
  OPENAI_API_KEY: 'sk-openai-secret',
  SLACK_BOT_TOKEN: 'xoxb-secret',
  SLACK_APP_TOKEN: 'xapp-secret',
  MATTERMOST_TOKEN: 'mattermost-secret',
  TELEGRAM_TOKEN: '12345:telegram-secret',
  BLUEBUBBLES_PASSWORD: 'bluebubbles-secret',
  BLUEBUBBLES_WEBHOOK_SECRET: 'webhook-secret',
  GITHUB_TOKEN: 'github-secret',
};

test('the reference file is valid, and each key whose feature is missing gets its line', () => {
  const loaded = loadConfig(file, env, plugins);
  assert.deepEqual(loaded.warnings, []);
  const lines = loaded.notYet.map((issue) => formatIssue(loaded.file, issue));
  for (const line of [
    'config.reference.yaml:19 secrets.key: not available yet in this version; ignored',
    'config.reference.yaml:37 channels.acme-slack: slack is not available yet in this version; ignored with its bindings',
    'config.reference.yaml:78 agents.helper.capabilities[1]: memory_files is not available yet in this version; ignored',
    'config.reference.yaml:88 agents.helper.capabilities[4]: mcp:github is not available yet in this version; ignored',
    'config.reference.yaml:90 agents.helper.subagents: not available yet in this version; ignored',
    'config.reference.yaml:112 bindings[0].channel_tools: not available yet in this version; ignored',
    'config.reference.yaml:153 mcp_servers: not available yet in this version; ignored',
    'config.reference.yaml:165 events: not available yet in this version; ignored',
    'config.reference.yaml:170 console: not available yet in this version; ignored',
  ])
    assert.ok(lines.includes(line), line);
  assert.equal(lines.length, 27);
});

test('a key of the reference that nothing sets is not called missing', () => {
  const loaded = loadConfig(file, env, plugins);
  const paths = loaded.notYet.map((issue) => issue.path);
  assert.ok(!paths.includes('mem0_allowed_hosts'), 'an empty list asks for nothing');
  assert.ok(!paths.some((path) => path.startsWith('channels.local') || path.startsWith('channels.helper-telegram')));
});

test('values from the environment that are secret are known for masking', () => {
  const { secretValues } = loadConfig(file, env, plugins);
  assert.deepEqual([...secretValues].sort(), [...Object.values(env), 'Bearer github-secret'].sort());
});

test('every key of the reference is in the schema with a description', () => {
  const reference = parse(readFileSync(file, 'utf8')) as JsonObject;
  const schema = createConfigSchema(plugins);
  const missing: string[] = [];
  const visit = (value: unknown, at: JsonSchema, path: string): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, (at.items ?? {}) as JsonSchema, `${path}[]`);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const branches = (at.oneOf as JsonSchema[] | undefined) ?? [at];
    const type = (value as JsonObject).type;
    const own = branches.find((one) => (one.properties as Record<string, JsonSchema>)?.type?.const === type) ?? at;
    for (const [key, child] of Object.entries(value)) {
      const fixed = (own.properties as Record<string, JsonSchema> | undefined)?.[key];
      const open = typeof own.additionalProperties === 'object' ? (own.additionalProperties as JsonSchema) : undefined;
      const next = fixed ?? open;
      if (typeof next?.description !== 'string') missing.push(`${path}.${key}`);
      else visit(child, next, `${path}.${key}`);
    }
  };
  visit(reference, schema, '');
  // The settings of a capability are described by the capability itself.
  assert.deepEqual(missing, ['.agents.helper.capabilities[].config.allow_personal_memory']);
});

test('the schema is a valid JSON Schema and every section has a description', () => {
  const schema = createConfigSchema(plugins);
  const ajv = new Ajv2020({ strict: false, discriminator: true });
  assert.equal(ajv.validateSchema(schema), true, JSON.stringify(ajv.errors));
  const sections = Object.entries(schema.properties as Record<string, JsonSchema>);
  assert.equal(sections.length, 23);
  for (const [name, section] of sections) assert.ok(typeof section.description === 'string', name);
});
