/** The one place that names adapters and capabilities: a plug-in is a folder and a line here. */
import { adapter as telegram } from '../adapters/telegram/index.ts';
import { adapter as web } from '../adapters/web/index.ts';
import { capability as builtin } from '../capabilities/builtin/index.ts';
import { capability as clock } from '../capabilities/clock/index.ts';
import type { Plugins } from './config/schema.ts';
import type { AdapterPlugin } from './types/adapter.ts';
import type { CapabilityPlugin } from './types/capability.ts';

export const plugins: Plugins = {
  adapters: [web, telegram] as AdapterPlugin[],
  capabilities: [builtin, clock] as CapabilityPlugin[],
};
