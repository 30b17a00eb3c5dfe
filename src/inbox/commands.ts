/**
 * The commands people can give in a chat (rule 18). A command runs inside the accepting transaction: its effect, its
 * reply and the inbox key are committed together, so a redelivered command changes nothing.
 */

import { withdrawAll } from '../approvals/expire.ts';
import { listOpen } from '../approvals/words.ts';
import { accountName, splitAccount } from '../base/account.ts';
import { GatehouseError } from '../base/errors.ts';
import { isCode, newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { inCode } from '../base/safe_text.ts';
import { startOfDay } from '../base/time.ts';
import { admitChat, hasNoAdmin, isClaimCode, kindOfId, redeemClaim } from '../people/admission.ts';
import type { AccessVerdict } from '../policy/access.ts';
import { listPairings } from '../store/accounts.ts';
import { pendingShownIn } from '../store/approvals.ts';
import {
  busyConversations,
  closeConversation,
  findOpenConversation,
  openConversation,
  setMode,
} from '../store/conversations.ts';
import { countWaitingUnder } from '../store/inbox.ts';
import { type LedgerTotals, spent } from '../store/ledger.ts';
import { activeRun, parkedUnder, requestStop } from '../store/runs.ts';
import { costText } from '../words/cost.ts';
import type { Words } from '../words/index.ts';
import { admitAndTell, admitCodeAndTell } from './admit_and_tell.ts';
import type { Arrival } from './arrival.ts';
import { linkCommand, linkedAccounts, listed, unlinkCommand } from './command_link.ts';
import { policyCommands } from './command_policy.ts';
import type { CommandForm } from './route.ts';
import { shownName } from './shown_name.ts';

/** `account` is null for strangers, who may only claim. */
export interface CommandContext extends Arrival {
  args: string;
  /** Whether this person may talk to the bot; a command that runs without it was `open` or `openTo` them. */
  admitted: boolean;
}

export interface CommandSpec {
  name: string;
  description(words: Words): string;
  /** Whether the arguments make it this command, so that a sentence that begins with its name is not one. */
  accepts(args: string, form: CommandForm): boolean;
  /** Whether /help names it to this person; without it, to everybody. */
  isFor?(context: CommandContext): boolean | Promise<boolean>;
  /** Strangers may use it too. */
  open?: boolean;
  /** So may those who are refused for this reason. */
  openTo?(reason: (AccessVerdict & { allow: false })['reason']): boolean;
  run(context: CommandContext): Promise<string | null>;
}

const noArguments = (args: string, form: CommandForm) => args === '' && form !== 'bare';

/** People are told to send `claim CODE` and `pair CODE`: without a mark these count only with what can be a code. */
function acceptsClaim(args: string, form: CommandForm): boolean {
  // One word after a slash is a code that was mistyped: it must not reach the model.
  if (form === 'written') return /^\S*$/.test(args);
  return isClaimCode(args) || noArguments(args, form);
}

function acceptsPair(args: string, form: CommandForm): boolean {
  const [whom = '', role, ...more] = args.split(/\s+/);
  if (more.length > 0 || (role !== undefined && role.toLowerCase() !== 'admin')) return false;
  // As it was shown, in capitals: "pair sneakers" is a sentence.
  if (isCode(whom, limits.pairingCodeChars)) return true;
  if (form === 'bare') return false;
  if (/^[\w.-]+:\S{0,200}$/.test(whom)) return true;
  if (form === 'written' && /^[A-Z0-9]{8}$/i.test(whom)) return true;
  return role === undefined && /^(here|list)?$/i.test(whom);
}

export const commands: readonly CommandSpec[] = [
  {
    name: 'help',
    description: (words) => words.commandHelp,
    accepts: noArguments,
    run: async (context) => {
      const { words, settings, binding } = context;
      const agent = settings.agents.get(binding.agent)?.spec.name ?? settings.gatewayName;
      const shown: CommandSpec[] = [];
      for (const command of commands)
        if (command.isFor === undefined || (await command.isFor(context))) shown.push(command);
      return words.help(agent, describe(shown, words));
    },
  },
  {
    name: 'new',
    description: (words) => words.commandNew,
    accepts: noArguments,
    run: async ({ q, key, words, binding, place, message, now }) => {
      const old = await findOpenConversation(q, key);
      await closeConversation(q, key);
      // Who asked to be asked about everything is; who waived it waived it for that conversation (rule 95).
      if (old?.mode === 'ask') {
        const next = { id: newId(now), key, binding: binding.id, place, audience: message.chat.kind };
        await setMode(q, (await openConversation(q, next, now)).id, 'ask');
      }
      return words.newStarted;
    },
  },
  {
    name: 'stop',
    description: (words) => words.commandStop,
    accepts: noArguments,
    run: async ({ q, key, words, parts, channel, message, admin, now }) => {
      let stops = false;
      for (const conversation of await busyConversations(q, key))
        stops = (await requestStop(q, { conversation }, 'asked')) || stops;
      if (stops) return words.stopping;
      // Nothing is at work: what waits for approval is taken back, by who asked for it or an admin.
      const actor = `${channel}:${message.sender.id}`;
      for (const run of await parkedUnder(q, key))
        if (admin || run.userId === message.sender.id)
          stops = (await withdrawAll(q, parts.approvals, run.id, 'stopped', actor, 'asked', now)) || stops;
      return stops ? words.takenBack : words.nothingToStop;
    },
  },
  {
    name: 'status',
    description: (words) => words.commandStatus,
    accepts: noArguments,
    run: async ({ q, key, words, settings, binding, now }) => {
      const [oldest] = await busyConversations(q, key);
      const run = oldest === undefined ? null : await activeRun(q, oldest);
      const waiting = await countWaitingUnder(q, key);
      const agent = settings.agents.get(binding.agent);
      const lines = [run ? words.statusRunning(Math.round((now - run.createdAt) / 1000)) : words.statusIdle];
      if (waiting > 0) lines.push(words.statusWaiting(waiting));
      const parked = await parkedUnder(q, key);
      if (parked.length > 0) lines.push(words.questions.waits(parked.length));
      if (agent) lines.push(words.statusVersion(agent.spec.name, agent.version, agent.spec.model));
      return lines.join('\n\n');
    },
  },
  ...(['approve', 'deny'] as const).map(
    (name): CommandSpec => ({
      name,
      description: (words) => (name === 'approve' ? words.commandApprove : words.commandDeny),
      // With a code they are read as the words they are, before any command (rule 44); one word after a slash that can be no
      // code is a mistyped one and must not reach the model.
      accepts: (args, form) => noArguments(args, form) || (form === 'written' && /^\S{1,20}$/.test(args)),
      run: async ({ q, channel, message, words, args }) => {
        if (args !== '') return words.questions.noSuchCode(inCode(args));
        const open = await pendingShownIn(q, channel, message.chat.id);
        return open.length === 0 ? words.questions.nobodyPending : listOpen(open, words);
      },
    }),
  ),
  {
    name: 'whoami',
    description: (words) => words.commandWhoami,
    accepts: noArguments,
    run: async (context) => {
      const { account, admin, words, channel, message } = context;
      const role = admin ? words.roleAdmin : account?.pairedAt ? words.rolePaired : words.roleMember;
      const self = words.whoami(inCode(`${channel}:${message.sender.id}`), shownName(message.sender), role);
      // Which other accounts somebody has is nothing for a room.
      const others = message.chat.kind === 'direct' ? await linkedAccounts(context) : [];
      return others.length === 0 ? self : `${self}\n\n${words.whoamiLinked(listed(others))}`;
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
  ...policyCommands,
  {
    name: 'claim',
    description: (words) => words.commandClaim,
    accepts: acceptsClaim,
    isFor: ({ q, settings }) => hasNoAdmin(q, settings.admins.size),
    open: true,
    run: async ({ q, args, channel, message, words, now }) => {
      if (message.chat.kind !== 'direct') return words.claimDirectOnly;
      if (args === '') return words.claimUsage;
      if (!isClaimCode(args)) return words.claimWrong;
      const outcome = await redeemClaim(q, args, channel, { ...message.sender, directChat: message.chat.id }, now);
      return { claimed: words.claimed, wrong: words.claimWrong, gone: words.claimGone }[outcome];
    },
  },
  {
    name: 'pair',
    description: (words) => words.commandPair,
    accepts: acceptsPair,
    isFor: ({ admin }) => admin,
    run: pair,
  },
  linkCommand,
  unlinkCommand,
];

async function pair(context: CommandContext): Promise<string> {
  const { q, args, admin, words, channel, message, now, settings } = context;
  if (!admin) return words.pairAdminOnly;
  const actor = `${channel}:${message.sender.id}`;
  if (args === '') return words.pairUsage;
  if (args.toLowerCase() === 'list') {
    const pending = await listPairings(q, now);
    return words.pairPending(
      pending.map(({ channel, userId, name }) => {
        const account = inCode(`${channel}:${userId}`);
        return `- **${shownName({ id: userId, name })}**, \`${account}\``;
      }),
    );
  }
  if (args.toLowerCase() === 'here') {
    if (message.chat.kind !== 'group') return words.pairUsage;
    await admitChat(q, channel, message.chat.id, actor, now);
    return words.pairConfirmChat(inCode(`${channel}:${message.chat.id}`));
  }
  const [whom = '', role] = args.split(/\s+/);
  const by = { actor, asAdmin: role !== undefined };
  const confirm = by.asAdmin ? words.pairConfirmAdmin : words.pairConfirm;
  const { channel: toChannel, userId: id } = splitAccount(whom);
  if (toChannel !== '') {
    const facts = settings.channels.get(toChannel);
    if (!facts) return words.pairUsage;
    if (kindOfId(id, facts) === null) return words.pairNoId(inCode(whom));
    try {
      const admitted = await admitAndTell(q, { channel: toChannel, id }, facts, by, words, now);
      const shown = inCode(whom);
      return admitted === null ? words.pairConfirmChat(shown) : confirm(shownName({ id, name: admitted.name }), shown);
    } catch (error) {
      if (error instanceof GatehouseError && error.code === 'invalid') return words.pairUsage;
      throw error;
    }
  }
  const admitted = await admitCodeAndTell(q, whom, by, words, now);
  if (!admitted) return words.pairUnknownCode;
  return confirm(shownName({ id: admitted.userId, name: admitted.name }), inCode(accountName(admitted)));
}

/** All of them, for a platform's menu, which is the same for everybody. */
export function describeCommands(words: Words): { name: string; description: string }[] {
  return describe(commands, words);
}

function describe(some: readonly CommandSpec[], words: Words): { name: string; description: string }[] {
  return some.map((command) => ({ name: command.name, description: command.description(words) }));
}

export function findCommand(name: string, args: string, form: CommandForm): CommandSpec | undefined {
  return commands.find((command) => command.name === name && command.accepts(args, form));
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
