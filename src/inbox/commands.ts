/**
 * The commands people can give in a chat (rule 18). A command runs inside the accepting transaction: its effect, its
 * reply and the inbox key are committed together, so a redelivered command changes nothing.
 */

import { startOfDay } from '../base/time.ts';
import { admit, admitChat, redeemClaim } from '../people/admission.ts';
import { listPairings } from '../store/accounts.ts';
import { closeConversation, findOpenConversation } from '../store/conversations.ts';
import { countWaiting } from '../store/inbox.ts';
import { type LedgerTotals, spent } from '../store/ledger.ts';
import { activeRun, requestStop } from '../store/runs.ts';
import { costText } from '../words/cost.ts';
import type { Words } from '../words/index.ts';
import { admitAndTell } from './admit_and_tell.ts';
import type { Arrival } from './arrival.ts';

/** `account` is null for strangers, who may only claim. */
export interface CommandContext extends Arrival {
  args: string;
}

export interface CommandSpec {
  name: string;
  description(words: Words): string;
  /** Whether the arguments make it this command, so that a sentence that begins with its name is not one. */
  accepts(args: string): boolean;
  /** Strangers may use it too. */
  open?: boolean;
  run(context: CommandContext): Promise<string | null>;
}

const noArguments = (args: string) => args === '';

export const commands: readonly CommandSpec[] = [
  {
    name: 'help',
    description: (words) => words.commandHelp,
    accepts: noArguments,
    run: async ({ words, settings, binding }) => {
      const agent = settings.agents.get(binding.agent)?.spec.name ?? settings.gatewayName;
      return words.help(agent, describeCommands(words));
    },
  },
  {
    name: 'new',
    description: (words) => words.commandNew,
    accepts: noArguments,
    run: async ({ q, key, words }) => {
      await closeConversation(q, key);
      return words.newStarted;
    },
  },
  {
    name: 'stop',
    description: (words) => words.commandStop,
    accepts: noArguments,
    run: async ({ q, key, words }) => {
      const conversation = await findOpenConversation(q, key);
      const stops = conversation !== null && (await requestStop(q, { conversation: conversation.id }, 'asked'));
      return stops ? words.stopping : words.nothingToStop;
    },
  },
  {
    name: 'status',
    description: (words) => words.commandStatus,
    accepts: noArguments,
    run: async ({ q, key, words, settings, binding, now }) => {
      const conversation = await findOpenConversation(q, key);
      const run = conversation ? await activeRun(q, conversation.id) : null;
      const waiting = conversation ? await countWaiting(q, conversation.id) : 0;
      const agent = settings.agents.get(binding.agent);
      const lines = [run ? words.statusRunning(Math.round((now - run.createdAt) / 1000)) : words.statusIdle];
      if (waiting > 0) lines.push(words.statusWaiting(waiting));
      if (agent) lines.push(words.statusVersion(agent.spec.name, agent.version, agent.spec.model));
      return lines.join('\n\n');
    },
  },
  {
    name: 'whoami',
    description: (words) => words.commandWhoami,
    accepts: noArguments,
    run: async ({ account, admin, words, channel, message }) => {
      const role = admin ? words.roleAdmin : account?.pairedAt ? words.rolePaired : words.roleMember;
      return words.whoami(`${channel}:${message.sender.id}`, message.sender.name, role);
    },
  },
  {
    name: 'usage',
    description: (words) => words.commandUsage,
    accepts: noArguments,
    run: async ({ q, words, binding, now, settings }) => {
      const since = startOfDay(now, settings.timezone);
      const agent = await spent(q, { column: 'agent', value: binding.agent, since });
      const here = await spent(q, { column: 'binding', value: binding.id, since });
      return [usageLine(words, words.usageToday, agent), usageLine(words, words.usageConversation, here)].join('\n');
    },
  },
  {
    name: 'claim',
    description: (words) => words.commandClaim,
    accepts: (args) => args === '' || /^[A-Z0-9-]{8,64}$/i.test(args),
    open: true,
    run: async ({ q, args, channel, message, words, now }) => {
      if (message.chat.kind !== 'direct') return words.claimDirectOnly;
      if (args === '') return words.claimUsage;
      const outcome = await redeemClaim(q, args, channel, message.sender, now);
      return { claimed: words.claimed, wrong: words.claimWrong, gone: words.claimGone }[outcome];
    },
  },
  {
    name: 'pair',
    description: (words) => words.commandPair,
    accepts: (args) => args === '' || /^(here|list|[A-Z0-9]{8}|[\w.-]+:\S{1,200})$/i.test(args),
    run: pair,
  },
];

async function pair(context: CommandContext): Promise<string> {
  const { q, args, admin, words, channel, message, now, settings } = context;
  if (!admin) return words.pairAdminOnly;
  const actor = `${channel}:${message.sender.id}`;
  if (args === '') return words.pairUsage;
  if (args.toLowerCase() === 'list') {
    const pending = await listPairings(q, now);
    return words.pairPending(
      pending.map((pairing) => `- **${pairing.name}**, \`${pairing.channel}:${pairing.userId}\``),
    );
  }
  if (args.toLowerCase() === 'here') {
    if (message.chat.kind !== 'group') return words.pairUsage;
    await admitChat(q, channel, message.chat.id, actor, now);
    return words.pairConfirmChat(`${channel}:${message.chat.id}`);
  }
  const colon = args.indexOf(':');
  if (colon > 0) {
    const [toChannel, id] = [args.slice(0, colon), args.slice(colon + 1)];
    const facts = settings.channels.get(toChannel);
    if (!facts) return words.pairUsage;
    const account = await admit(q, { channel: toChannel, id }, facts, actor, now);
    return account === null ? words.pairConfirmChat(args) : words.pairConfirm(account.name || id, args);
  }
  const pairing = await admitAndTell(q, args, actor, words, now);
  if (!pairing) return words.pairUnknownCode;
  return words.pairConfirm(pairing.name, `${pairing.channel}:${pairing.userId}`);
}

export function describeCommands(words: Words): { name: string; description: string }[] {
  return commands.map((command) => ({ name: command.name, description: command.description(words) }));
}

export function findCommand(name: string, args: string): CommandSpec | undefined {
  return commands.find((command) => command.name === name && command.accepts(args));
}

function usageLine(words: Words, label: string, totals: LedgerTotals): string {
  return words.usageLine(
    label,
    totals.requests,
    totals.input,
    totals.cachedInput,
    totals.output,
    costText(words, totals),
  );
}
