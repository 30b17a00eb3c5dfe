/** The control commands about tools: what may run, and what admins and people say about it. Only the database is needed. */
import { accountName } from '../base/account.ts';
import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import { suggestion } from '../config/issue.ts';
import type { PolicyChangeResult, PolicyForgetResult, PolicyListResult, ToolsResult } from '../control/results.ts';
import type { ControlHandler } from '../control/server.ts';
import type { HttpPolicies } from '../http/policies_api.ts';
import { peopleOf } from '../people/links.ts';
import { type Account, findAccount, findAccountNamed } from '../store/accounts.ts';
import type { Db } from '../store/db.ts';
import { readGrants } from '../store/grants.ts';
import { adminScope, readRulesOf } from '../store/tool_rules.ts';
import { adminRules, shownRule } from '../tools/admin_rules.ts';
import { changeOwnRule, changeRule, forgetGrant } from '../tools/change_policy.ts';
import { isLapsed, knownTools } from '../tools/known.ts';
import { toolTable } from '../tools/tool_table.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { Settings } from '../types/settings.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';
import type { Verdict } from '../types/tool.ts';

export interface PolicyParts {
  db: Db;
  now: () => number;
  capabilities: () => readonly CapabilityPlugin[];
  policySettings: () => PolicySettings;
}

/** What of the settings decides about tools; agents need no published version for it. */
export type PolicySettings = Pick<Settings, 'policies' | 'admins' | 'timezone' | 'bindings'> & {
  agents: ReadonlyMap<string, { spec: AgentSpec }>;
};

type Args = Parameters<ControlHandler>[0];

/** The same for everybody who may ask: the command line, and the API with the account that calls. */
export function policyDesk(parts: PolicyParts): HttpPolicies {
  return {
    list: (account) => list(parts, { person: account }),
    change: (rule, actor) => change(parts, rule, actor),
    async forget(id, account) {
      const own = await accountOf(parts.db, account);
      const people = own ? await peopleOf(parts.db, own.personId) : [];
      const grants = await readGrants(parts.db, people, null);
      return grants.some((grant) => grant.id === id) ? forget(parts, id, account) : noGrant(id);
    },
    async isAdmin(channel, userId) {
      const account = await findAccount(parts.db, channel, userId);
      return account?.admin === true || parts.policySettings().admins.has(`${channel}:${userId}`);
    },
  };
}

export function policyHandlers(parts: PolicyParts): Record<string, ControlHandler> {
  return {
    async policy(args): Promise<PolicyListResult | PolicyChangeResult | PolicyForgetResult> {
      if (args.action === 'list') return list(parts, args);
      if (args.action === 'forget') return forget(parts, String(args.id), 'cli');
      return change(parts, { ...args, verdict: args.action === 'set' ? args.verdict : null }, 'cli');
    },
    tools: (args) => tools(parts, args),
  };
}

async function list({ db, capabilities, policySettings }: PolicyParts, args: Args): Promise<PolicyListResult> {
  const admin = await adminRules(db, policySettings().policies);
  const account = await accountOf(db, args.person);
  if (!account) return { admin, person: null };
  const people = await peopleOf(db, account.personId);
  const known = knownTools(capabilities());
  const grants = await readGrants(db, people, null);
  return {
    admin,
    person: {
      account: accountName(account),
      own: (await readRulesOf(db, people)).map(shownRule),
      grants: grants.map((grant) => {
        const { id, agent, capability, tool, setBy, setAt } = grant;
        const isValid = !isLapsed(grant, known);
        return { id, agent, capability, tool, exact: grant.arguments !== null, isValid, setBy, setAt };
      }),
    },
  };
}

async function change(parts: PolicyParts, args: Args, actor: string): Promise<PolicyChangeResult> {
  const { db, now } = parts;
  const [capability, tool] = [String(args.capability), String(args.tool)];
  const verdict = args.verdict as Verdict | null;
  // What is not there any more can still be taken away.
  if (verdict !== null) mustBeKnown(parts.capabilities(), capability, tool);
  const account = await accountOf(db, args.person);
  const rule = { capability, tool, verdict, actor };
  const before = await db.tx((q) =>
    account ? changeOwnRule(q, account.personId, rule, now()) : changeRule(q, { ...rule, scope: adminScope }, now()),
  );
  return { capability, tool, verdict, before, account: account && accountName(account) };
}

function mustBeKnown(capabilities: readonly CapabilityPlugin[], capability: string, tool: string): void {
  const ids = capabilities.map(({ id }) => id);
  const found = capabilities.find(({ id }) => id === capability);
  if (!found)
    throw new GatehouseError(
      'not_found',
      `there is no capability "${capability}"${suggestion(capability, ids, 'capabilities')}`,
    );
  const known = found.tools.map(({ id }) => id);
  if (!known.includes(tool))
    throw new GatehouseError(
      'not_found',
      `"${tool}" is not a tool of ${capability}${suggestion(tool, known, `tools of ${capability}`)}`,
    );
}

function noGrant(id: string): never {
  throw new GatehouseError('not_found', `there is no grant with the id ${id}`, {
    hint: `"${commandName()} policy list --person ACCOUNT" shows them`,
  });
}

async function forget({ db, now }: PolicyParts, id: string, actor: string): Promise<PolicyForgetResult> {
  const grant = await db.tx((q) => forgetGrant(q, id, actor, now()));
  if (!grant) return noGrant(id);
  const { agent, capability, tool, setBy } = grant;
  return { id, agent, capability, tool, setBy };
}

async function tools(parts: PolicyParts, args: Args): Promise<ToolsResult> {
  const { db, now, capabilities, policySettings } = parts;
  const settings = policySettings();
  const agent = String(args.agent);
  const spec = settings.agents.get(agent)?.spec;
  if (!spec)
    throw new GatehouseError(
      'not_found',
      `there is no agent "${agent}"${suggestion(agent, [...settings.agents.keys()], 'agents')}`,
    );
  const binding = bindingOf(settings, agent, args.binding);
  const account = await accountOf(db, args.person);
  const audience = audienceOf(binding, args.audience);
  const of = {
    spec,
    binding,
    audience,
    conversation: null,
    requester: account && { channel: account.channel, userId: account.userId, personId: account.personId },
    person: account ? { id: account.personId, name: account.name } : { id: '', name: '' },
  };
  const rows = await toolTable(db, capabilities(), settings, of, now());
  return {
    agent,
    binding: binding?.id ?? null,
    audience,
    account: account && accountName(account),
    tools: rows.map(({ capability, own, tool, decision }) => ({
      capability,
      tool: own.id,
      name: tool.name,
      effect: own.effect,
      verdict: decision.verdict,
      twoPeople: decision.dual,
      rule: decision.rule,
    })),
  };
}

/** The one that is named, else the agent's first; null for an agent that is bound to no place. */
function bindingOf({ bindings }: PolicySettings, agent: string, named: unknown): BindingSpec | null {
  const own = bindings.filter((one) => one.agent === agent);
  if (typeof named !== 'string') return own[0] ?? null;
  const found = own.find(({ id }) => id === named);
  if (found) return found;
  const ids = own.map(({ id }) => id);
  throw new GatehouseError(
    'not_found',
    `"${named}" is not a binding of ${agent}${suggestion(named, ids, `bindings of ${agent}`)}`,
  );
}

function audienceOf(binding: BindingSpec | null, wanted: unknown): 'direct' | 'group' {
  if (wanted === 'direct' || wanted === 'group') return wanted;
  return binding === null || binding.where.direct ? 'direct' : 'group';
}

/** Null when nobody is named. */
async function accountOf(db: Db, named: unknown): Promise<Account | null> {
  if (typeof named !== 'string') return null;
  const account = await findAccountNamed(db, named);
  if (account) return account;
  throw new GatehouseError('not_found', `there is no account ${named}`, {
    hint: 'accounts are <channel>:<user id> of people who have written to a bot; "/whoami" tells people theirs',
  });
}
