/**
 * The other side of every benchmark, a process of its own: the Telegram emulator, the instant model, and N people in
 * direct chats. Driven over IPC by test/bench/main.ts.
 */
import { startModelServer } from '../emulators/model_server.ts';
import { startTelegramEmulator } from '../emulators/telegram/index.ts';

export type Order =
  /** N chats with one message in flight each, for `ms`. */
  | { do: 'flat_out'; chats: number; ms: number }
  /** Until `messages` were answered; each chat writes some and is followed by a new one. */
  | { do: 'count'; chats: number; messages: number; messagesPerChat: number; reportEvery: number }
  /** `perSecond` messages over N chats in turn, for `ms`. */
  | { do: 'steady'; chats: number; perSecond: number; ms: number };

export type Report =
  | { kind: 'ready'; telegram: string; token: string; model: string }
  | { kind: 'progress'; answered: number }
  | { kind: 'done'; answered: number; ms: number; p50: number; p99: number; unanswered: number };

const telegram = await startTelegramEmulator({ record: 'counts', limits: 'off', pollThrottle: false });
const model = await startModelServer({ instant: 'An instant answer.' });
const people = new Map<
  number,
  { user: ReturnType<typeof telegram.user>; chat: ReturnType<typeof telegram.privateChat> }
>();
const sentAt = new Map<number, number>();
let latencies: number[] = [];
let onAnswer: (chat: number) => void = () => {};

const say = (report: Report) => process.send?.(report);

function personOf(index: number) {
  let person = people.get(index);
  if (!person) {
    const user = telegram.user({ id: 1_000_000 + index, name: `Person ${index}` });
    person = { user, chat: telegram.privateChat(user) };
    people.set(index, person);
  }
  return person;
}

function write(index: number): void {
  const { user, chat } = personOf(index);
  sentAt.set(chat.id, performance.now());
  telegram.say(chat, user, 'A question of ordinary length, to be answered at once.');
}

telegram.after('sendMessage', (call) => {
  const chat = Number(call.args.chat_id);
  const begun = sentAt.get(chat);
  if (begun === undefined) return;
  sentAt.delete(chat);
  latencies.push(performance.now() - begun);
  onAnswer(chat);
});

async function perform(order: Order): Promise<void> {
  latencies = [];
  let answered = 0;
  const begun = performance.now();
  await new Promise<void>((resolve) => {
    if (order.do === 'steady') {
      let n = 0;
      onAnswer = () => {
        answered += 1;
      };
      const timer = setInterval(() => {
        if (performance.now() - begun > order.ms) {
          clearInterval(timer);
          setTimeout(resolve, 1_000);
        } else write(n++ % order.chats);
      }, 1000 / order.perSecond);
      return;
    }
    let nextChat = order.chats;
    const written = new Map<number, number>();
    /** Who writes when this one was answered. */
    const nextWriter = (index: number) => {
      if (order.do !== 'count') return index;
      const count = (written.get(index) ?? 1) + 1;
      if (count <= order.messagesPerChat) written.set(index, count);
      else written.delete(index);
      return count <= order.messagesPerChat ? index : nextChat++;
    };
    const over = () =>
      order.do === 'flat_out' ? performance.now() - begun > order.ms : answered + sentAt.size >= order.messages;
    onAnswer = (chat) => {
      answered += 1;
      if (order.do === 'count' && answered % order.reportEvery === 0) say({ kind: 'progress', answered });
      if (!over()) write(nextWriter(chat - 1_000_000));
      else if (sentAt.size === 0) resolve();
    };
    for (let index = 0; index < order.chats; index++) write(index);
    // A client that loses a message must not hang the benchmark.
    if (order.do === 'flat_out') setTimeout(resolve, order.ms + 5_000).unref();
  });
  const ms = performance.now() - begun;
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  say({ kind: 'done', answered, ms, p50: at(0.5), p99: at(0.99), unanswered: sentAt.size });
  sentAt.clear();
}

process.on('message', (order: Order) => void perform(order));
process.on('disconnect', () => process.exit());
say({ kind: 'ready', telegram: telegram.url, token: telegram.token, model: `${model.url}/v1` });
