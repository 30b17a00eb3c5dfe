/** One person's conversation on Telegram, in a direct chat or a group. */
import type { Chat, Message } from '../emulators/telegram/index.ts';
import type { Talk } from './talk.ts';
import type { Places } from './world.ts';

export function openTelegramTalk({ telegram, nextGroup }: Places, where: 'direct' | 'group'): Talk {
  const person = telegram.user();
  const chat: Chat =
    where === 'direct'
      ? telegram.privateChat(person)
      : telegram.group({ id: nextGroup(), type: 'supergroup', members: [person] });
  const said: Message[] = [];
  const mention = where === 'group' ? `@${telegram.bot.username} ` : '';
  return {
    chat: String(chat.id),
    extraPerKillMax: 1,
    async say(text) {
      said.push(telegram.say(chat, person, mention + text));
    },
    texts: async () => telegram.visible(chat, { fromBot: true }).map((message) => message.text),
    async shows(text, ended) {
      const isShown = () =>
        telegram.drafts(chat).some((draft) => draft.text.includes(text)) ||
        telegram.visible(chat, { fromBot: true }).some((message) => message.text.includes(text));
      await Promise.race([telegram.until(`"${text}" is shown`, isShown, { timeoutMs: 15_000 }), ended]);
    },
    async sayAgain() {
      for (const message of said) telegram.redeliver(message);
      for (const message of said) telegram.redeliver(message, { newId: true });
      for (const message of said) telegram.unfurl(message);
      // Later by a minute, since Telegram's dates are seconds and two edits of one second are one.
      for (const message of said)
        telegram.editMessage(message, `${message.text} (edited)`, { date: message.date + 60 });
    },
    /** A change of anything a person sees. */
    changes: async () =>
      telegram.calls.filter(
        (call) => /^(send|edit|delete)Message/.test(call.method) && Number(call.args.chat_id) === chat.id,
      ).length,
    close() {},
  };
}
