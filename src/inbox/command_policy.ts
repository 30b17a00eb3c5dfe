/** `tools`, `policy` and `mode`: what this bot may do here, and what people say about it (rules 18, 38, 43, 95). */
import { newId } from '../base/ids.ts';
import { inCode } from '../base/safe_text.ts';
import { peopleOf } from '../people/links.ts';
import type { Account } from '../store/accounts.ts';
import { findOpenConversation, openConversation } from '../store/conversations.ts';
import { readGrants } from '../store/grants.ts';
import { adminScope, readRulesOf, type ToolRule } from '../store/tool_rules.ts';
import { adminRules } from '../tools/admin_rules.ts';
import { changeMode, changeOwnRule, changeRule, forgetGrant } from '../tools/change_policy.ts';
import { findTool, isLapsed, knownTools } from '../tools/known.ts';
import { type ToolRow, toolTable } from '../tools/tool_table.ts';
import type { Verdict } from '../types/tool.ts';
import type { Words } from '../words/index.ts';
import type { CommandContext, CommandSpec } from './commands.ts';
import type { CommandForm } from './route.ts';

type Change =
  | { kind: 'list' }
  | { kind: 'forget'; number: number }
  | { kind: 'set'; tool: string; verdict: Verdict | null; forAll: boolean };

const verdicts: Readonly<Record<string, Verdict | null>> = {
  allow: 'allow',
  ask: 'ask',
  block: 'block',
  default: null,
};

function readPolicy(args: string): Change | null {
  const [first = '', second = '', third, ...more] = args.split(/\s+/);
  if (args === '') return { kind: 'list' };
  if (more.length > 0) return null;
  if (third !== undefined) {
    const change = first.toLowerCase() === 'admin' ? readPolicy(`${second} ${third}`) : null;
    return change?.kind === 'set' ? { ...change, forAll: true } : null;
  }
  if (first.toLowerCase() === 'forget' && /^\d{1,4}$/.test(second)) return { kind: 'forget', number: Number(second) };
  const word = second.toLowerCase();
  if (first.length > 200 || !Object.hasOwn(verdicts, word)) return null;
  return { kind: 'set', tool: first, verdict: verdicts[word] as Verdict | null, forAll: false };
}

/** Behind a slash everything is meant as the command, so that a mistyped rule never reaches the model as words. */
function acceptsIf(right: (args: string) => boolean) {
  return (args: string, form: CommandForm) => form === 'written' || (form === 'mentioned' && right(args));
}

const modes = ['ask', 'default', 'waive'];

export const policyCommands: readonly CommandSpec[] = [
  {
    name: 'tools',
    description: (words) => words.commandTools,
    accepts: (args, form) => args === '' && form !== 'bare',
    run: async (context) => {
      const { words, settings, binding } = context;
      const rows = await tableOf(context);
      if (rows.length === 0) return words.toolsNone;
      const name = settings.agents.get(binding.agent)?.spec.name ?? settings.gatewayName;
      return words.toolsHere(
        name,
        rows.map((row) => toolLine(words, row, rows)),
      );
    },
  },
  {
    name: 'policy',
    description: (words) => words.commandPolicy,
    accepts: acceptsIf((args) => readPolicy(args) !== null),
    run: policy,
  },
  {
    name: 'mode',
    description: (words) => words.commandMode,
    accepts: acceptsIf((args) => args === '' || modes.includes(args.toLowerCase())),
    run: mode,
  },
];

async function tableOf(context: CommandContext): Promise<ToolRow[]> {
  const { q, parts, settings, binding, message, account, channel, key, now } = context;
  const spec = settings.agents.get(binding.agent)?.spec;
  if (!spec || !account) return [];
  const conversation = (await findOpenConversation(q, key))?.id ?? null;
  const person = { id: account.personId, name: account.name };
  const requester = { channel, userId: account.userId, personId: account.personId };
  const of = { spec, binding, audience: message.chat.kind, conversation, requester, person };
  return toolTable(q, parts.capabilities(), settings, of, now);
}

function toolLine(words: Words, { capability, own, tool, decision }: ToolRow, all: readonly ToolRow[]): string {
  const isAlone = all.filter((other) => other.own.id === own.id).length === 1;
  const id = inCode(isAlone ? own.id : `${capability}/${own.id}`);
  const named = tool.name === own.id ? `\`${id}\`` : `\`${id}\` (\`${inCode(tool.name)}\`)`;
  const verdict = words.toolVerdict[decision.dual ? 'askTwo' : decision.verdict];
  const reason = decision.by === 'effect' ? words.effectReason[own.effect] : words.ruleReason[decision.by];
  return `- ${named} ${verdict}: ${reason}`;
}

async function policy(context: CommandContext): Promise<string | null> {
  const { args, words, account, admin } = context;
  if (!account) return null;
  const change = readPolicy(args);
  if (change === null) return admin ? `${words.policyUsage}\n\n${words.policyUsageAdmin}` : words.policyUsage;
  if (change.kind === 'set') return set(context, account, change);
  const people = await peopleOf(context.q, account.personId);
  return change.kind === 'list' ? listed(context, people) : forget(context, people, change.number);
}

async function listed({ q, parts, settings, words }: CommandContext, people: readonly string[]): Promise<string> {
  const known = knownTools(parts.capabilities());
  const lines: string[] = [];
  const section = (title: string, rows: string[]) => {
    if (rows.length > 0) lines.push(`**${title}**\n${rows.join('\n')}`);
  };
  const line = (rule: Pick<ToolRule, 'capability' | 'tool' | 'verdict'>) =>
    `- \`${inCode(`${rule.capability}/${rule.tool}`)}\`: ${words.policyVerdict[rule.verdict]}`;
  section(words.policyOfAdmins, (await adminRules(q, settings.policies)).map(line));
  section(words.policyOfYou, (await readRulesOf(q, people)).map(line));
  const grants = await readGrants(q, people, null);
  section(
    words.policyGrants,
    grants.map((grant, index) => {
      const tool = inCode(`${grant.capability}/${grant.tool}`);
      const notes = [inCode(grant.agent)];
      if (grant.arguments !== null) notes.push(words.policyExact);
      if (isLapsed(grant, known)) notes.push(words.policyLapsed);
      return `${index + 1}. \`${tool}\` (${notes.join(', ')})`;
    }),
  );
  return [...(lines.length > 0 ? lines : [words.policyNone]), words.policyUsage].join('\n\n');
}

async function forget(context: CommandContext, people: readonly string[], number: number): Promise<string> {
  const { q, words, now } = context;
  const grant = (await readGrants(q, people, null))[number - 1];
  if (!grant) return words.policyNoNumber;
  await forgetGrant(q, grant.id, actorOf(context), now);
  return words.policyForgotten(inCode(`${grant.capability}/${grant.tool}`));
}

async function set(
  context: CommandContext,
  account: Account,
  { tool: word, verdict, forAll }: Extract<Change, { kind: 'set' }>,
): Promise<string> {
  const { q, parts, settings, binding, words, admin, message, now } = context;
  if (forAll && !admin) return words.policyAdminOnly;
  const spec = settings.agents.get(binding.agent)?.spec ?? null;
  const found = findTool(word, knownTools(parts.capabilities()), spec);
  if ('near' in found) return words.policyUnknown(inCode(word), found.near === null ? null : inCode(found.near));
  if ('several' in found) return words.policySeveral(found.several.map((one) => `\`${inCode(one)}\``));
  const { capability, tool } = found.found;
  const change = { capability, tool: tool.id, actor: actorOf(context) };
  if (forAll) await changeRule(q, { ...change, scope: adminScope, verdict }, now);
  else await changeOwnRule(q, account.personId, { ...change, verdict }, now);
  const id = inCode(`${capability}/${tool.id}`);
  const said = words.policyVerdict[verdict ?? 'default'];
  const lines = [forAll ? words.policySetForAll(id, said) : words.policySet(id, said)];
  if (!forAll && verdict === 'allow' && message.chat.kind !== 'direct') lines.push(words.policyDirectOnly);
  const rows = await tableOf(context);
  const row = rows.find((one) => one.capability === capability && one.own.id === tool.id);
  if (row) lines.push(`${words.policyHere}\n${toolLine(words, row, rows)}`);
  return lines.join('\n\n');
}

async function mode(context: CommandContext): Promise<string> {
  const { q, args, key, binding, place, message, words, now } = context;
  const wanted = args.toLowerCase();
  if (wanted === '') return words.modeIs[(await effectiveMode(context)) ?? 'default'];
  if (!modes.includes(wanted)) return words.modeUsage;
  if (wanted === 'waive') {
    if (message.chat.kind !== 'direct') return words.modeDirectOnly;
    if (!binding.approvals.waive) return words.modeNotAllowed;
  }
  const audience = message.chat.kind;
  const conversation = await openConversation(q, { id: newId(now), key, binding: binding.id, place, audience }, now);
  const next = wanted === 'ask' || wanted === 'waive' ? wanted : null;
  await changeMode(q, conversation, next, actorOf(context), now);
  return words.modeIs[next ?? 'default'];
}

/** What an admin has taken back does not count, whatever the conversation was set to. */
async function effectiveMode({ q, key, binding }: CommandContext): Promise<'ask' | 'waive' | null> {
  const mode = (await findOpenConversation(q, key))?.mode ?? null;
  return mode === 'waive' && !binding.approvals.waive ? null : mode;
}

/** As audit rows name them. */
const actorOf = ({ channel, message }: CommandContext) => `${channel}:${message.sender.id}`;
