/** The tools that the agent of the suite has: each writes down what it was called with. */
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { Tool } from '../../src/types/tool.ts';
import type { Ran } from './stage.ts';

export const capabilityId = 'acts';

export function actTool(ran: Ran[], id: string, over: Partial<Tool> = {}): Tool {
  return {
    id,
    name: id,
    effect: 'mutating',
    description: `Does ${id}.`,
    returns: 'What came of it.',
    inputSchema: { type: 'object', properties: { what: { type: 'string' } }, additionalProperties: true },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    call: async (input) => {
      ran.push({ tool: id, input });
      return { content: `${id} done` };
    },
    ...over,
  };
}

/** `send` and `post` ask, `look` is allowed, `wipe` asks two people. */
export function actTools(ran: Ran[]): Tool[] {
  return [
    actTool(ran, 'send'),
    actTool(ran, 'post'),
    actTool(ran, 'look', { effect: 'safe' }),
    actTool(ran, 'wipe', { effect: 'dangerous' }),
  ];
}

/** `tools` is asked at each start, since a gateway that starts anew may have others. */
export function actsCapability(tools: () => Tool[]): CapabilityPlugin {
  return {
    id: capabilityId,
    name: 'Acts',
    category: 'test',
    description: 'For tests.',
    configSchema: { type: 'object', properties: {}, additionalProperties: false },
    get tools() {
      return tools();
    },
    attach(run) {
      for (const tool of tools()) run.tool(tool);
    },
  };
}
