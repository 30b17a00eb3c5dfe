/** Commands that the running gateway does. */
import { systemClock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import type {
  ClaimResult,
  LinkResult,
  PairListResult,
  PairResult,
  ReloadResult,
  StatusResult,
  StopResult,
  UsageResult,
} from '../control/results.ts';
import type { ControlArgs } from '../control/wire.ts';
import { costText } from '../words/cost.ts';
import { en } from '../words/en.ts';
import { asJson, ask, json, request } from './ask.ts';
import { type Command, exitCodes, UsageError } from './program.ts';
import { columns, dateText, durationText } from './text.ts';

/** Longer than a drain takes with everything else that is closed after it. */
const stopMsMax = 60_000;
const stopLookMs = 100;

async function waitForEnd(pid: number): Promise<void> {
  for (let waitedMs = 0; isAlive(pid); waitedMs += stopLookMs) {
    if (waitedMs >= stopMsMax)
      throw new GatehouseError('unavailable', `the gateway (process ${pid}) has not ended after 60 s`, {
        hint: 'look at its log',
      });
    await systemClock.sleep(stopLookMs);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linkText({ url, expiresAt, account, name, isOwner, localOnly }: LinkResult): string {
  const lines = [
    url,
    `Signs in ${isOwner ? 'as the owner' : `as ${name}`} (${account}). Works once, until ${dateText(expiresAt)}.`,
  ];
  if (localOnly)
    lines.push(
      'This address works on this machine only; how others reach it: docs/getting-started.md, "Let people in".',
    );
  return lines.join('\n');
}

function pairArgs(word: string | undefined, admin: boolean): ControlArgs {
  if ((word === undefined || word === 'list') && admin)
    throw new UsageError('--admin needs the code or the account of whom to make an admin');
  if (word === undefined || word === 'list') return { action: 'list' };
  const role = admin ? { admin } : {};
  if (word.includes(':')) return { action: 'account', account: word, ...role };
  if (/^[A-Za-z2-9]{8}$/.test(word)) return { action: 'code', code: word.toUpperCase(), ...role };
  throw new UsageError(`"${word}" is neither a code of 8 characters nor an account <channel>:<user id>`);
}

function pairText(result: PairListResult | PairResult, program: string): string {
  if (!('pending' in result))
    return `${result.account} (${result.name || 'no name yet'}) ${result.isAdmin ? 'is an admin now' : 'may use the bot now'}.`;
  if (result.pending.length === 0) return 'Nobody is waiting.';
  const rows = result.pending.map((one) => [one.account, one.name, dateText(one.createdAt), dateText(one.expiresAt)]);
  return `${columns([['ACCOUNT', 'NAME', 'ASKED', 'UNTIL'], ...rows])}\nAdmit with: ${program} pair CODE, or ${program} pair ACCOUNT`;
}

function statusText(status: StatusResult): string {
  const channels = status.channels.map((one) => [one.name, one.type, one.state, one.reason ?? '']);
  return [
    `Gatehouse ${status.version}, process ${status.pid}, up ${durationText(systemClock.now() - status.startedAt)}, ${status.url}`,
    `Runs: ${status.runs.active} active, ${status.runs.waiting} waiting. Messages to send: ${status.outbox.waiting}.`,
    columns([['CHANNEL', 'TYPE', 'STATE', ''], ...channels]),
  ].join('\n');
}

function usageText(usage: UsageResult): string {
  if (usage.rows.length === 0) return `No runs since ${dateText(usage.since)}.`;
  const rows = usage.rows.map((one) => [
    one.agent,
    String(one.runs),
    String(one.input),
    String(one.cachedInput),
    String(one.output),
    costText(en, one),
  ]);
  return `Since ${dateText(usage.since)}:\n${columns([['AGENT', 'RUNS', 'INPUT', 'CACHED', 'OUTPUT', 'COST'], ...rows])}`;
}

export const remoteCommands: Command[] = [
  {
    name: 'reload',
    usage: '',
    summary: 'Has the running gateway read its configuration again.',
    help: 'A file with errors changes nothing: the errors are printed and the gateway goes on with what it has.',
    examples: ['gatehouse reload'],
    options: { json },
    wordsMax: 0,
    run: (run) =>
      ask<ReloadResult>(run, 'reload', {}, ({ remarks }) =>
        [...remarks, 'The new configuration is in use.'].join('\n'),
      ),
  },
  {
    name: 'link',
    usage: '',
    summary: 'Prints a new one-time link that signs in to the chat page.',
    examples: ['gatehouse link', 'gatehouse link --name Ann'],
    options: {
      json,
      name: { type: 'string', value: 'NAME', summary: 'For another person of that name; without it for the owner.' },
    },
    wordsMax: 0,
    run: (run) => {
      const { name } = run.options;
      if (typeof name === 'string' && name.trim() === '') throw new UsageError('--name needs the name of a person');
      return ask<LinkResult>(run, 'link', name === undefined ? {} : { name }, linkText);
    },
  },
  {
    name: 'claim',
    usage: '',
    summary: 'Prints a code that makes whoever sends it to the bot the first admin.',
    help: 'Only while there is no admin. Send it in a direct chat with the bot: claim CODE',
    examples: ['gatehouse claim'],
    options: { json },
    wordsMax: 0,
    run: (run) =>
      ask<ClaimResult>(run, 'claim', {}, ({ code, expiresAt }) =>
        code === null
          ? 'There is an admin already; an admin admits others with "pair".'
          : `Send this to the bot in a direct chat:  claim ${code}\nWorks once, until ${dateText(expiresAt ?? 0)}.`,
      ),
  },
  {
    name: 'pair',
    usage: '[list | CODE | ACCOUNT]',
    summary: 'Shows who waits to be let in, and lets them in.',
    help: 'A person the bot does not know gets a code from it. ACCOUNT is <channel>:<user id>, or <channel>:<group id> for a group, and needs no code.',
    examples: [
      'gatehouse pair',
      'gatehouse pair K7WQ2MXA',
      'gatehouse pair K7WQ2MXA --admin',
      'gatehouse pair telegram:123456789',
    ],
    options: { json, admin: { type: 'boolean', summary: 'Give the admin role too.' } },
    wordsMax: 1,
    run: (run) =>
      ask<PairListResult | PairResult>(
        run,
        'pair',
        pairArgs(run.words[0], run.options.admin === true),
        (result) => pairText(result, commandName(run.terminal.env)),
        true,
      ),
  },
  {
    name: 'status',
    usage: '',
    summary: 'Shows the channels and what the running gateway is doing.',
    examples: ['gatehouse status', 'gatehouse status --json'],
    options: { json },
    wordsMax: 0,
    run: (run) => ask<StatusResult>(run, 'status', {}, statusText),
  },
  {
    name: 'usage',
    usage: '',
    summary: 'Shows tokens and cost by agent.',
    examples: ['gatehouse usage', 'gatehouse usage --days 7 --json'],
    options: { json, days: { type: 'string', value: 'N', summary: 'Of the last N days; 30 by default.' } },
    wordsMax: 0,
    run: (run) => {
      const days = Number(run.options.days ?? 30);
      if (!Number.isInteger(days) || days < 1 || days > 3650)
        throw new UsageError('--days takes a number from 1 to 3650');
      return ask<UsageResult>(run, 'usage', { days }, usageText, true);
    },
  },
  {
    name: 'stop',
    usage: '',
    summary: 'Stops the running gateway and waits for its end; runs go on where they were at the next start.',
    examples: ['gatehouse stop'],
    options: { json },
    wordsMax: 0,
    run: async (run) => {
      const { result, show } = await request<StopResult>(run, 'stop', {}, false);
      if (run.options.json !== true) show(`The gateway (process ${result.pid}) is stopping.`);
      await waitForEnd(result.pid);
      show(run.options.json === true ? asJson(result) : 'stopped');
      return exitCodes.ok;
    },
  },
];
