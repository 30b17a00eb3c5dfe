import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { plugins } from '../../src/plugins.ts';
import type { AdapterPlugin } from '../../src/types/adapter.ts';
import { startTestGateway } from '../support/gateway.ts';
import { noFeatures } from '../support/no_features.ts';

test('a reload changes the public address for nobody: page and channels keep that of the start', {
  timeout: 30_000,
}, async (t) => {
  const seen: Record<string, string | null> = {};
  const plugin: AdapterPlugin = {
    type: 'seeing',
    configSchema: { type: 'object', properties: {} },
    defaultAccess: { direct: 'open', group: 'open' },
    groupsNeedAdmission: false,
    create(_config, context) {
      seen[context.channel] = context.publicUrl;
      return {
        features: noFeatures,
        limits: {
          textLength: 1000,
          measure: (text) => text.length,
          directPerSecond: 1,
          groupPerMinute: 20,
          accountPerSecond: 30,
          buttonsPerMessage: 0,
          buttonsPerRow: 1,
          buttonDataBytes: 0,
          fileBytesMax: 0,
        },
        start: async () => context.report('up'),
        send: async () => ({ ref: '1' }),
        stop: async () => {},
      };
    },
  };
  const { reload } = await startTestGateway(t, {
    adapters: [plugin],
    config: { gateway: { public_url: 'https://old.example' }, channels: { first: { type: 'seeing' } } },
  });
  await reload({
    gateway: { public_url: 'https://new.example' },
    channels: { first: { type: 'seeing' }, second: { type: 'seeing' } },
  });
  assert.deepEqual(seen, { first: 'https://old.example', second: 'https://old.example' });
});

test('R89: of two reloads at once the later is what counts', { timeout: 30_000 }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-skill-dir-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  // Copying it takes a while.
  writeFileSync(join(root, 'skill.json'), JSON.stringify({ name: 'big', description: 'Big.', entry: 'run' }));
  writeFileSync(join(root, 'run'), '#!/bin/sh\n', { mode: 0o755 });
  for (let part = 0; part < 300; part++) writeFileSync(join(root, `part_${part}`), String(part));
  const { gateway, dataDir } = await startTestGateway(t);
  const text = readFileSync(join(dataDir, 'config.yaml'), 'utf8');
  const load = (name: string, more: string) => {
    const file = join(dataDir, `${name}.yaml`);
    writeFileSync(file, `${text.replace('gateway:', `gateway:\n  name: ${name}`)}${more}`);
    return loadConfig(file, {}, plugins).config;
  };
  const [older, later] = [load('Older', `skill_dirs: [${root}]\n`), load('Later', '')];
  await Promise.all([gateway.reload(older), gateway.reload(later)]);
  assert.equal(gateway.settings().gatewayName, 'Later');
  assert.deepEqual(
    gateway.capabilities().filter(({ id }) => id === 'skill:big'),
    [],
  );
});
