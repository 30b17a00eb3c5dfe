/** Several gateways on one PostgreSQL database share the work: they are one gateway to everybody outside. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts';
import { plugins } from '../../src/plugins.ts';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import { startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/index.ts';
import { becomes, readyz } from '../support/becomes.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { createGate } from '../support/gate.ts';
import { configOf } from '../support/gateway.ts';
import { type PagePerson, signIn } from '../support/page_person.ts';
import { silentLog } from '../support/silent_log.ts';
import { within } from '../support/within.ts';
import { passTime, said } from './world.ts';

const options = { only: 'postgres', timeoutMs: 120_000 } as const;
const wait = { timeoutMs: 30_000 };
/** Leases, heartbeats and sweeps pass that much faster. */
const speed = 10;
const standby = 'another process receives for this channel';

interface Shared {
  telegram: TelegramEmulator;
  model: ModelServer;
  /** `name` shows in the address of its model requests. */
  configFile(name: string): Promise<string>;
  start(name: string, clock?: Clock): Promise<Gateway>;
  /** Ends what was started, last one first. To be called before the database goes. */
  close(): Promise<void>;
}

async function share(url: string, clock: Clock = systemClock): Promise<Shared> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-two-'));
  const telegram = await startTelegramEmulator({ clock });
  const model = await startModelServer();
  const gateways: Gateway[] = [];
  const shared: Shared = {
    telegram,
    model,
    async configFile(name) {
      const open = { where: { direct: true }, access: { direct: 'open', rate_limit: 'off' } };
      const config = configOf(
        {
          gateway: { concurrency: { runs: 4 } },
          storage: { url },
          model: { base_url: `${model.url}/${name}/v1` },
          bindings: ['tg', 'page'].map((channel) => ({ id: channel, agent: 'helper', channel, ...open })),
        },
        join(folder, name),
        telegram,
        model,
      );
      const file = join(folder, `${name}.yaml`);
      await writeFile(file, stringify(config));
      return file;
    },
    async start(name, own = clock) {
      const { config } = loadConfig(await shared.configFile(name), {}, plugins);
      const gateway = await startGateway({ config, plugins, log: silentLog, clock: own });
      gateways.push(gateway);
      return gateway;
    },
    async close() {
      for (const gateway of gateways.reverse()) await gateway.stop();
      await model.close();
      await telegram.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return shared;
}

const enter = async (gateway: Gateway, name: string): Promise<PagePerson> =>
  signIn(gateway.url, await gateway.signInLink(name));

const telegramReport = (gateway: Gateway) => {
  const { state, reason } = gateway.reports().find(({ name }) => name === 'tg')!;
  return { state, reason };
};

/** What of `name-1 name-2 …` was said in the last message of a request. */
const numbered = (text: string) => text.match(/[a-z]+-\d+/g) ?? [];

eachDatabase(
  'two processes: every message is answered once, a lane has one run at a time',
  async (_t, _open, { url }) => {
    const shared = await share(url);
    try {
      const { telegram, model } = shared;
      const [first, second] = [await shared.start('first'), await shared.start('second')];
      const active = new Map<string, number>();
      const taken: string[] = [];
      let most = 0;
      model.respond((request) => {
        const words = numbered(request.messages.at(-1)?.text ?? '');
        const person = words[0]!.split('-')[0]!;
        taken.push(...words);
        active.set(person, (active.get(person) ?? 0) + 1);
        most = Math.max(most, active.get(person)!);
        void request.ended.then(() => active.set(person, active.get(person)! - 1));
        return { text: `Answer to ${words.join(' ')}` };
      });
      const names = ['ada', 'ben', 'cy', 'dot', 'eve', 'flo', 'gus', 'hal'];
      const onPage = await Promise.all(
        names.map(async (name) => ({ name, ways: [await enter(first, name), await enter(second, name)] })),
      );
      const onTelegram = names.map((name) => {
        const person = telegram.user({ name });
        return { name: `tg${name}`, person, chat: telegram.privateChat(person) };
      });
      const perPerson = 6;
      for (let number = 1; number <= perPerson; number++) {
        for (const { name, person, chat } of onTelegram) telegram.say(chat, person, `${name}-${number}`);
        await Promise.all(
          onPage.map(async ({ name, ways }) => {
            const message = { id: `${name}-message-${number}`, text: `${name}-${number}` };
            // Sent twice, as after a lost answer: once to each.
            const [one, other] = [ways[number % 2]!, ways[(number + 1) % 2]!];
            assert.deepEqual([(await one.post(message)).status, (await other.post(message)).status], [202, 202]);
          }),
        );
      }
      const all = (name: string) => Array.from({ length: perPerson }, (_, index) => `${name}-${index + 1}`);
      for (const { name, chat } of onTelegram) {
        await telegram.waitForMessage(chat, new RegExp(`\\b${name}-${perPerson}\\b`), wait);
        assert.deepEqual(said(telegram, chat).flatMap(numbered), all(name));
      }
      for (const { name, ways } of onPage) {
        await ways[0]!.seesAnswer(`${name}-${perPerson}`);
        for (const way of ways) assert.deepEqual((await way.answers()).flatMap(numbered), all(name));
      }
      const wanted = [...names, ...onTelegram.map(({ name }) => name)].flatMap(all);
      assert.deepEqual(taken.sort(), wanted.sort());
      assert.equal(most, 1);
      const workers = new Set(model.requests.map(({ path }) => path.split('/')[1]));
      assert.deepEqual([...workers].sort(), ['first', 'second']);
      await becomes(
        () => [telegramReport(first), telegramReport(second)],
        [
          { state: 'up', reason: undefined },
          { state: 'up', reason: standby },
        ],
      );
      assert.equal(telegram.calls.filter(({ status }) => status === 409).length, 0);
    } finally {
      await shared.close();
    }
  },
  options,
);

eachDatabase(
  'two processes: stop given to one ends the run of the other at once',
  async (_t, _open, { url }) => {
    // No heartbeat and no sweep ever comes: what happens is told by the bell, however slow the machine is.
    const clock = createFakeClock();
    const shared = await share(url, clock);
    try {
      const { model } = shared;
      const first = await shared.start('first');
      model.script({ text: 'One two three', hangAfter: 2 });
      const there = await enter(first, 'pat');
      assert.equal((await there.post({ id: 'message-0001', text: 'count' })).status, 202);
      const request = await model.request(1);
      const second = await shared.start('second');
      const here = await enter(second, 'pat');
      assert.equal((await here.post({ id: 'message-0002', text: '/stop' })).status, 202);
      assert.equal(await within(wait.timeoutMs, 'the end of the request', request.ended), 'client');
      assert.equal(request.path, '/first/v1/chat/completions');
      model.script({ text: 'As you like.' });
      assert.equal((await here.post({ id: 'message-0003', text: 'thanks' })).status, 202);
      await model.request(2);
      const rows = await second.db.all<{ state: string }>('select state from runs order by id');
      assert.equal(rows[0]?.state, 'cancelled');
    } finally {
      await passTime(clock, shared.close());
    }
  },
  options,
);

eachDatabase(
  'two processes: one that stops hands its channel over at once, without a conflict',
  async (_t, _open, { url }) => {
    const clock = createFastClock({ since: Date.now(), speed });
    const shared = await share(url, clock);
    try {
      const { telegram } = shared;
      const first = await shared.start('first');
      await telegram.polling(wait);
      const second = await shared.start('second');
      const person = telegram.user({ name: 'Alice' });
      const chat = telegram.privateChat(person);
      telegram.say(chat, person, 'hello');
      await telegram.waitForMessage(chat, 'You said: hello', wait);
      await becomes(() => telegramReport(second), { state: 'up', reason: standby });
      const lease = () => second.db.get<{ owner: string }>('select owner from channel_leases');
      const { owner } = (await lease())!;
      await first.stop();
      assert.notEqual((await lease())?.owner, owner, 'nobody has to wait for its end');
      telegram.say(chat, person, 'still there?');
      await telegram.waitForMessage(chat, 'You said: still there?', wait);
      await becomes(() => telegramReport(second), { state: 'up', reason: undefined });
      assert.deepEqual(said(telegram, chat), ['You said: hello', 'You said: still there?']);
      assert.equal(telegram.calls.filter(({ status }) => status === 409).length, 0);
    } finally {
      await shared.close();
    }
  },
  options,
);

eachDatabase(
  'D2: two processes: when one is killed the other takes over its runs, its sends and its channel',
  async (t, _open, { url }) => {
    const rate = { since: Date.now(), speed };
    const clock = createFastClock(rate);
    const shared = await share(url, clock);
    try {
      const { telegram, model } = shared;
      const gate = createGate();
      model.respond(async (request) => {
        const words = request.messages.at(-1)?.text ?? '';
        if (request.path.startsWith('/killed/') && words !== 'send') await gate.opened;
        return { text: `Answer to ${words}` };
      });
      const killed = await startChild(t, await shared.configFile('killed'), rate);
      const people = ['Ada', 'Ben', 'Cy'].map((name) => {
        const person = telegram.user({ name });
        return { name, person, chat: telegram.privateChat(person) };
      });
      // A send that waits for Telegram's permission.
      const waiting = telegram.user({ name: 'Dot' });
      const waitingChat = telegram.privateChat(waiting);
      let isFlooded = false;
      telegram.before(
        ({ method, args }) => method === 'sendMessage' && Number(args.chat_id) === waitingChat.id && !isFlooded,
        () => {
          isFlooded = true;
          // From the moment of the call, however late it comes.
          telegram.flood(waitingChat, 40);
        },
      );
      telegram.say(waitingChat, waiting, 'send');
      await telegram.call(({ method, status }) => method === 'sendMessage' && status === 429, wait);
      for (const { name, person, chat } of people) telegram.say(chat, person, `from ${name}`);
      const pat = await killed.enter('pat');
      assert.equal((await pat.post({ id: 'message-0001', text: 'from the page' })).status, 202);
      await model.request(5);

      const left = await shared.start('left');
      const shown = async () => {
        const { status, body } = await readyz(left.url);
        return { status, channels: body.channels.map(({ name, state, reason }) => [name, state, reason]) };
      };
      await becomes(shown, {
        status: 200,
        channels: [
          ['tg', 'up', standby],
          ['page', 'up', undefined],
        ],
      });

      await killed.kill();
      const [ada] = people;
      telegram.say(ada!.chat, ada!.person, 'are you still there?');
      for (const { name, chat } of people) await telegram.waitForMessage(chat, `Answer to from ${name}`, wait);
      await telegram.waitForMessage(ada!.chat, 'Answer to are you still there?', wait);
      await telegram.waitForMessage(waitingChat, 'Answer to send', wait);
      const patLeft = await enter(left, 'pat');
      assert.deepEqual(await patLeft.seesAnswers(1), ['Answer to from the page']);
      await telegram.idle(wait);
      for (const { name, chat } of people.slice(1)) assert.deepEqual(said(telegram, chat), [`Answer to from ${name}`]);
      assert.deepEqual(said(telegram, ada!.chat), ['Answer to from Ada', 'Answer to are you still there?']);
      assert.deepEqual(said(telegram, waitingChat), ['Answer to send']);
      await becomes(() => telegramReport(left), { state: 'up', reason: undefined });
      assert.equal(telegram.calls.filter(({ status }) => status === 409).length, 0);
      const open = await left.db.all(`select id from runs where state in ('queued', 'running')`);
      assert.deepEqual(open, []);
      gate.open();
    } finally {
      await shared.close();
    }
  },
  options,
);

async function startChild(t: TestContext, configFile: string, rate: { since: number; speed: number }) {
  const child: ChildProcess = fork(new URL('./second_process.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
    env: { PATH: process.env.PATH ?? '', SECOND_PROCESS: JSON.stringify({ configFile, rate }) },
  });
  t.after(() => child.kill('SIGKILL'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    async enter(name: string): Promise<PagePerson> {
      child.send(name);
      const [{ link }] = (await once(child, 'message')) as [{ link: string }];
      return signIn(url, link);
    },
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
