/** Questions to people, on the command line. */
import { systemClock } from '../base/clock.ts';
import { visibleText } from '../base/safe_text.ts';
import type { ApprovalDecisionResult, ApprovalListResult, ApprovalResult } from '../control/results.ts';
import { ask, json } from './ask.ts';
import { type Command, UsageError } from './program.ts';
import { columns, dateText, durationText } from './text.ts';

const listMax = 200;

/** What others wrote stands on one line of a table. */
const seen = (text: string) => visibleText(text);
const line = (text: string) => seen(text.replace(/\s+/g, ' '));

function listText({ approvals }: ApprovalListResult): string {
  if (approvals.length === 0) return 'Nothing waits for a decision.';
  const now = systemClock.now();
  const rows = approvals.map((one) => [
    one.id,
    one.code,
    one.state,
    one.question ? 'a question of the agent' : line(one.tool),
    line(one.agent),
    line(one.requester.name || one.requester.account),
    durationText(now - one.createdAt),
    one.state === 'pending' ? `open for ${durationText(one.expiresAt - now)}` : line(one.decidedBy ?? ''),
  ]);
  return columns([['ID', 'CODE', 'STATE', 'TOOL', 'AGENT', 'ASKED BY', 'AGE', ''], ...rows]);
}

function showText({ approval: one }: ApprovalResult): string {
  const { place } = one;
  const where = [place.channel, place.chat, place.thread].filter((part) => part !== undefined).join(' / ');
  const lines = [
    one.question ? 'A question of the agent' : `${line(one.tool)} of ${line(one.capability)}`,
    one.name === one.tool ? null : `The agent calls it ${line(one.name)}.`,
    `Id ${one.id}, code ${one.code}`,
    `Agent ${line(one.agent)}, asked by ${line(one.requester.name)} (${line(one.requester.account)}) in ${line(where)}`,
    `Asked ${dateText(one.createdAt)}, open until ${dateText(one.expiresAt)}`,
    one.approvers === '' ? null : line(one.approvers),
    ...one.signatures.map(({ name, account, at }) => `Approved by ${line(name)} (${line(account)}) ${dateText(at)}`),
    stateText(one),
    '',
    visibleText(one.input, { keep: 'lines' }),
    one.message === null ? null : `\nIn the agent's own words: ${line(one.message)}`,
  ];
  return lines.filter((text) => text !== null).join('\n');
}

function stateText({ state, decidedBy, decidedAt, reason, answer }: ApprovalResult['approval']): string {
  if (state === 'pending') return 'Nobody has decided yet.';
  const by = decidedBy === null ? '' : ` by ${line(decidedBy)}`;
  const when = decidedAt === null ? '' : ` ${dateText(decidedAt)}`;
  const why = reason === null ? '' : `, reason: ${line(reason)}`;
  return `${state[0]!.toUpperCase()}${state.slice(1)}${by}${when}${why}${answer === null ? '' : `, answer: ${line(answer)}`}`;
}

export const approvalsCommand: Command = {
  name: 'approvals',
  usage: 'list | show ID | approve ID | deny ID',
  summary: 'Shows the questions that wait for a decision, and decides them.',
  help: [
    'ID is an id or the code of a question that waits.',
    'Who runs this command decides as an admin and stands in the audit log as "cli".',
    'Where two people must approve, it counts as one of them.',
  ].join('\n'),
  examples: [
    'gatehouse approvals list',
    'gatehouse approvals list --all --json',
    'gatehouse approvals show 4K7',
    'gatehouse approvals deny 4K7 --reason "not before the backup"',
  ],
  options: {
    json,
    all: { type: 'boolean', summary: 'Decided ones too; for list.' },
    reason: { type: 'string', value: 'TEXT', summary: 'For the agent to read; kept with a denial.' },
  },
  wordsMax: 2,
  async run(run) {
    const [action = 'list', id] = run.words;
    const { all, reason } = run.options;
    if (action === 'list' && id === undefined && reason === undefined)
      return ask<ApprovalListResult>(run, 'approvals', { action, all: all === true, limit: listMax }, listText, true);
    const wrong = new UsageError('approvals takes list [--all], show ID, approve ID, or deny ID [--reason TEXT]');
    if (id === undefined || all === true) throw wrong;
    if (action === 'show' && reason === undefined)
      return ask<ApprovalResult>(run, 'approvals', { action, id }, showText, true);
    if (action !== 'approve' && action !== 'deny') throw wrong;
    const args = { action, id, ...(reason === undefined ? {} : { reason }) };
    return ask<ApprovalDecisionResult>(run, 'approvals', args, ({ notice }) => notice, true);
  },
};
