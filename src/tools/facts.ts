/**
 * Gathers what the decision about a tool call is made of (rule 38). What admins set at run time is kept in the process
 * for what a run is offered; what decides a call is read anew each time, so that no process acts on old rules.
 */
import type { Log } from '../base/log.ts';
import { ownEntry } from '../base/own_entry.ts';
import type { Offer, OfferedTool } from '../capability/attach.ts';
import { peopleOf } from '../people/links.ts';
import { blocked, decideTool, mayDecideOwn, strictest, type ToolDecision, type ToolFacts } from '../policy/tools.ts';
import { findAccount } from '../store/accounts.ts';
import { type Conversation, readMode } from '../store/conversations.ts';
import type { Db, Query } from '../store/db.ts';
import { type Grant, readGrants } from '../store/grants.ts';
import { adminScope, readRules, readRulesOf, type ToolRule } from '../store/tool_rules.ts';
import type { Json } from '../types/json.ts';
import type { Audience } from '../types/message.ts';
import type { Settings } from '../types/settings.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';
import type { ToolCall, Verdict } from '../types/tool.ts';
import { argumentsDigest, definitionOf } from './definition.ts';
import { type DecidedCall, readCall } from './host.ts';

/** What of a run decides about its calls. */
export interface PolicyRun {
  spec: AgentSpec;
  /** Null when it is not configured any more. */
  binding: BindingSpec | null;
  audience: Audience;
  /** Null = none yet. */
  conversation: string | null;
  /** Null = nobody is known. */
  requester: Requester | null;
}

export interface Requester {
  channel: string;
  userId: string;
  personId: string;
}

type PolicySettings = Pick<Settings, 'policies' | 'admins'>;

export interface Policies {
  /**
   * Without the person, so that what the model is offered is the same for everybody (M1): the decisions in the order of
   * the tools. Never rejects; where the rules cannot be read everything is blocked.
   */
  stable(
    run: Pick<PolicyRun, 'spec' | 'binding' | 'audience'> & Pick<Conversation, 'mode'>,
    tools: readonly OfferedTool[],
  ): Promise<ToolDecision[]>;
  /**
   * For exactly these calls, in their order. Never rejects: a call whose rules cannot be read is blocked. To be called
   * outside of transactions, since a query that fails would fail the whole of one.
   */
  decide(run: PolicyRun, offer: Pick<Offer, 'tools' | 'blocked'>, calls: readonly ToolCall[]): Promise<DecidedCall[]>;
}

export interface PoliciesParts {
  db: Db;
  log: Log;
  settings: () => PolicySettings;
}

export function createPolicies({ db, log, settings }: PoliciesParts): Policies {
  let kept: Promise<ReadonlyMap<string, Verdict>> | null = null;
  db.onRing('policy', () => {
    kept = null;
  });

  async function adminRules(): Promise<ReadonlyMap<string, Verdict>> {
    kept ??= readRules(db, adminScope).then(byTool);
    const reading = kept;
    return reading.catch((error) => {
      if (kept === reading) kept = null;
      throw error;
    });
  }

  const unreadable = (error: unknown) => {
    log.error({ err: error }, 'policies could not be read, so no tool may run');
    return blocked('unreadable');
  };

  return {
    async stable({ spec, binding, audience, mode }, tools) {
      const run: PolicyRun = { spec, binding, audience, conversation: null, requester: null };
      try {
        const rules = await adminRules();
        const known: Known = { rules, own: new Map(), grants: [], mode: mode === 'ask' ? mode : null, alone: false };
        return tools.map((offered) => decideTool(factsOf(run, settings(), known, offered, null)));
      } catch (error) {
        const decision = unreadable(error);
        return tools.map(() => decision);
      }
    },

    async decide(run, offer, calls) {
      if (calls.length === 0) return [];
      const read = calls.map((call) => readCall(call, offer));
      try {
        const known = await readKnown(db, run, settings());
        return read.map((one) => ({ ...one, decision: decisionOf(run, settings(), known, one) }));
      } catch (error) {
        const decision = unreadable(error);
        return read.map((one) => ({ ...one, decision: one.offered ? decision : blocked('not_offered') }));
      }
    },
  };
}

/** What the person may expect of each tool, before there is a call: only an "always allow" of any arguments counts. */
export async function decideTools(
  q: Query,
  settings: PolicySettings,
  run: PolicyRun,
  tools: readonly OfferedTool[],
): Promise<ToolDecision[]> {
  const known = await readKnown(q, run, settings);
  return tools.map((offered) => decideTool(factsOf(run, settings, known, offered, null)));
}

interface Known {
  rules: ReadonlyMap<string, Verdict>;
  own: ReadonlyMap<string, Verdict>;
  grants: readonly Grant[];
  mode: Conversation['mode'];
  alone: boolean;
}

async function readKnown(q: Query, run: PolicyRun, settings: PolicySettings): Promise<Known> {
  const { requester, binding } = run;
  const people = requester ? await peopleOf(q, requester.personId) : [];
  const rules = await readRulesOf(q, [adminScope, ...people]);
  const mode = run.conversation === null ? null : await readMode(q, run.conversation);
  return {
    rules: byTool(rules.filter(({ scope }) => scope === adminScope)),
    own: byTool(rules.filter(({ scope }) => scope !== adminScope)),
    grants: await readGrants(q, people, run.spec.id),
    // An admin may have taken back what a conversation was once allowed.
    mode: mode === 'waive' && binding?.approvals.waive !== true ? null : mode,
    alone: binding !== null && mayDecideOwn(binding.approvals.approvers, await roleOf(q, run, settings)),
  };
}

/** The role is looked up only where it decides. */
async function roleOf(q: Query, { requester, binding }: PolicyRun, { admins }: PolicySettings) {
  if (!requester) return null;
  const account = `${requester.channel}:${requester.userId}`;
  if (binding?.approvals.approvers !== 'admins' || admins.has(account)) return { account, admin: admins.has(account) };
  return { account, admin: (await findAccount(q, requester.channel, requester.userId))?.admin === true };
}

function decisionOf(
  run: PolicyRun,
  settings: PolicySettings,
  known: Known,
  { offered, call }: Omit<DecidedCall, 'decision'>,
): ToolDecision {
  return offered ? decideTool(factsOf(run, settings, known, offered, call.input)) : blocked('not_offered');
}

function factsOf(run: PolicyRun, settings: PolicySettings, known: Known, offered: OfferedTool, input: Json): ToolFacts {
  const { capability, use, own } = offered;
  return {
    effect: own.effect,
    declared: own.policy,
    dualSign: own.dualSign === true,
    // Every tool that exists comes with the gateway or was installed by its operator.
    foreign: false,
    admin: adminEntry(settings, known, capability, own.id),
    permissionMode: run.spec.permissionMode,
    spec: ownEntry(use?.toolApproval, own.id) ?? use?.approval ?? 'default',
    // Bindings say that of channel tools alone, which are not offered yet.
    bindingRequired: false,
    conversation: known.mode,
    own: known.own.get(keyOf(capability, own.id)),
    grant: grantFor(known.grants, offered, input),
    audience: run.audience,
    aloneDecides: known.alone,
  };
}

function adminEntry(settings: PolicySettings, known: Known, capability: string, tool: string): ToolFacts['admin'] {
  const set = known.rules.get(keyOf(capability, tool));
  if (set !== undefined) return { verdict: set, origin: 'run time' };
  const configured = ownEntry(ownEntry(settings.policies, capability), tool);
  return configured && { verdict: configured, origin: 'config' };
}

/** The one for exactly these arguments counts in more places, so it is looked for first. */
function grantFor(grants: readonly Grant[], { capability, own }: OfferedTool, input: Json): ToolFacts['grant'] {
  const ofTool = grants.filter((grant) => grant.capability === capability && grant.tool === own.id);
  if (ofTool.length === 0) return null;
  const definition = definitionOf(own);
  const valid = ofTool.filter((grant) => grant.definition === definition);
  const digest = valid.some((grant) => grant.arguments !== null) ? argumentsDigest(input) : null;
  if (digest !== null && valid.some((grant) => grant.arguments === digest)) return 'exact';
  return valid.some((grant) => grant.arguments === null) ? 'any' : null;
}

/** Of what several linked accounts of one person say, the strictest. */
function byTool(rules: readonly ToolRule[]): Map<string, Verdict> {
  const found = new Map<string, Verdict>();
  for (const { capability, tool, verdict } of rules) {
    const key = keyOf(capability, tool);
    found.set(key, strictest([found.get(key), verdict]) ?? verdict);
  }
  return found;
}

const keyOf = (capability: string, tool: string) => JSON.stringify([capability, tool]);
