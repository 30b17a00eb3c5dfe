import assert from 'node:assert/strict';
import { test } from 'node:test';
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
