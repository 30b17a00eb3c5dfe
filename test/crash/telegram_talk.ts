/** One person's conversation on Telegram, in a direct chat or a group. */
import type { Chat, Message, Press } from '../emulators/telegram/index.ts';
import { codeOn, isCard, reasonOfNo, type Talk } from './talk.ts';
import type { Places } from './world.ts';

/** Each death leaves one copy of a card behind at most. */
const pressesMax = 4;

export function openTelegramTalk({ telegram, nextGroup }: Places, where: 'direct' | 'group'): Talk {
  const person = telegram.user();
  const chat: Chat =
    where === 'direct'
      ? telegram.privateChat(person)
      : telegram.group({ id: nextGroup(), type: 'supergroup', members: [person] });
  const said: Message[] = [];
  const presses: Press[] = [];
  const wait = { timeoutMs: 15_000 };
  const mention = where === 'group' ? `@${telegram.bot.username} ` : '';
  const visible = () => telegram.visible(chat, { fromBot: true });
  const cards = () => visible().filter(({ text }) => isCard(text));
  const say = (text: string) => void said.push(telegram.say(chat, person, mention + text));
  return {
    chat: String(chat.id),
    extraPerKillMax: 1,
    say: async (text) => say(text),
    texts: async () =>
      visible()
        .filter(({ text }) => !isCard(text))
        .map(({ text }) => text),
    cards: async () => cards().map(({ text, buttons }) => ({ text, open: buttons.length > 0 })),
    seesCard: async () => void (await telegram.until('a card is shown', () => cards().length > 0, wait)),
    async decides() {
      const label = 'Approve 1';
      const shown = () => cards().findLast(({ buttons }) => buttons.flat().some(({ text }) => text === label));
      // A copy that was left behind by a death says that it decides nothing: then the newest one is pressed.
      for (let card = shown(); card; card = shown()) {
        const press = telegram.press(person, { message_id: card.id, chat: { id: card.chat } }, label);
        presses.push(press);
        await telegram.until('the press is answered', () => press.answer !== null, wait);
        if (!press.answer?.text) break;
        if (presses.length > pressesMax) throw new Error(`presses are answered "${press.answer.text}"`);
      }
      say(`no ${codeOn(cards().at(-1)?.text ?? '', 2)}, because ${reasonOfNo}`);
    },
    async shows(text, ended) {
      const isShown = () =>
        telegram.drafts(chat).some((draft) => draft.text.includes(text)) ||
        telegram.visible(chat, { fromBot: true }).some((message) => message.text.includes(text));
      await Promise.race([telegram.until(`"${text}" is shown`, isShown, wait), ended]);
    },
    async sayAgain() {
      for (const press of presses) telegram.redeliver(press.update_id);
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
