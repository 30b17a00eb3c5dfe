/** Commands about who may do what: tokens of people, and what was changed by whom. */
import { visibleText } from '../base/safe_text.ts';
import { durationMs } from '../config/resolve.ts';
import type { AuditResult, TokenListResult, TokenResult, TokenRevokeResult } from '../control/results.ts';
import { ask, json } from './ask.ts';
import { type Command, type CommandRun, UsageError } from './program.ts';
import { columns, dateText } from './text.ts';

const auditRowsDefault = 50;
const auditRowsMax = 1_000;

async function createToken(run: CommandRun): Promise<number> {
  const { person, label = '', expires } = run.options;
  if (typeof person !== 'string' || !/^[^:]+:.+$/.test(person))
    throw new UsageError('token create needs --person ACCOUNT, an account <channel>:<user id>');
  if (expires !== undefined && !/^[0-9]{1,6}[smhd]$/.test(String(expires)))
    throw new UsageError('--expires takes a duration such as 12h or 90d');
  const lifeMs = expires === undefined ? null : durationMs(String(expires));
  if (lifeMs === 0) throw new UsageError('--expires takes a duration longer than none, such as 12h or 90d');
  return ask<TokenResult>(run, 'token', { action: 'create', account: person, label, lifeMs }, tokenText, true);
}

const until = (expiresAt: number | null) =>
  expiresAt === null ? 'until it is revoked' : `until ${dateText(expiresAt)}`;

function tokenText({ token, id, account, expiresAt }: TokenResult): string {
  return `${token}\nSpeaks for ${account}, ${until(expiresAt)}. It is shown this once; its id is ${id}.`;
}

function tokenListText({ tokens }: TokenListResult): string {
  if (tokens.length === 0) return 'There are no tokens.';
  const rows = tokens.map((one) => [
    one.id,
    visibleText(one.account),
    visibleText(one.label),
    dateText(one.createdAt),
    one.expiresAt === null ? 'never' : dateText(one.expiresAt),
    one.lastUsedAt === null ? 'never' : dateText(one.lastUsedAt),
  ]);
  return columns([['ID', 'ACCOUNT', 'LABEL', 'MADE', 'EXPIRES', 'USED'], ...rows]);
}

function auditText({ entries }: AuditResult): string {
  if (entries.length === 0) return 'Nothing has been changed yet.';
  const told = (value: unknown) => (value === undefined ? '' : JSON.stringify(value));
  const rows = entries.map(({ at, actor, action, subject, before, after }) =>
    [dateText(at), actor, action, subject, told(before), told(after)].map((cell) => visibleText(cell)),
  );
  return columns([['WHEN', 'WHO', 'WHAT', 'WHOM', 'BEFORE', 'AFTER'], ...rows]);
}

export const accessCommands: Command[] = [
  {
    name: 'token',
    usage: 'create | list | revoke ID',
    summary: 'Makes, shows and revokes tokens with which a program speaks for a person.',
    help: 'A request carries it as "Authorization: Bearer ght_…"; it reaches /v1 and /api/v1 and may do what the person may.',
    examples: [
      'gatehouse token create --person telegram:123456789 --label backup --expires 90d',
      'gatehouse token list --json',
      'gatehouse token revoke 0mj9x2k4a0000f3a9c2b1d4e5',
    ],
    options: {
      json,
      person: { type: 'string', value: 'ACCOUNT', summary: 'Whom it speaks for, as <channel>:<user id>; for create.' },
      label: { type: 'string', value: 'TEXT', summary: 'What it is for; for create.' },
      expires: { type: 'string', value: 'TIME', summary: 'How long it is good, such as 90d; for create.' },
    },
    wordsMax: 2,
    async run(run) {
      const [action, id] = run.words;
      const orders = ['person', 'label', 'expires'].filter((name) => run.options[name] !== undefined);
      if (action !== 'create' && orders.length > 0) throw new UsageError(`--${orders[0]} is for token create only`);
      if (action === 'revoke' && id !== undefined)
        return ask<TokenRevokeResult>(
          run,
          'token',
          { action, id },
          ({ account }) => `Revoked a token of ${account}.`,
          true,
        );
      if (action === 'create' && id === undefined) return createToken(run);
      if (action === 'list' && id === undefined)
        return ask<TokenListResult>(run, 'token', { action }, tokenListText, true);
      throw new UsageError('token takes create --person ACCOUNT, list, or revoke ID');
    },
  },
  {
    name: 'audit',
    usage: '',
    summary: 'Shows who changed access, policies and grants and who decided, the newest first.',
    examples: ['gatehouse audit', 'gatehouse audit --limit 200 --json'],
    options: {
      json,
      limit: { type: 'string', value: 'N', summary: `How many; ${auditRowsDefault} by default.` },
    },
    wordsMax: 0,
    run(run) {
      const limit = Number(run.options.limit ?? auditRowsDefault);
      if (!Number.isInteger(limit) || limit < 1 || limit > auditRowsMax)
        throw new UsageError(`--limit takes a number from 1 to ${auditRowsMax}`);
      return ask<AuditResult>(run, 'audit', { limit }, auditText, true);
    },
  },
];
