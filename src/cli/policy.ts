/** Commands about what agents may do: the rules of tools, and what follows from them. */
import { visibleText } from '../base/safe_text.ts';
import type { PolicyChangeResult, PolicyForgetResult, PolicyListResult, ToolsResult } from '../control/results.ts';
import { ask, json } from './ask.ts';
import { type Command, type CommandRun, UsageError } from './program.ts';
import { columns, dateText } from './text.ts';

const verdicts = ['allow', 'ask', 'block'];
const usage = 'policy takes list, set CAPABILITY TOOL allow|ask|block, unset CAPABILITY TOOL, or forget GRANT';

const person = {
  type: 'string',
  value: 'ACCOUNT',
  summary: 'Of that person, as <channel>:<user id>; without it what holds for everybody.',
} as const;

function personOf({ options }: CommandRun): { person?: string } {
  const { person } = options;
  if (person === undefined) return {};
  if (typeof person !== 'string' || !/^[^:]+:.+$/.test(person))
    throw new UsageError('--person takes an account <channel>:<user id>');
  return { person };
}

async function policy(run: CommandRun): Promise<number> {
  const [action = 'list', ...rest] = run.words;
  const who = personOf(run);
  if (action === 'list' && rest.length === 0)
    return ask<PolicyListResult>(run, 'policy', { action, ...who }, listText, true);
  if (action === 'forget' && rest.length === 1 && who.person === undefined)
    return ask<PolicyForgetResult>(run, 'policy', { action, id: rest[0] }, forgetText, true);
  const [capability, tool, verdict] = rest;
  if (action === 'set' && rest.length === 3 && verdicts.includes(verdict ?? ''))
    return ask<PolicyChangeResult>(run, 'policy', { action, capability, tool, verdict, ...who }, changeText, true);
  if (action === 'unset' && rest.length === 2)
    return ask<PolicyChangeResult>(run, 'policy', { action, capability, tool, ...who }, changeText, true);
  throw new UsageError(usage);
}

function listText({ admin, person }: PolicyListResult): string {
  const at = (setAt: number | null) => (setAt === null ? '' : dateText(setAt));
  const rules = (title: string, of: PolicyListResult['admin'], none: string) =>
    of.length === 0
      ? none
      : `${title}\n${table(
          ['CAPABILITY', 'TOOL', 'VERDICT', 'FROM', 'BY', 'WHEN'],
          of.map((rule) => [rule.capability, rule.tool, rule.verdict, rule.origin, rule.setBy ?? '', at(rule.setAt)]),
        )}`;
  const parts = [rules('For everybody:', admin, 'There are no rules for everybody.')];
  if (person) {
    parts.push(rules(`Of ${person.account}:`, person.own, `${person.account} has no rules.`));
    if (person.grants.length > 0) {
      const rows = person.grants.map((grant) => [
        grant.id,
        grant.agent,
        grant.capability,
        grant.tool,
        grant.exact ? 'the same' : 'any',
        grant.isValid ? 'yes' : 'no, the tool has changed',
        dateText(grant.setAt),
      ]);
      parts.push(
        `Always allowed:\n${table(['GRANT', 'AGENT', 'CAPABILITY', 'TOOL', 'ARGUMENTS', 'VALID', 'WHEN'], rows)}`,
      );
    }
  }
  return parts.join('\n\n');
}

const table = (head: string[], rows: string[][]) =>
  columns([head, ...rows.map((row) => row.map((cell) => visibleText(cell)))]);

function changeText({ capability, tool, verdict, before, account }: PolicyChangeResult): string {
  const whom = account === null ? 'everybody' : account;
  const said = verdict ?? 'no rule';
  const was = before === verdict ? 'as before' : `before: ${before ?? 'no rule'}`;
  return `${capability} ${tool} for ${whom}: ${said} (${was}).`;
}

function forgetText({ agent, capability, tool, setBy }: PolicyForgetResult): string {
  return `Forgotten: ${capability} ${tool} of the agent ${agent}, always allowed by ${setBy}.`;
}

function toolsText({ agent, binding, audience, account, tools }: ToolsResult): string {
  const place = `${audience === 'direct' ? 'a direct chat' : 'a room'}${binding === null ? '' : ` of the binding ${binding}`}`;
  const head = `${agent}, for ${account ?? 'anybody'}, in ${place}:`;
  if (tools.length === 0) return `${head}\nno tools`;
  const rows = tools.map((one) => [
    one.capability,
    one.name === one.tool ? one.tool : `${one.tool} (${one.name})`,
    one.effect,
    one.twoPeople ? 'ask two people' : one.verdict,
    one.rule,
  ]);
  return `${head}\n${table(['CAPABILITY', 'TOOL', 'EFFECT', 'VERDICT', 'RULE'], rows)}`;
}

export const policyCommands: Command[] = [
  {
    name: 'policy',
    usage: '[list | set CAPABILITY TOOL VERDICT | unset CAPABILITY TOOL | forget GRANT]',
    summary: 'Shows and sets which tools run, ask first, or are blocked.',
    help: 'A rule set here stands over the one in the config file, counts at once, and needs no reload. VERDICT is allow, ask or block.',
    examples: [
      'gatehouse policy',
      'gatehouse policy set __builtin__ store_delete ask',
      'gatehouse policy unset __builtin__ store_delete',
      'gatehouse policy list --person telegram:123456789 --json',
    ],
    options: { json, person },
    wordsMax: 4,
    run: policy,
  },
  {
    name: 'tools',
    usage: '',
    summary: 'Shows what an agent may do in a place, and the rule that says so.',
    examples: ['gatehouse tools --agent helper', 'gatehouse tools --agent helper --person telegram:123456789 --json'],
    options: {
      json,
      agent: { type: 'string', value: 'NAME', summary: 'A name under agents.' },
      binding: { type: 'string', value: 'ID', summary: "One of the agent's bindings; by default its first." },
      person: { ...person, summary: 'For that person, as <channel>:<user id>; without it for anybody.' },
      audience: { type: 'string', value: 'KIND', summary: 'direct or group; by default direct where the binding is.' },
    },
    wordsMax: 0,
    run(run) {
      const { agent, binding, audience } = run.options;
      if (typeof agent !== 'string') throw new UsageError('tools needs --agent NAME');
      if (audience !== undefined && audience !== 'direct' && audience !== 'group')
        throw new UsageError('--audience takes direct or group');
      const args = { agent, ...personOf(run), ...(binding ? { binding } : {}), ...(audience ? { audience } : {}) };
      return ask<ToolsResult>(run, 'tools', args, toolsText, true);
    },
  },
];
