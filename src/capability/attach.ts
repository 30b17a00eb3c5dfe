/** Asks every capability of an agent what it has to offer in one run, and gathers it. */
import type { CapabilityPlugin, RunFacts } from '../types/capability.ts';
import type { JsonObject } from '../types/json.ts';
import type { AgentSpec, CapabilityUse } from '../types/spec.ts';
import type { Tool } from '../types/tool.ts';

export interface OfferedTool {
  /** As agents name it; rules are keyed on it and the tool's id (A4). */
  capability: string;
  /** Null for a capability that every agent has. */
  use: CapabilityUse | null;
  tool: Tool;
}

export interface Offer {
  tools: OfferedTool[];
  instructions: string[];
  reminders: (() => string)[];
  onFinish: (() => Promise<void>)[];
}

export function attachCapabilities(plugins: readonly CapabilityPlugin[], spec: AgentSpec, facts: RunFacts): Offer {
  const offer: Offer = { tools: [], instructions: [], reminders: [], onFinish: [] };
  for (const plugin of plugins) {
    const use = spec.capabilities.find((candidate) => candidate.id === plugin.id) ?? null;
    if (use ? !use.enabled : !plugin.always) continue;
    const config: JsonObject = use?.config ?? {};
    plugin.attach(
      {
        facts,
        tool(tool) {
          if (!use?.tools || use.tools.includes(tool.id))
            offer.tools.push({ capability: plugin.id, use, tool: renamed(tool, use) });
        },
        instructions: (text) => void offer.instructions.push(text),
        reminder: (text) => void offer.reminders.push(text),
        onFinish: (hook) => void offer.onFinish.push(hook),
      },
      config,
    );
  }
  return offer;
}

/** Other words for the model; the id and its rules stay (rule 41). */
function renamed(tool: Tool, use: CapabilityUse | null): Tool {
  const override = use?.toolOverrides[tool.id];
  if (!override) return tool;
  // The tool may be an object with methods on its prototype, so it is wrapped, not spread.
  return Object.create(tool, {
    name: { value: override.name ?? tool.name, enumerable: true },
    description: { value: override.description ?? tool.description, enumerable: true },
  }) as Tool;
}
