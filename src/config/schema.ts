import type { AdapterPlugin } from '../types/adapter.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { JsonSchema } from '../types/json.ts';
import { laterCapabilities, laterChannels, laterSections } from './later.ts';
import { agents, bindings, closed, policies } from './schema_agents.ts';
import { admins, consolePages, gateway, metrics, models, retention, secrets, storage } from './schema_gateway.ts';
import { sandbox, skillDirs } from './schema_skills.ts';
import { named } from './schema_words.ts';

/** What `src/plugins.ts` lists: the platforms and capabilities of this version. */
export interface Plugins {
  adapters: readonly AdapterPlugin[];
  capabilities: readonly CapabilityPlugin[];
}

/**
 * The schema (2020-12) of the whole file. Every adapter and capability brings the schema of its own settings. Pure:
 * equal plugins give equal schemas, so that docs/config.schema.json can be compared with it.
 */
export function createConfigSchema(plugins: Plugins): JsonSchema {
  const built = new Set(plugins.adapters.map((adapter) => adapter.type));
  const types = [...plugins.adapters, ...laterChannels.filter((later) => !built.has(later.type))];
  const laterIds = Object.keys(laterCapabilities).filter((id) => !plugins.capabilities.some((one) => one.id === id));
  const properties: Record<string, JsonSchema> = {
    gateway,
    storage,
    secrets,
    models,
    channels: named(
      'One entry is one bot account on one platform.',
      {
        type: 'object',
        required: ['type'],
        discriminator: { propertyName: 'type' },
        oneOf: types.map((one) => channelEntry(one.type, one.configSchema)),
        description: 'One channel; its keys depend on `type`.',
      },
      { examples: [{ local: { type: 'web' } }] },
    ),
    agents: agents(plugins.capabilities, laterIds),
    bindings,
    admins,
    policies,
    skill_dirs: skillDirs,
    sandbox,
    ...laterSections,
    console: consolePages,
    metrics,
    retention,
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gatehouse configuration',
    type: 'object',
    additionalProperties: false,
    properties,
  };
}

function channelEntry(type: string, schema: JsonSchema): JsonSchema {
  const whole = closed(schema);
  return {
    ...whole,
    properties: {
      type: { const: type, description: 'The platform.' },
      ...(whole.properties as Record<string, JsonSchema> | undefined),
    },
    required: ['type', ...((whole.required as string[] | undefined) ?? [])],
  };
}
