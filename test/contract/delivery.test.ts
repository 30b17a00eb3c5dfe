/**
 * The connection breaks after the platform has taken a message: through the whole gateway, a hundred times on each
 * platform, side by side.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';
import type { AdapterPlugin } from '../../src/types/adapter.ts';
import { startModelServer } from '../emulators/model_server.ts';
import { type Chat, startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/index.ts';
import { configOf, startTestGateway } from '../support/gateway.ts';
import { signIn } from '../support/page_person.ts';
import { createRandom } from '../support/random.ts';
import { silentLog } from '../support/silent_log.ts';
import { createLine } from './line.ts';

const trials = 100;
const timeout = 60_000;
const wait = { timeoutMs: 30_000 };
const groups = Array.from({ length: trials }, (_, index) => -7_000 - index);

test('D3: 100 broken connections on the chat page: exactly one answer each', { timeout }, async (t) => {
  const random = createRandom();
  t.diagnostic(`GATEHOUSE_SEED=${random.seed}`);
  const lost = new Map<string, number>();
  const { gateway } = await startPageGateway(t, (text) => {
    const left = lost.get(text) ?? 0;
    lost.set(text, left - 1);
    return left > 0;
  });
  const losing = await createLine(gateway.url, { losing: true });
  t.after(() => losing.close());

  async function trial(number: number, posts: number, appends: number): Promise<void> {
    const name = `person-${number}`;
    const person = await signIn(gateway.url, await gateway.signInLink(name));
    const [first, second] = [1, 2].map((turn) => ({ id: `${name}-message-${turn}`, text: `${name} says ${turn}` }));
    lost.set(`You said: ${first!.text}`, appends);
    for (let left = posts; left > 0; left--) await assert.rejects(person.post(first!, losing.url));
    assert.equal((await person.post(first!)).status, 202);
    await person.seesAnswers(1);
    assert.equal((await person.post(second!)).status, 202);
    assert.deepEqual(
      await person.seesAnswers(2),
      [`You said: ${name} says 1`, `You said: ${name} says 2`],
      `trial ${number}: ${posts} posts and ${appends} answers lost, seed ${random.seed}`,
    );
    assert.equal(lost.get(`You said: ${first!.text}`), -1, 'every loss has happened');
  }
  await Promise.all(Array.from({ length: trials }, (_, number) => trial(number, random.below(3), 1 + random.below(2))));
});

test('D3: 100 broken connections on Telegram: one answer or two, and the next one as ever', { timeout }, async (t) => {
  const random = createRandom();
  t.diagnostic(`GATEHOUSE_SEED=${random.seed}`);
  const { telegram, model } = await startTestGateway(t, {
    config: {
      gateway: { concurrency: { runs: 128 } },
      binding: { where: { chats: groups, direct: true }, access: { direct: 'open', rate_limit: 'off' } },
    },
    telegram: { privacy: false },
  });
  const chats = new Map<number, Chat>();
  const numberOf = (words: string) => Number(words.split('-').at(-1));
  const sees = (chat: Chat, words: string) => said(telegram, chat).some((text) => text.includes(words.trim()));
  model.respond((request) => {
    const asked = request.messages.at(-1)?.text ?? '';
    const pieces = [`Answer to ${asked.split(' ').at(-1)}: `, 'and the rest of it.'];
    // The rest comes when the first piece is seen, so that there is one and then its edit.
    const seesFirst = () => telegram.until('a first piece', () => sees(chats.get(numberOf(asked))!, pieces[0]!), wait);
    const gate = asked.includes('slowly')
      ? async (piece: number) => void (piece === 1 && (await seesFirst()))
      : undefined;
    return { text: pieces.join(''), pieces, ...(gate ? { gate } : {}) };
  });

  const kinds = [
    { method: 'sendMessage', words: 'quickly', direct: true, most: 2 },
    { method: 'sendMessage', words: 'quickly', direct: false, most: 2 },
    // Its first piece is the message that is lost.
    { method: 'sendMessage', words: 'slowly', direct: false, most: 2 },
    // An edit may be repeated.
    { method: 'editMessageText', words: 'slowly', direct: false, most: 1 },
  ] as const;

  async function trial(number: number, kind: (typeof kinds)[number], fault: 'close_after' | 'status_after') {
    const person = telegram.user({ name: `Person ${number}` });
    const chat: Chat = kind.direct
      ? telegram.privateChat(person)
      : telegram.group({ id: groups[number]!, type: 'supergroup', members: [person] });
    chats.set(number, chat);
    const broken = telegram.fault({ method: kind.method, chat: chat.id, do: fault });
    const ask = (turn: string) =>
      telegram.say(chat, person, `${kind.direct ? '' : `@${telegram.bot.username} `}tell ${kind.words} of ${turn}`);
    const first = `Answer to first-${number}: and the rest of it.`;
    ask(`first-${number}`);
    // The second message, if there is one, comes before the answer to the next.
    await telegram.waitForMessage(chat, first, wait);
    ask(`second-${number}`);
    const second = `Answer to second-${number}: and the rest of it.`;
    await telegram.waitForMessage(chat, second, wait);
    const seen = said(telegram, chat);
    const told = `trial ${number}: ${fault} on ${kind.method} (${kind.words}), seed ${random.seed}: ${seen.join(' | ')}`;
    assert.equal(broken.hits, 1, told);
    const ofFirst = seen.filter((text) => text.includes('first'));
    assert.ok(ofFirst.length >= 1 && ofFirst.length <= kind.most, told);
    assert.equal(ofFirst.at(-1), first, told);
    assert.deepEqual(seen.slice(ofFirst.length), [second], told);
  }
  await Promise.all(
    Array.from({ length: trials }, (_, number) =>
      trial(number, kinds[random.below(kinds.length)]!, (['close_after', 'status_after'] as const)[random.below(2)]!),
    ),
  );
  await telegram.idle(wait);
});

const said = (telegram: TelegramEmulator, chat: Chat) =>
  telegram.visible(chat, { fromBot: true }).map(({ text }) => text);

/** A gateway whose journal takes a line and breaks the connection, when `isLost` says so of its text. */
async function startPageGateway(t: TestContext, isLost: (text: string) => boolean) {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-delivery-'));
  const telegram = await startTelegramEmulator();
  const model = await startModelServer();
  const page = plugins.adapters.find(({ type }) => type === 'web')!;
  const broken: AdapterPlugin = {
    ...page,
    create: (config, context) =>
      page.create(config, {
        ...context,
        journal: {
          ...context.journal,
          async append(chat, key, body) {
            const line = await context.journal.append(chat, key, body);
            if (isLost(String(body.text))) throw new Error('the connection to the database broke');
            return line;
          },
        },
      }),
  };
  const own = { ...plugins, adapters: [broken, ...plugins.adapters.filter((other) => other !== page)] };
  const file = join(dataDir, 'config.yaml');
  const { channels, bindings, ...rest } = configOf({}, dataDir, telegram, model);
  const pageOnly = { ...rest, channels: { page: (channels as Record<string, unknown>).page } };
  await writeFile(
    file,
    stringify({ ...pageOnly, bindings: (bindings as { id: string }[]).filter(({ id }) => id === 'page') }),
  );
  const gateway = await startGateway({ config: loadConfig(file, {}, own).config, plugins: own, log: silentLog });
  t.after(async () => {
    await gateway.stop();
    await model.close();
    await telegram.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { gateway };
}
