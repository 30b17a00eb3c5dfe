import type { CapabilityPlugin, RunFacts } from '../../src/types/capability.ts';
import { askUser } from './ask_user.ts';
import { storeTools } from './store_tools.ts';

/** What every agent can do without listing it; rules name it `__builtin__`. */
export const capability: CapabilityPlugin = {
  id: '__builtin__',
  name: 'Built-in tools',
  category: 'core',
  description:
    'Tools of every agent: questions to the person, and values that stay stored for the person or the group.',
  configSchema: { type: 'object', properties: {}, additionalProperties: false },
  tools: [...storeTools, askUser],
  always: true,
  attach(run) {
    if (hasStore(run.facts)) for (const tool of storeTools) run.tool(tool);
    if (hasSomebodyToAsk(run.facts)) run.tool(askUser);
  },
};
export default capability;

/** A store belongs to the person in a direct chat and to the chat in a group; where nobody is known there is none. */
function hasStore({ audience, person }: RunFacts): boolean {
  return audience === 'group' || (audience === 'direct' && person !== null);
}

/** Somebody who is known, and a chat in which they can be asked. */
function hasSomebodyToAsk({ audience, person }: RunFacts): boolean {
  return audience !== 'public' && person !== null;
}
