import type { AdapterPlugin } from '../../src/types/adapter.ts';
import { createWebAdapter } from './adapter.ts';

export const adapter: AdapterPlugin = {
  type: 'web',
  configSchema: {
    type: 'object',
    description: 'The chat page at /chat, for people who are signed in.',
    properties: {},
    additionalProperties: false,
  },
  // Whoever is signed in was let in by a link an operator made (rule 93).
  defaultAccess: { direct: 'open', group: 'allowlist' },
  groupsNeedAdmission: false,
  create: (_config, context) => createWebAdapter(context),
};
