/**
 * The other side of `parked.ts`, a process of its own: people of whom each first asks for something that needs their
 * approval, and newcomers who write to the bot.
 */
import { startModelServer } from '../emulators/model_server.ts';
import { startTelegramEmulator } from '../emulators/telegram/index.ts';

export type ParkedOrder =
  /** So many people ask, `atOnce` at a time; done when each has a card. */
  | { do: 'ask'; people: number; atOnce: number }
  /** New people write, `perSecond`, until `stop`. */
  | { do: 'write'; perSecond: number }
  | { do: 'stop' };
export type ParkedReport =
  | { kind: 'ready'; telegram: string; token: string; model: string }
  | { kind: 'done'; ms: number; answered: number; unanswered: number; p50: number; p99: number; longest: number };

const telegram = await startTelegramEmulator({ record: 'counts', limits: 'off', pollThrottle: false });
const model = await startModelServer();
model.respond((request) => {
  const last = request.messages.at(-1);
  if (last?.role !== 'user' || !last.text.startsWith('Keep')) return { text: 'An answer.' };
  return { calls: [{ name: 'store_set', input: { key: 'wish', value: last.text } }] };
});

const say = (report: ParkedReport) => process.send?.(report);
const sentAt = new Map<number, number>();
let people = 0;
let latencies: number[] = [];
let onAnswer = () => {};

function write(text: string): void {
  people += 1;
  const user = telegram.user({ id: 1_000_000 + people, name: `Person ${people}` });
  const chat = telegram.privateChat(user);
  sentAt.set(chat.id, performance.now());
  telegram.say(chat, user, text);
}

telegram.after('sendMessage', (call) => {
  const chat = Number(call.args.chat_id);
  const begun = sentAt.get(chat);
  if (begun === undefined) return;
  sentAt.delete(chat);
  latencies.push(performance.now() - begun);
  onAnswer();
});

function done(begun: number): void {
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  say({
    kind: 'done',
    ms: performance.now() - begun,
    answered: latencies.length,
    unanswered: sentAt.size,
    p50: at(0.5),
    p99: at(0.99),
    longest: sorted.at(-1) ?? Number.NaN,
  });
  latencies = [];
  sentAt.clear();
}

let stop = () => {};
process.on('message', (order: ParkedOrder) => {
  const begun = performance.now();
  if (order.do === 'ask') {
    let left = order.people;
    const next = () => {
      if (left > 0) {
        left -= 1;
        write('Keep this in mind, if I may ask for that, and tell me when you have.');
      } else if (sentAt.size === 0) done(begun);
    };
    onAnswer = next;
    for (let n = 0; n < order.atOnce; n++) next();
  } else if (order.do === 'write') {
    onAnswer = () => {};
    const timer = setInterval(() => write('A question of ordinary length.'), 1000 / order.perSecond);
    stop = () => {
      clearInterval(timer);
      // A second for those under way.
      setTimeout(() => done(begun), 1_000);
    };
  } else stop();
});
process.on('disconnect', () => process.exit());
say({ kind: 'ready', telegram: telegram.url, token: telegram.token, model: `${model.url}/v1` });
