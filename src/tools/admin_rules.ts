/** What admins say about tools, as people are shown it: the configuration with what was set at run time laid over it. */
import type { Query } from '../store/db.ts';
import { adminScope, readRules, type ToolRule } from '../store/tool_rules.ts';
import type { Settings } from '../types/settings.ts';
import type { Verdict } from '../types/tool.ts';

export interface ShownRule {
  capability: string;
  tool: string;
  verdict: Verdict;
  origin: 'config' | 'run time';
  /** Null when it stands in the configuration. */
  setBy: string | null;
  setAt: number | null;
}

/** By capability and tool. */
export async function adminRules(q: Query, policies: Settings['policies']): Promise<ShownRule[]> {
  const key = ({ capability, tool }: ShownRule) => `${capability}/${tool}`;
  const rules = new Map<string, ShownRule>();
  const add = (rule: ShownRule) => rules.set(key(rule), rule);
  for (const [capability, tools] of Object.entries(policies))
    for (const [tool, verdict] of Object.entries(tools))
      add({ capability, tool, verdict, origin: 'config', setBy: null, setAt: null });
  for (const rule of await readRules(q, adminScope)) add(shownRule(rule));
  return [...rules.values()].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}

export function shownRule({ capability, tool, verdict, setBy, setAt }: ToolRule): ShownRule {
  return { capability, tool, verdict, origin: 'run time', setBy, setAt };
}
