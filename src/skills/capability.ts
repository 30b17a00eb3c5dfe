import type { CapabilityPlugin } from '../types/capability.ts';
import type { SkillTool } from './tool.ts';

/** A skill as what agents switch on: `skill:NAME`, with one tool of that name. It has no settings. */
export function createSkillCapability(tool: SkillTool): CapabilityPlugin {
  return {
    id: `skill:${tool.id}`,
    name: tool.id,
    category: tool.category,
    description: tool.description,
    configSchema: { type: 'object', properties: {} },
    tools: [tool],
    attach: (run) => run.tool(tool),
  };
}
