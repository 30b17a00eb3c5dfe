/** Asks every capability of an agent what it has to offer in one run, and gathers it. */
import { ownEntry } from '../base/own_entry.ts';
import type { ToolDecision } from '../policy/tools.ts';
import type { CapabilityPlugin, RunFacts } from '../types/capability.ts';
import type { JsonObject } from '../types/json.ts';
import type { AgentSpec, CapabilityUse } from '../types/spec.ts';
import type { Tool } from '../types/tool.ts';

export interface OfferedTool {
  /** As agents name it; rules are keyed on it and the tool's id (A4). */
  capability: string;
  /** Null for a capability that every agent has. */
  use: CapabilityUse | null;
  /** With the name and the words the model sees. */
  tool: Tool;
  /** The tool itself, whose words are part of what is approved (rule 50). */
  own: Tool;
  /** People may be asked about its calls, so the agent may say a sentence with them (A3). */
  asks: boolean;
}

export interface Offer {
  tools: OfferedTool[];
  /** Contributed, but not shown to the model: a call of one can only be refused. */
  blocked: OfferedTool[];
  instructions: string[];
  reminders: (() => string)[];
  onFinish: (() => Promise<void>)[];
}

export function attachCapabilities(plugins: readonly CapabilityPlugin[], spec: AgentSpec, facts: RunFacts): Offer {
  const offer: Offer = { tools: [], blocked: [], instructions: [], reminders: [], onFinish: [] };
  for (const plugin of plugins) {
    const use = spec.capabilities.find((candidate) => candidate.id === plugin.id) ?? null;
    if (use ? !use.enabled : !plugin.always) continue;
    const config: JsonObject = use?.config ?? {};
    plugin.attach(
      {
        facts,
        tool(tool) {
          if (!use?.tools || use.tools.includes(tool.id))
            offer.tools.push({ capability: plugin.id, use, tool: renamed(tool, use), own: tool, asks: false });
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

/** Keeps from the model what would be blocked whoever asks; `decisions` stand in the order of the offer's tools. */
export function gateOffer(offer: Offer, decisions: readonly ToolDecision[]): void {
  const contributed = offer.tools.map((offered, index) => ({ offered, verdict: decisions[index]?.verdict ?? 'block' }));
  offer.tools = contributed
    .filter(({ verdict }) => verdict !== 'block')
    .map(({ offered, verdict }) => ({ ...offered, asks: verdict === 'ask' }));
  offer.blocked = contributed.filter(({ verdict }) => verdict === 'block').map(({ offered }) => offered);
}

/** Other words for the model; the id and its rules stay (rule 41). */
function renamed(tool: Tool, use: CapabilityUse | null): Tool {
  const override = ownEntry(use?.toolOverrides, tool.id);
  if (!override) return tool;
  // The tool may be an object with methods on its prototype, so it is wrapped, not spread.
  return Object.create(tool, {
    name: { value: override.name ?? tool.name, enumerable: true },
    description: { value: override.description ?? tool.description, enumerable: true },
  }) as Tool;
}
