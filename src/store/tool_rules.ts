/** What admins and people say about tools while the gateway runs (rule 38). */
import type { Verdict } from '../types/tool.ts';
import type { Query } from './db.ts';

/** `admin`, or the id of the person whose own policy it is. */
export type RuleScope = string;
export const adminScope: RuleScope = 'admin';

export interface ToolRule {
  scope: RuleScope;
  capability: string;
  /** The stable tool id (A4). */
  tool: string;
  verdict: Verdict;
  /** `<channel>:<user id>`, or `cli`. */
  setBy: string;
  setAt: number;
}

interface RuleRow extends Omit<ToolRule, 'setBy' | 'setAt'> {
  set_by: string;
  set_at: number;
}

const ruleOf = ({ set_by, set_at, ...rest }: RuleRow): ToolRule => ({ ...rest, setBy: set_by, setAt: set_at });

/** Of one scope, by capability and tool. */
export async function readRules(q: Query, scope: RuleScope): Promise<ToolRule[]> {
  return readRulesOf(q, [scope]);
}

/** Of several scopes at once. */
export async function readRulesOf(q: Query, scopes: readonly RuleScope[]): Promise<ToolRule[]> {
  if (scopes.length === 0) return [];
  const rows = await q.all<RuleRow>(
    `select scope, capability, tool, verdict, set_by, set_at from tool_rules
     where scope in (${scopes.map(() => '?').join(', ')}) order by scope, capability, tool`,
    ...scopes,
  );
  return rows.map(ruleOf);
}

/** One rule for each scope and tool; a new one replaces it. */
export async function setRule(q: Query, rule: ToolRule): Promise<void> {
  await q.run(
    `insert into tool_rules (scope, capability, tool, verdict, set_by, set_at) values (?, ?, ?, ?, ?, ?)
     on conflict (scope, capability, tool)
     do update set verdict = excluded.verdict, set_by = excluded.set_by, set_at = excluded.set_at`,
    rule.scope,
    rule.capability,
    rule.tool,
    rule.verdict,
    rule.setBy,
    rule.setAt,
  );
}

/** The verdict that went with it, or null when there was none. */
export async function removeRule(
  q: Query,
  { scope, capability, tool }: Pick<ToolRule, 'scope' | 'capability' | 'tool'>,
): Promise<Verdict | null> {
  const gone = await q.get<{ verdict: Verdict }>(
    'delete from tool_rules where scope = ? and capability = ? and tool = ? returning verdict',
    scope,
    capability,
    tool,
  );
  return gone?.verdict ?? null;
}
