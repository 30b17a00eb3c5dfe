/** `link` and `unlink` (rule 15). Both sides of a link stand in different chats, so one of them hears by the outbox. */
import { type AccountKey, accountName } from '../base/account.ts';
import { isCode } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { inCode } from '../base/safe_text.ts';
import { cancelLink, confirmLink, redeemLink, requestLink, unlink } from '../people/links.ts';
import { type Account, accountsOf, findAccount } from '../store/accounts.ts';
import { linkedWith } from '../store/links.ts';
import { type Words, wordsFor } from '../words/index.ts';
import type { CommandContext, CommandSpec } from './commands.ts';
import type { CommandForm } from './route.ts';
import { shownName } from './shown_name.ts';
import { tell } from './tell.ts';

/** People are told to send `link CODE`, `link confirm` and `link cancel`; without a mark nothing else is a command. */
function acceptsLink(args: string, form: CommandForm): boolean {
  if (/^(confirm|cancel)$/i.test(args) || isCode(args, limits.linkCodeChars)) return true;
  if (form === 'bare') return false;
  // One word after a slash is a code that was mistyped: it must not reach the model.
  return args === '' || (form === 'written' && /^\S+$/.test(args));
}

const inDirect = ({ message }: CommandContext) => message.chat.kind === 'direct';

export const linkCommand: CommandSpec = {
  name: 'link',
  description: (words) => words.commandLink,
  accepts: acceptsLink,
  isFor: inDirect,
  /** Where only linked accounts are answered it is how one becomes that; codes come from accounts that are. */
  openTo: (reason) => reason === 'linked',
  async run(context) {
    const { words, args, admitted } = context;
    if (!inDirect(context)) return words.linkDirectOnly;
    const word = args.toLowerCase();
    if (word === 'confirm') return confirm(context);
    if (word === 'cancel') return cancel(context);
    if (word !== '') return redeem(context);
    return admitted ? request(context) : words.needsLink;
  },
};

export const unlinkCommand: CommandSpec = {
  name: 'unlink',
  description: (words) => words.commandUnlink,
  accepts: (args, form) => args === '' && form !== 'bare',
  isFor: async (context) => inDirect(context) && (await linkedAccounts(context)).length > 0,
  async run(context) {
    const { q, account, words, now } = context;
    if (!inDirect(context)) return words.linkDirectOnly;
    const others = account && (await unlink(q, account, now));
    if (!others) return words.unlinkNone;
    const self = listed([account]);
    await tellAll(context, others, (their) => their.unlinkTold(self));
    return words.unlinked(listed(others));
  },
};

/** The other accounts of whoever writes; for whoami. */
export async function linkedAccounts({ q, account }: CommandContext): Promise<Account[]> {
  return account ? accountsOf(q, await linkedWith(q, account.personId)) : [];
}

/** `**Ann**, `tg:5``, one a line. */
export function listed(accounts: readonly Account[]): string {
  return accounts
    .map(
      (account) =>
        `- **${shownName({ id: account.userId, name: account.name })}**, \`${inCode(accountName(account))}\``,
    )
    .join('\n');
}

async function request(context: CommandContext): Promise<string> {
  const { q, words, now } = context;
  const { code, retired } = await requestLink(q, keyOf(context), now);
  await tellRetired(context, retired);
  return words.linkCode(code);
}

async function redeem(context: CommandContext): Promise<string> {
  const { q, args, channel, message, words, now } = context;
  const sender = { ...message.sender, directChat: message.chat.id };
  const redeemed = await redeemLink(q, args, channel, sender, now);
  if (redeemed.outcome !== 'asked')
    return {
      wrong: words.linkWrong,
      tries: words.linkTries,
      same: words.linkSame,
      full: words.linkFull(limits.linkedAccountsMax),
    }[redeemed.outcome];
  await tellRetired(context, redeemed.retired);
  const [asking] = redeemed.other;
  await tellAll(context, asking ? [asking] : [], (their) => their.linkAsk(listed(redeemed.sender)));
  return words.linkAsk(listed(redeemed.other));
}

async function confirm(context: CommandContext): Promise<string> {
  const { q, words, now } = context;
  const own = keyOf(context);
  const confirmed = await confirmLink(q, own, now);
  if (confirmed.outcome === 'nothing') return words.linkNothing;
  if (confirmed.outcome === 'waits') return words.linkWaits(inCode(accountName(confirmed.other)));
  await tellRetired(context, confirmed.retired);
  const others = (of: AccountKey) =>
    listed(confirmed.accounts.filter(({ channel, userId }) => channel !== of.channel || userId !== of.userId));
  const peers = confirmed.accounts.filter(({ channel, userId }) => channel !== own.channel || userId !== own.userId);
  for (const peer of peers) await tellAll(context, [peer], (their) => their.linkDone(others(peer)));
  return words.linkDone(others(own));
}

async function cancel(context: CommandContext): Promise<string> {
  const { q, words, now } = context;
  await tellRetired(context, await cancelLink(q, keyOf(context), now));
  return words.linkCancelled;
}

const keyOf = ({ channel, message }: CommandContext): AccountKey => ({ channel, userId: message.sender.id });

async function tellRetired(context: CommandContext, peers: readonly AccountKey[]): Promise<void> {
  const accounts: Account[] = [];
  for (const { channel, userId } of peers) {
    const account = await findAccount(context.q, channel, userId);
    if (account) accounts.push(account);
  }
  await tellAll(context, accounts, (their) => their.linkCancelledOther);
}

/** Each in its own direct chat and language. */
async function tellAll(
  { q, now, settings }: CommandContext,
  accounts: readonly Account[],
  say: (words: Words) => string,
): Promise<void> {
  for (const { channel, directChat, language } of accounts) {
    if (directChat === null) continue;
    const place = { channel, chat: directChat };
    await tell(q, { place, direct: true, replyTo: null }, say(wordsFor(language, settings.language)), now);
  }
}
