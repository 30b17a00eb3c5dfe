/**
 * Every change of what may run (rule 91): the rows, their audit row and the bell, in the transaction that is handed in.
 */
import { newId } from '../base/ids.ts';
import { peopleOf } from '../people/links.ts';
import { addAudit } from '../store/audit.ts';
import { type Conversation, setMode } from '../store/conversations.ts';
import type { Transaction } from '../store/db.ts';
import { addGrant, type Grant, removeGrant } from '../store/grants.ts';
import { adminScope, readRules, removeRule, setRule, type ToolRule } from '../store/tool_rules.ts';
import type { Verdict } from '../types/tool.ts';

export interface RuleChange extends Pick<ToolRule, 'scope' | 'capability' | 'tool'> {
  /** Null takes the rule away. */
  verdict: Verdict | null;
  /** `<channel>:<user id>`, or `cli`. */
  actor: string;
}

/** What stood there before; the same again changes nothing and leaves no audit row. */
export async function changeRule(q: Transaction, change: RuleChange, now: number): Promise<Verdict | null> {
  const { scope, capability, tool, verdict, actor } = change;
  const rules = await readRules(q, scope);
  const before = rules.find((rule) => rule.capability === capability && rule.tool === tool)?.verdict ?? null;
  if (before === verdict) return before;
  if (verdict === null) await removeRule(q, change);
  else await setRule(q, { scope, capability, tool, verdict, setBy: actor, setAt: now });
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action: scope === adminScope ? 'policy.admin' : 'policy.own',
    subject: `${scope === adminScope ? '' : `${scope} `}${capability}/${tool}`,
    before,
    after: verdict,
  });
  q.ring('policy');
  return before;
}

/** Of a person; what the same human said on a linked account gives way, or the new word would not count. */
export async function changeOwnRule(
  q: Transaction,
  personId: string,
  change: Omit<RuleChange, 'scope'>,
  now: number,
): Promise<Verdict | null> {
  const [own = personId, ...linked] = await peopleOf(q, personId);
  for (const scope of linked) await changeRule(q, { ...change, scope, verdict: null }, now);
  return changeRule(q, { ...change, scope: own }, now);
}

/** "Always allow" (rule 43). Audited apart from the decision it came with. */
export async function allowAlways(q: Transaction, grant: Omit<Grant, 'id' | 'setAt'>, now: number): Promise<void> {
  await addGrant(q, { ...grant, id: newId(now), setAt: now });
  await auditGrant(q, grant, grant.setBy, 'grant.add', now);
  q.ring('policy');
}

/** What is forgotten, or null when there is none of that id. */
export async function forgetGrant(q: Transaction, id: string, actor: string, now: number): Promise<Grant | null> {
  const grant = await removeGrant(q, id);
  if (grant === null) return null;
  await auditGrant(q, grant, actor, 'grant.remove', now);
  q.ring('policy');
  return grant;
}

export async function changeMode(
  q: Transaction,
  conversation: Pick<Conversation, 'id' | 'mode'>,
  mode: Conversation['mode'],
  actor: string,
  now: number,
): Promise<void> {
  if (conversation.mode === mode) return;
  await setMode(q, conversation.id, mode);
  const { id, mode: before } = conversation;
  await addAudit(q, { id: newId(now), at: now, actor, action: 'mode', subject: id, before, after: mode });
  q.ring('policy');
}

async function auditGrant(
  q: Transaction,
  grant: Omit<Grant, 'id' | 'setAt'>,
  actor: string,
  action: 'grant.add' | 'grant.remove',
  now: number,
): Promise<void> {
  const row = { agent: grant.agent, arguments: grant.arguments, definition: grant.definition };
  const subject = `${grant.personId} ${grant.capability}/${grant.tool}`;
  await addAudit(q, {
    id: newId(now),
    at: now,
    actor,
    action,
    subject,
    ...(action === 'grant.add' ? { after: row } : { before: row }),
  });
}
