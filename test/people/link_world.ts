/** One bot on Telegram and on the page, and people who write to it from either. */
import type { Db } from '../../src/store/db.ts';
import type { IncomingMessage } from '../../src/types/message.ts';
import type { Access } from '../../src/types/spec.ts';
import { bindingSpec, createInboxWorld, type InboxWorld, sender } from '../support/inbox_world.ts';

export interface LinkWorld extends InboxWorld {
  /** A message of `<channel>:<user>`, as a slash command where it begins with one. Returns what its chat was told by it. */
  from(account: string, text: string, over?: Partial<IncomingMessage>): Promise<string[]>;
  /** What the direct chat of an account was told in all. */
  toldTo(account: string): Promise<string[]>;
  /** Asks from `left`, sends the code from `right`, and confirms on both sides. */
  link(left: string, right: string): Promise<void>;
  personOf(account: string): Promise<string>;
}

const codePattern = /`link ([A-Z2-9]{8})`/;

export function codeIn(lines: readonly string[]): string {
  const code = codePattern.exec(lines.join('\n'))?.[1];
  if (code === undefined) throw new Error(`there is no code in: ${lines.join('\n')}`);
  return code;
}

export function createLinkWorld(db: Db, access: Partial<Access> = {}, admins: string[] = []): LinkWorld {
  const open: Access = { direct: 'open', group: 'open', allow: [], rateLimit: null };
  const page = { threads: false as const, groupsNeedAdmission: false };
  const tg = { threads: 'given' as const, groupsNeedAdmission: true, accountIds: { pattern: '^[a-z0-9]+$' } };
  const world = createInboxWorld(db, {
    bindings: [
      bindingSpec({ access: { ...open, ...access } }),
      bindingSpec({ id: 'page', channel: 'page', where: { chats: [], direct: true }, access: open }),
    ],
    channels: { tg, page },
    admins,
  });
  let next = 1;
  /** Chats of the two channels have different names for the same user. */
  const chatOf = (channel: string, user: string) => (channel === 'tg' ? `dm-${user}` : user);
  const toldTo = async (account: string) => {
    const [channel, user] = account.split(':') as [string, string];
    const lines = await world.outbox();
    return lines
      .filter((line) => line.channel === channel && line.chat === chatOf(channel, user))
      .map((l) => l.markdown);
  };
  const from: LinkWorld['from'] = async (account, text, over = {}) => {
    const [channel, user] = account.split(':') as [string, string];
    const chat = over.chat ?? { id: chatOf(channel, user), kind: 'direct' as const };
    const before = (await world.outbox()).map(({ id }) => id);
    const messageId = String(next++);
    const [, name, args = ''] = /^\/([a-z]+)\s*(.*)$/.exec(text) ?? [];
    await world.inbox(channel).accept({
      kind: 'message',
      key: `m:${messageId}`,
      chat,
      messageId,
      sender: sender(user),
      text,
      mentionsBot: false,
      files: [],
      sentAt: world.clock.now(),
      ...(name === undefined ? {} : { command: { name, args } }),
      ...over,
    });
    const lines = (await world.outbox()).filter(({ id }) => !before.includes(id));
    return lines.filter((line) => line.channel === channel && line.chat === chat.id).map((line) => line.markdown);
  };
  return {
    ...world,
    from,
    toldTo,
    async link(left, right) {
      const code = codeIn(await from(left, '/link'));
      await from(right, `link ${code}`);
      await from(left, 'link confirm');
      await from(right, 'link confirm');
    },
    async personOf(account) {
      const [channel, user] = account.split(':') as [string, string];
      const row = await db.get<{ person_id: string }>(
        'select person_id from accounts where channel = ? and user_id = ?',
        channel,
        user,
      );
      return row?.person_id ?? '';
    },
  };
}
