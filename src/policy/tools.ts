/**
 * Whether one tool call may run: one pure function, and the rule that said so (DESIGN, Policy; A4, A5; rules 38, 43,
 * 95). Base, floor, tightening, and last what may be lifted.
 */
import type { Audience } from '../types/message.ts';
import type { ApprovalSetting, Approvers, PermissionMode } from '../types/spec.ts';
import type { Effect, Verdict } from '../types/tool.ts';

/** What a conversation was set to: ask about everything, or ask nothing. */
export type ConversationMode = 'ask' | 'waive';

export interface ToolFacts {
  effect: Effect;
  /** What the tool says of itself. */
  declared: Verdict | undefined;
  /** Two people must approve, whatever the effect. */
  dualSign: boolean;
  /** Came from outside without a declaration: blocked unless an admin says otherwise (A5). */
  foreign: boolean;
  /** The admin's entry: the one set at run time, else the one in `policies`. */
  admin: { verdict: Verdict; origin: 'config' | 'run time' } | undefined;
  permissionMode: PermissionMode;
  /** The spec's word on this tool: `tool_approval` over `approval`. */
  spec: ApprovalSetting;
  /** The binding requires approval of this tool. */
  bindingRequired: boolean;
  /** `waive` only where the binding allows it now. */
  conversation: ConversationMode | null;
  /** The requester's own policy. */
  own: Verdict | undefined;
  /** The requester's "always allow" that matches this call: for any arguments, or for exactly these. */
  grant: 'any' | 'exact' | null;
  audience: Audience;
  /** The approver rule lets the requester decide. */
  aloneDecides: boolean;
}

/** Which part of the formula decided; people are told in their own words. */
export type Decider =
  | 'effect'
  | 'declared'
  | 'foreign'
  | 'two_people'
  | 'admin'
  | 'agent_never'
  | 'agent_required'
  | 'permission_mode'
  | 'binding_required'
  | 'ask_all'
  | 'own'
  | 'always_allow'
  | 'waived'
  | 'unreadable'
  | 'not_offered';

export interface ToolDecision {
  verdict: Verdict;
  /** Which rule decided, as it is stored with the call. */
  rule: string;
  by: Decider;
  /** Asked of two people. */
  dual: boolean;
  /** Which "always allow" would answer this very question from now on, here; null = none (rule 43). */
  loosenable: 'any' | 'exact' | null;
}

interface Said {
  verdict: Verdict;
  rule: string;
  by: Decider;
  /** Not the requester's to lift. */
  firm: boolean;
}

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, block: 2 };

/** Undefined when nobody says anything. */
export function strictest(verdicts: readonly (Verdict | undefined)[]): Verdict | undefined {
  return verdicts
    .filter((verdict) => verdict !== undefined)
    .toSorted((left, right) => strictness[right] - strictness[left])[0];
}

export function decideTool(facts: ToolFacts): ToolDecision {
  const two = needsTwo(facts);
  const made = tightenings(facts).reduce((now, other) => (outweighs(other, now) ? other : now), base(facts, two));
  const { verdict, rule, by } = made;
  if (verdict !== 'ask') return { verdict, rule, by, dual: false, loosenable: null };
  const loosenable = two || made.firm || !facts.aloneDecides ? null : formHere(facts.audience);
  const lifted = two ? null : liftedBy(facts, by, loosenable);
  if (lifted) return { verdict: 'allow', ...lifted, dual: false, loosenable: null };
  return { verdict, rule, by, dual: two, loosenable };
}

/** The decision where it could not be made: nothing runs on a guess (rule 38). */
export function blocked(by: 'unreadable' | 'not_offered'): ToolDecision {
  const rule = by === 'unreadable' ? 'policies could not be read' : 'not offered';
  return { verdict: 'block', rule, by, dual: false, loosenable: null };
}

/** Whether the requester of a run is among those who may decide its questions; nobody known decides nothing. */
export function mayDecideOwn(approvers: Approvers, requester: { account: string; admin: boolean } | null): boolean {
  if (requester === null) return false;
  if (approvers === 'requester' || approvers === 'members') return true;
  return approvers === 'admins' ? requester.admin : approvers.includes(requester.account);
}

function needsTwo({ effect, dualSign }: ToolFacts): boolean {
  return effect === 'dangerous' || dualSign;
}

function base(facts: ToolFacts, two: boolean): Said {
  const { admin } = facts;
  if (admin) {
    const rule = `admin: ${admin.verdict}${admin.origin === 'config' ? '' : ' (set at run time)'}`;
    return { verdict: admin.verdict, rule, by: 'admin', firm: true };
  }
  const declared = declaration(facts);
  // "Ask two people" is more than an ask: an agent's author cannot answer for them.
  if (declared.verdict === 'ask' && facts.spec === 'never' && !two)
    return { verdict: 'allow', rule: 'agent: approval never', by: 'agent_never', firm: false };
  return declared;
}

function declaration({ declared, foreign, effect }: ToolFacts): Said {
  if (declared !== undefined) return { verdict: declared, rule: `declared: ${declared}`, by: 'declared', firm: false };
  if (foreign) return { verdict: 'block', rule: 'no rule for a tool from outside', by: 'foreign', firm: false };
  return { verdict: effect === 'safe' ? 'allow' : 'ask', rule: `effect: ${effect}`, by: 'effect', firm: false };
}

/** Floor and tightening, each with its own say. */
function tightenings(facts: ToolFacts): Said[] {
  const { effect, permissionMode, spec, own } = facts;
  const said: Said[] = [];
  const say = (verdict: Verdict, rule: string, by: Decider, firm = true) => void said.push({ verdict, rule, by, firm });
  const unnamed = facts.admin === undefined;
  const mode = `permission_mode: ${permissionMode}`;
  if (permissionMode === 'read-only' && effect !== 'safe') say('block', mode, 'permission_mode');
  if (unnamed && effect === 'dangerous' && permissionMode !== 'read-only')
    say(permissionMode === 'mutating-with-confirm' ? 'block' : 'ask', mode, 'permission_mode', false);
  if (unnamed && facts.dualSign) say('ask', 'declared: two people', 'two_people', false);
  if (spec === 'required') say('ask', 'agent: approval required', 'agent_required');
  if (facts.bindingRequired) say('ask', 'binding: approval required', 'binding_required');
  if (facts.conversation === 'ask') say('ask', 'conversation: ask all', 'ask_all');
  if (own !== undefined && own !== 'allow') say(own, `own: ${own}`, 'own');
  return said;
}

/** The strictest says; of two asks the one that is not the requester's to lift, as that is why it is asked. */
function outweighs(other: Said, now: Said): boolean {
  const more = strictness[other.verdict] - strictness[now.verdict];
  return more > 0 || (more === 0 && other.verdict === 'ask' && other.firm && !now.firm);
}

/** Where nobody is known to hear the answer, nothing is loosened. */
function formHere(audience: Audience): ToolDecision['loosenable'] {
  if (audience === 'direct') return 'any';
  return audience === 'group' ? 'exact' : null;
}

function liftedBy(
  { conversation, audience, own, grant }: ToolFacts,
  by: Decider,
  form: ToolDecision['loosenable'],
): Pick<ToolDecision, 'rule' | 'by'> | null {
  if (conversation === 'waive' && audience === 'direct' && by !== 'admin') return { rule: 'waived', by: 'waived' };
  if (form === 'any' && own === 'allow') return { rule: 'own: allow', by: 'own' };
  if (form !== null && grant === 'exact') return { rule: 'own: always allow these arguments', by: 'always_allow' };
  if (form === 'any' && grant === 'any') return { rule: 'own: always allow', by: 'always_allow' };
  return null;
}
