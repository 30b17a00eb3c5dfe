/** Tools and capabilities that do nothing, for what is decided about them. */
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { CapabilityUse } from '../../src/types/spec.ts';
import type { Tool } from '../../src/types/tool.ts';

export function idleTool(id: string, over: Partial<Tool> = {}): Tool {
  return {
    id,
    name: id,
    effect: 'mutating',
    description: `Does ${id}.`,
    returns: 'Nothing.',
    inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    call: async () => ({ content: 'done' }),
    ...over,
  };
}

/** Offered to every agent unless `always` says otherwise. */
export function capabilityOf(id: string, tools: Tool[], over: Partial<CapabilityPlugin> = {}): CapabilityPlugin {
  return {
    id,
    name: id,
    category: 'test',
    description: 'For tests.',
    configSchema: { type: 'object', properties: {} },
    tools,
    always: true,
    attach: (run) => {
      for (const tool of tools) run.tool(tool);
    },
    ...over,
  };
}

export function useOf(id: string, over: Partial<CapabilityUse> = {}): CapabilityUse {
  return {
    id,
    enabled: true,
    config: {},
    approval: 'default',
    toolApproval: {},
    toolOverrides: {},
    tools: null,
    ...over,
  };
}
