/**
 * Whether one tool call may run: one pure function, and the rule that said so (DESIGN, Policy; A4, A5). A call that
 * would have to be asked about is refused by the host until questions can be put to people.
 */
import type { ApprovalSetting, PermissionMode } from '../types/spec.ts';
import type { Effect, Verdict } from '../types/tool.ts';

export interface ToolFacts {
  effect: Effect;
  /** What the tool says of itself. */
  declared: Verdict | undefined;
  /** Came from outside without a declaration: blocked unless an admin says otherwise (A5). */
  foreign: boolean;
  /** The admin's entry in `policies`. */
  admin: Verdict | undefined;
  permissionMode: PermissionMode;
  /** The spec's word on this tool: `tool_approval` over `approval`. */
  spec: ApprovalSetting;
}

export interface ToolDecision {
  verdict: Verdict;
  /** Which rule decided, for people to read. */
  rule: string;
}

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, block: 2 };

export function decideTool(facts: ToolFacts): ToolDecision {
  let decision = base(facts);
  const tighten = (verdict: Verdict, rule: string) => {
    if (strictness[verdict] > strictness[decision.verdict]) decision = { verdict, rule };
  };
  if (facts.permissionMode === 'read-only' && facts.effect !== 'safe') tighten('block', 'permission_mode: read-only');
  if (facts.permissionMode === 'mutating-with-confirm' && facts.effect === 'dangerous' && facts.admin === undefined)
    tighten('block', 'permission_mode: mutating-with-confirm');
  if (facts.spec === 'required') tighten('ask', 'agent: approval required');
  return decision;
}

function base(facts: ToolFacts): ToolDecision {
  if (facts.admin !== undefined) return { verdict: facts.admin, rule: `admin: ${facts.admin}` };
  const declared = declaration(facts);
  if (declared.verdict === 'ask' && facts.spec === 'never') return { verdict: 'allow', rule: 'agent: approval never' };
  return declared;
}

function declaration(facts: ToolFacts): ToolDecision {
  if (facts.declared !== undefined) return { verdict: facts.declared, rule: `declared: ${facts.declared}` };
  if (facts.foreign) return { verdict: 'block', rule: 'no rule for a tool from outside' };
  return facts.effect === 'safe'
    ? { verdict: 'allow', rule: 'effect: safe' }
    : { verdict: 'ask', rule: `effect: ${facts.effect}` };
}
