/**
 * R48: whoever presses at the same moment, in whatever process: one decision, one execution, cards that change once. Two
 * gateway processes on one PostgreSQL database, one on SQLite. `GATEHOUSE_SEED` repeats who does what through which
 * process; how the processes run side by side is not ours to repeat.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Db } from '../../src/store/db.ts';
import { addRun, takeResumable } from '../../src/store/runs.ts';
import type { ApprovalState } from '../../src/types/approval.ts';
import type { Button, InboundEvent, OutgoingMessage, Sender } from '../../src/types/message.ts';
import { readLines } from '../crash/lines_capability.ts';
import { type ModelServer, startModelServer } from '../emulators/model_server.ts';
import { type Dialect, eachDatabase } from '../support/databases.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { createRandom, type Random } from '../support/random.ts';
import { within } from '../support/within.ts';
import type { FromRacer, ToRacer } from './race_process.ts';

const speed = 4;
const approvers = Array.from({ length: 20 }, (_, index) => `u${index + 1}`);
/** Every second one. */
const admins = approvers.filter((_, index) => index % 2 === 1);
const settleMsMax = 90_000;
const roomsPerScene = 3;
const options = { timeoutMs: 240_000 } as const;

interface Shown {
  ref: string;
  chat: string;
  message: OutgoingMessage;
  edits: OutgoingMessage[];
}

interface Arena {
  db: Db;
  model: ModelServer;
  now(): number;
  /** Resolves when the gateways' clock has come that far. */
  until(at: number): Promise<void>;
  /** Through this process; null when there was nothing to tell. */
  accept(process: number, event: InboundEvent): Promise<string | null>;
  processes: number;
  shownIn(chat: string): Shown[];
  /** Resolves when it is true; looked at with everything that is shown. */
  sees(what: string, isSo: () => boolean): Promise<void>;
  /** Resolves when no row waits for anything but people. */
  settled(): Promise<void>;
  lines(): string[];
  /** Of the log, errors and worse. */
  errors: string[];
  close(): Promise<void>;
}

async function openArena(db: Db, url: string, folder: string, processes: number): Promise<Arena> {
  const rate = { since: Date.now(), speed };
  const clock = createFastClock(rate);
  const model = await startModelServer();
  const linesFile = join(folder, 'lines.txt');
  const shown = new Map<string, Shown>();
  /** Those that came before what they change: two processes have a pipe each. */
  const early = new Map<string, OutgoingMessage[]>();
  const errors: string[] = [];
  const lookers = new Set<() => void>();
  const waiting = new Map<number, { resolve(notice: string | null): void; reject(error: Error): void }>();
  let serial = 0;

  function hear(message: FromRacer): void {
    if ('log' in message) {
      if ((JSON.parse(message.log) as { level: unknown }).level === 'error') errors.push(message.log);
    } else if ('shown' in message) {
      const { ref } = message;
      if (message.shown === 'edit') {
        const edits = shown.get(ref)?.edits ?? early.get(ref) ?? [];
        edits.push(message.message);
        if (!shown.has(ref)) early.set(ref, edits);
      } else if (!shown.has(ref)) {
        const { chat } = message.message.place;
        shown.set(ref, { ref, chat, message: message.message, edits: early.get(ref) ?? [] });
      }
      for (const look of lookers) look();
    } else if ('serial' in message) {
      const { resolve, reject } = waiting.get(message.serial)!;
      waiting.delete(message.serial);
      if ('error' in message) reject(new Error(message.error));
      else resolve(message.receipt?.notice ?? null);
    }
  }

  const children: ChildProcess[] = [];
  const order = (index: number, what: string, work: { accept: InboundEvent } | { flush: true }) => {
    serial += 1;
    const message: ToRacer = { serial, ...work };
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    waiting.set(serial, { resolve, reject });
    children[index]!.send(message);
    return within(settleMsMax, what, promise);
  };
  for (let index = 0; index < processes; index++) {
    const configFile = join(folder, `config-${index}.yaml`);
    await writeFile(configFile, stringify(configOf(url, join(folder, `data-${index}`), model.url)));
    const child = fork(new URL('./race_process.ts', import.meta.url), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
      env: { PATH: process.env.PATH ?? '', RACE_PROCESS: JSON.stringify({ configFile, linesFile, rate }) },
    });
    children.push(child);
    await within(settleMsMax, 'the start of a gateway', once(child, 'message'));
    child.on('message', hear);
  }

  const arena: Arena = {
    db,
    model,
    processes,
    errors,
    now: () => clock.now(),
    until: (at) => clock.sleep(Math.max(0, at - clock.now())),
    lines: () => readLines(linesFile),
    shownIn: (chat) => [...shown.values()].filter((one) => one.chat === chat),
    accept: (index, accept) => order(index, `the end of ${accept.kind} ${accept.key}`, { accept }),
    async sees(what, isSo) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => isSo() && resolve();
      lookers.add(look);
      look();
      await within(settleMsMax, what, promise).finally(() => lookers.delete(look));
    },
    async settled() {
      await within(settleMsMax, 'rest', settle(db));
      // What was shown before that has come through the pipes then.
      await Promise.all(children.map((_, index) => order(index, 'an empty pipe', { flush: true })));
    },
    async close() {
      for (const child of children) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await model.close();
    },
  };
  return arena;
}

const openRows = `select (select count(*) from inbox where state in ('waiting', 'taken') and not exists (select 1 from runs r
    where r.id = inbox.run_id and r.state = 'awaiting_approval' and r.resume_at is null))
  + (select count(*) from runs where state in ('queued', 'running') or (state = 'awaiting_approval' and resume_at is not null))
  + (select count(*) from outbox where state in ('pending', 'sending')) as n`;

/** What the other process commits is nothing we are told of. */
async function settle(db: Db): Promise<void> {
  for (;;) {
    const row = await db.get<{ n: number }>(openRows);
    if (row?.n === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function configOf(url: string, dataDir: string, modelUrl: string): unknown {
  const account = (user: string) => `pipe:${user}`;
  return {
    gateway: { data_dir: dataDir, listen: '127.0.0.1:0', log: { level: 'warn' }, concurrency: { runs: 16 } },
    storage: { url },
    models: { main: { provider: 'openai_compatible', model: 'test', base_url: `${modelUrl}/v1`, api_key: 'key' } },
    channels: { pipe: { type: 'pipe' } },
    agents: { helper: { model: 'main', instructions: 'You help.', permission_mode: 'dual-sign-required' } },
    admins: admins.map(account),
    bindings: [
      { id: 'direct', where: { direct: true } },
      { id: 'rooms', where: { chats: 'any' }, scope: 'channel', approvals: { approvers: approvers.map(account) } },
    ].map((binding) => ({
      agent: 'helper',
      channel: 'pipe',
      access: { direct: 'open', group: 'open', rate_limit: 'off' },
      ...binding,
    })),
  };
}

const person = (id: string): Sender => ({ id, name: `Person ${id}`, kind: 'human', membership: 'full' });
const words = (id: string) => `Person ${id} (pipe:${id})`;
let keys = 0;
const key = () => `key-${++keys}`;

function message(chat: string, user: string, text: string): InboundEvent & { kind: 'message' } {
  const id = key();
  return {
    kind: 'message',
    key: id,
    chat: { id: chat, kind: chat.startsWith('dm-') ? 'direct' : 'group' },
    messageId: id,
    sender: person(user),
    text,
    mentionsBot: true,
    files: [],
    sentAt: Date.now() + 3_600_000,
  };
}

/** `[room] ask_line dual_line`: those calls in one step, then an answer that names the room and what became of them. */
function answerAsTold(model: ModelServer): void {
  model.respond((request) => {
    const last = request.messages.findLastIndex(({ role, text }) => role === 'user' && text.includes('['));
    const [, room = '', tools = ''] = /\[([\w-]+)\]((?: \w+_line)*)/.exec(request.messages[last]?.text ?? '') ?? [];
    const results = request.messages.slice(last + 1).flatMap((one) => one.results);
    const calls = tools.trim().split(' ').filter(Boolean);
    if (results.length > 0 || calls.length === 0) return { text: `Answer to [${room}].` };
    return { calls: calls.map((name, index) => ({ name, input: { line: `${room}#${index}` } })) };
  });
}

/** One request with its question, and everything that happens to it at the same moment. */
interface Scene {
  name: string;
  tools: string;
  /** Which button of those on a card this person presses. */
  button(buttons: readonly Button[], random: Random): Button;
  /** What others do beside the presses. */
  besides?(room: Room): (() => Promise<unknown>)[];
  /** Just before. */
  prepare?(room: Room, arena: Arena): Promise<void>;
  /** Whether the run may end without a model request after the decision. */
  mayEnd?: boolean;
  check?(outcome: Outcome): void | Promise<void>;
}

interface Room {
  chat: string;
  asked: ReturnType<typeof message>;
  cards: Shown[];
  arena: Arena;
  random: Random;
}

interface Outcome {
  room: Room;
  approvals: { id: string; position: number; state: ApprovalState; decided_by: string | null }[];
  notices: Map<string, string | null>;
}

const one = (label: RegExp) => (buttons: readonly Button[], random: Random) =>
  random.pick(buttons.filter((button) => label.test(button.label)));

const decideOnly = one(/^(Approve|Deny)$/);

async function play(arena: Arena, scene: Scene, index: number, random: Random): Promise<Outcome> {
  const chat = `${random.pick(['near', 'far'])}-${scene.name}-${index}`;
  const asked = message(chat, `asker-${index}`, `[${chat}] ${scene.tools}`);
  await arena.accept(random.below(arena.processes), asked);
  const count = chat.startsWith('near') ? 1 : 1 + approvers.length;
  const cards = () =>
    [chat, ...approvers.map((user) => `dm-${user}`)]
      .flatMap(arena.shownIn)
      .filter(({ message: { markdown, question } }) => question && markdown.includes(`${chat}#`));
  await arena.sees(`${count} cards of ${chat}`, () => cards().length >= count);
  const room: Room = { chat, asked, cards: cards(), arena, random };
  await scene.prepare?.(room, arena);
  const notices = new Map<string, string | null>();
  const acts = approvers.map((user) => {
    const own = room.cards.find((card) => card.chat === `dm-${user}`) ?? room.cards.find((card) => card.chat === chat)!;
    const button = scene.button(own.message.question!.buttons.flat(), random);
    const process = random.below(arena.processes);
    const press: InboundEvent = {
      kind: 'decision',
      key: key(),
      chat: { id: own.chat, kind: own.chat === chat ? 'group' : 'direct' },
      ref: own.ref,
      sender: person(user),
      data: button.data,
      sentAt: arena.now(),
    };
    return async () => void notices.set(user, await arena.accept(process, press));
  });
  const besides = scene.besides?.(room) ?? [];
  // From the very beginning, or after the first answers.
  const after = random.below(3);
  const begun = Promise.withResolvers<void>();
  const begin = () => notices.size >= after && begun.resolve();
  begin();
  await Promise.all([...acts.map((act) => act().then(begin)), ...besides.map((act) => begun.promise.then(act))]);
  await arena.settled();
  const approvals = await arena.db.all<Outcome['approvals'][number]>(
    'select id, position, state, decided_by from approvals where chat = ? order by position',
    chat,
  );
  return { room, approvals, notices };
}

async function check(scene: Scene, { room, approvals, notices }: Outcome): Promise<void> {
  const { chat, arena } = room;
  const of = (text: string) => `${chat}: ${text}`;
  const { db } = arena;
  for (const { id, position, state } of approvals) {
    assert.notEqual(state, 'pending', of('decided'));
    const ran = arena.lines().filter((line) => line === `${chat}#${position}`).length;
    if (state !== 'approved') assert.equal(ran, 0, of(`${state}, so it did not run`));
    else if (scene.mayEnd) assert.ok(ran <= 1, of('ran once'));
    else assert.equal(ran, 1, of('ran once'));
    const audited = await db.all<{ action: string }>(
      `select action from audit where subject = ? and action <> 'approval.signed'`,
      id,
    );
    assert.deepEqual(audited, [{ action: `approval.${state}` }], of('one decision in the audit'));
  }
  for (const card of room.cards) {
    const ends = card.edits.filter(({ question }) => question?.buttons.length === 0);
    assert.equal(ends.length, 1, of(`the card in ${card.chat} is closed once`));
    assert.deepEqual(card.edits.at(-1)?.question?.buttons, [], of('and stays closed'));
  }
  const answers = arena.shownIn(chat).filter(({ message: { markdown } }) => markdown.includes(`Answer to [${chat}].`));
  if (scene.mayEnd) assert.ok(answers.length <= 1, of('at most one answer'));
  else assert.equal(answers.length, 1, of('one answer'));
  const runs = await db.all<{ state: string }>(
    `select state from runs where chat = ? and state not in ('completed', 'cancelled')`,
    chat,
  );
  assert.deepEqual(runs, [], of('every run came to its end'));
  // Whoever was late is told who or what was faster; whoever was not sees it on the card.
  for (const [user, notice] of notices)
    if (notice !== null) {
      const faster = approvals.filter(({ decided_by: by }) => by !== null && notice.includes(by));
      const isTold = faster.length > 0 || /expired|withdrawn|is noted/i.test(notice);
      assert.ok(isTold, of(`${user} was told: ${notice}`));
    }
  await scene.check?.({ room, approvals, notices });
}

const winners = ({ notices }: Outcome) => [...notices].filter(([, notice]) => notice === null).map(([user]) => user);

const scenes: Scene[] = [
  {
    name: 'single',
    tools: 'ask_line',
    button: decideOnly,
    // They wait in the lane while the run is parked, and are let in while it goes on.
    besides: ({ chat, arena, random }) =>
      ['x', 'y', 'z'].map((user) => {
        const said = message(chat, user, `[${chat}-${user}]`);
        const process = random.below(arena.processes);
        return () => arena.accept(process, said);
      }),
    check(outcome) {
      const { room, approvals, notices } = outcome;
      const [winner, ...more] = winners(outcome);
      assert.deepEqual(more, [], 'one wins');
      assert.equal(approvals[0]?.decided_by, words(winner!));
      for (const notice of notices.values()) assert.ok(notice === null || notice.includes(words(winner!)), `${notice}`);
      for (const card of room.cards) assert.equal(card.edits.length, 1, `the card in ${card.chat} changes once`);
      for (const user of ['x', 'y', 'z']) {
        const answers = room.arena
          .shownIn(room.chat)
          .filter(({ message: { markdown } }) => markdown.includes(`Answer to [${room.chat}-${user}].`));
        assert.ok(answers.length <= 1, 'a message beside it is answered once');
      }
    },
  },
  {
    name: 'dual',
    tools: 'dual_line',
    // One no ends it, so most say yes.
    button: (buttons, random) => one(random.below(20) === 0 ? /^Deny$/ : /^Approve$/)(buttons, random),
    async check(outcome) {
      const { room, approvals } = outcome;
      const [approval] = approvals;
      const signed = await room.arena.db.all<{ account: string }>(
        'select account from signatures where approval_id = ? order by signed_at, account',
        approval!.id,
      );
      const users = signed.map(({ account }) => account.replace('pipe:', ''));
      assert.equal(winners(outcome).length, 1, 'one closes it');
      if (approval?.state !== 'approved') return;
      assert.equal(users.filter((user) => approval.decided_by?.includes(`pipe:${user}`)).length, users.length);
      assert.ok(users.length >= 2 && users.some((user) => admins.includes(user)), `${users} signed`);
      // Only an admin was missing, however many signed before.
      assert.ok(users.length === 2 || users.filter((user) => admins.includes(user)).length === 1, `${users} signed`);
      for (const card of room.cards) assert.equal(card.edits.length, users.length, 'a change for each signature');
    },
  },
  {
    name: 'batch',
    tools: 'ask_line ask_line ask_line',
    button: one(/^(Approve all|Deny all|Deny 2)$/),
    check({ room, approvals }) {
      // Deny 2 first changes the card, then one of the others closes it.
      const deciders = new Set(approvals.map(({ decided_by: by }) => by));
      assert.ok(deciders.size <= 2, [...deciders].join());
      for (const card of room.cards) assert.equal(card.edits.length, deciders.size, 'a change for each decision');
    },
  },
  {
    name: 'expiry',
    tools: 'ask_line',
    button: decideOnly,
    mayEnd: true,
    async prepare({ chat, random }, arena) {
      // Far enough ahead for the stages of all processes to have seen it, and to wake at that very time.
      const at = arena.now() + 8_000;
      await arena.db.run('update approvals set expires_at = ? where chat = ?', at, chat);
      await arena.until(at - random.below(200));
    },
    check({ room }) {
      for (const card of room.cards) assert.equal(card.edits.length, 1, `the card in ${card.chat} changes once`);
    },
  },
  {
    name: 'stop',
    tools: 'ask_line',
    button: decideOnly,
    mayEnd: true,
    besides: ({ chat, asked, arena, random }) => {
      const stop = message(chat, asked.sender.id, '!stop');
      const process = random.below(arena.processes);
      return [() => arena.accept(process, stop)];
    },
  },
  {
    name: 'deletion',
    tools: 'ask_line',
    button: decideOnly,
    mayEnd: true,
    besides: ({ chat, asked, arena, random }) => {
      const { messageId } = asked;
      const deletion: InboundEvent = {
        kind: 'deletion',
        key: key(),
        chat: { id: chat, kind: 'group' },
        messageId,
        sentAt: arena.now(),
      };
      const process = random.below(arena.processes);
      return [() => arena.accept(process, deletion)];
    },
  },
  {
    name: 'edit',
    tools: 'ask_line',
    button: decideOnly,
    mayEnd: true,
    besides: ({ chat, asked, arena, random }) => {
      const { messageId, sender } = asked;
      const edit: InboundEvent = {
        kind: 'edit',
        key: key(),
        chat: { id: chat, kind: 'group' },
        messageId,
        sender,
        text: `[${chat}-edited]`,
        sentAt: arena.now(),
      };
      const process = random.below(arena.processes);
      return [() => arena.accept(process, edit)];
    },
  },
];

async function race(db: Db, url: string, folder: string, processes: number, tell: (text: string) => void) {
  const random = createRandom();
  tell(`GATEHOUSE_SEED=${random.seed}`);
  const arena = await openArena(db, url, folder, processes);
  try {
    answerAsTold(arena.model);
    await Promise.all(
      approvers.map((user) => arena.accept(random.below(processes), message(`dm-${user}`, user, `[hello-${user}]`))),
    );
    await arena.settled();
    for (const scene of scenes) {
      const rooms = Array.from({ length: roomsPerScene }, (_, index) => play(arena, scene, index, random));
      const outcomes = await Promise.all(rooms);
      await arena.settled();
      tell(
        `${scene.name}: ${outcomes.map(({ approvals }) => approvals.map(({ state }) => state).join('+')).join(', ')}`,
      );
      for (const outcome of outcomes) await check(scene, outcome);
    }
    assert.deepEqual(arena.errors, []);
  } catch (error) {
    tell(`errors in the log: ${arena.errors.join('')}`);
    throw error;
  } finally {
    await arena.close();
  }
}

const processesOn: Record<Dialect, number> = { sqlite: 1, postgres: 2 };

eachDatabase(
  'R48: of twenty at the same moment one decides, whatever else happens: one execution, cards change once',
  async (t, open, { url, folder, dialect }) => {
    const db = await open();
    await race(db, url, folder, processesOn[dialect], (text) => t.diagnostic(text));
    if (dialect === 'postgres') {
      const row = await db.get<{ deadlocks: number }>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      t.diagnostic(`${row?.deadlocks} deadlocks`);
    }
  },
  options,
);

eachDatabase(
  'R22: a parked run and a message that reach one lane from two processes: one goes first, nobody waits or fails',
  async (_t, open) => {
    const [db, other] = [await open(), await open()];
    const insert = `insert into conversations (id, key, open, binding, channel, chat, audience, created_at)
      values (?, ?, 1, 'rooms', 'pipe', 'room', 'group', 0)`;
    const run = (id: string, conversationId: string) => ({
      id,
      conversationId,
      agent: 'helper',
      agentVersion: 1,
      binding: 'rooms',
      place: { channel: 'pipe', chat: 'room' },
      replyTo: null,
      userId: 'u1',
      createdAt: 0,
    });
    for (const lane of ['one', 'two']) {
      await db.run(insert, lane, lane);
      await db.tx((q) => addRun(q, run(`parked-${lane}`, lane)));
    }
    await db.run(`update runs set state = 'awaiting_approval', resume_at = 1`);
    const dispatch = (lane: string) => other.tx((q) => addRun(q, run(`next-${lane}`, lane)));
    const resume = () => other.tx((q) => takeResumable(q, 10));
    await db.tx(async (q) => {
      assert.equal(await addRun(q, run('new', 'one')), true);
      assert.equal(await within(5_000, 'the resuming of the other lane', resume()), 1);
    });
    await db.run(`update runs set state = 'completed' where state = 'queued'`);
    await db.tx(async (q) => {
      assert.equal(await takeResumable(q, 10), 1);
      assert.equal(await within(5_000, 'the dispatch', dispatch('one')), false);
      assert.equal(await within(5_000, 'the dispatch', dispatch('two')), true);
    });
    const rows = await db.all(`select id, state from runs where state <> 'completed' order by id`);
    assert.deepEqual(rows, [
      { id: 'next-two', state: 'queued' },
      { id: 'parked-one', state: 'queued' },
    ]);
  },
  { only: 'postgres' },
);
