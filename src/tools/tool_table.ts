/** What an agent may do in one place for one person, with the rule that says so (rule 38). */
import { attachCapabilities, type OfferedTool } from '../capability/attach.ts';
import type { ToolDecision } from '../policy/tools.ts';
import type { Query } from '../store/db.ts';
import type { CapabilityPlugin, RunFacts } from '../types/capability.ts';
import type { Settings } from '../types/settings.ts';
import { decideTools, type PolicyRun } from './facts.ts';

export interface TableOf extends PolicyRun {
  /** Who would be in the run; a person without an account (null `requester`) stands for anybody. */
  person: RunFacts['person'];
}

export interface ToolRow extends Pick<OfferedTool, 'capability' | 'own' | 'tool'> {
  decision: ToolDecision;
}

/** Every tool that a run there would have, blocked ones too, in the order the model sees them. */
export async function toolTable(
  q: Query,
  capabilities: readonly CapabilityPlugin[],
  settings: Pick<Settings, 'policies' | 'admins' | 'timezone'>,
  of: TableOf,
  now: number,
): Promise<ToolRow[]> {
  const facts: RunFacts = {
    audience: of.audience,
    person: of.person,
    timezone: settings.timezone,
    now: () => now,
  };
  const { tools } = attachCapabilities(capabilities, of.spec, facts);
  const decisions = await decideTools(q, settings, of, tools);
  return tools.map(({ capability, own, tool }, index) => ({
    capability,
    own,
    tool,
    decision: decisions[index] as ToolDecision,
  }));
}
