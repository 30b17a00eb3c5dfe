/** The database fails in the middle: people are told or wait, nothing is lost, and all goes on when the trouble ends. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { said } from '../end_to_end/world.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFastClock } from '../support/fast_clock.ts';
import { createGate } from '../support/gate.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type PagePerson, signIn } from '../support/page_person.ts';

const timeoutMs = 60_000;
const wait = { timeoutMs: 30_000 };
/** Backoffs, leases and sweeps pass that much faster. */
const speed = 20;

const clock = () => createFastClock({ since: Date.now(), speed });
const largeWords = (name: string) => `${name} ${'words '.repeat(8_000)}`;

/** A run that the trouble meets at work, and a person on each platform whom it meets writing. */
async function startTrouble(t: Parameters<typeof startTestGateway>[0], url?: string) {
  const time = clock();
  const world = await startTestGateway(t, {
    clock: time,
    telegram: { clock: time },
    ...(url ? { config: { storage: { url } } } : {}),
  });
  const { telegram, model } = world;
  const gate = createGate();
  model.respond(async (request) => {
    const last = request.messages.at(-1);
    if (last?.role === 'tool') return { text: 'Answer to at work' };
    if (last?.text !== 'at work') return { text: `Answer to ${last?.text.split(' ')[0]}` };
    await gate.opened;
    // Its step is too large for what room there may be left.
    return { calls: [{ name: 'store_set', input: { key: 'notes', value: 'x'.repeat(60_000) } }] };
  });
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  const working = telegram.user({ name: 'Bob' });
  const workingChat = telegram.privateChat(working);
  telegram.say(workingChat, working, 'at work');
  await model.request(1);
  const pat = await signIn(world.gateway.url, await world.gateway.signInLink('Pat'));
  return { ...world, world, alice, chat, workingChat, gate, pat };
}

async function goesOn(
  { telegram, world, chat, workingChat, pat }: Awaited<ReturnType<typeof startTrouble>>,
  words: string,
): Promise<void> {
  await telegram.waitForMessage(chat, `Answer to ${words}`, wait);
  await telegram.waitForMessage(workingChat, 'Answer to at work', wait);
  assert.deepEqual(await pat.seesAnswers(1), [`Answer to ${words}`]);
  await telegram.idle(wait);
  assert.deepEqual(said(telegram, chat), [`Answer to ${words}`]);
  assert.deepEqual(said(telegram, workingChat), ['Answer to at work']);
  assert.deepEqual(
    world.gateway.reports().map(({ state }) => state),
    ['up', 'up'],
  );
}

async function isRefused(pat: PagePerson, message: { id: string; text: string }): Promise<void> {
  const refused = await pat.post(message);
  assert.deepEqual(
    [refused.status, JSON.parse(refused.text)],
    [503, { error: 'The gateway cannot take messages right now. Yours is kept here and sent again.' }],
  );
}

const down = (world: TestGateway) => {
  const report = world.gateway.reports().find(({ name, state }) => name === 'tg' && state === 'down');
  return report?.reason;
};

eachDatabase(
  'a full disk in the middle: told, nothing lost, each answered once when there is space',
  async (t) => {
    const trouble = await startTrouble(t);
    const { telegram, model, gateway, world, alice, chat, pat, gate } = trouble;
    const { db } = gateway;
    const pages = await db.get<{ page_count: number }>('pragma page_count');
    await db.run(`pragma max_page_count = ${pages!.page_count}`);
    const told = (text: string) => pat.post({ id: 'message-0001', text });
    await isRefused(pat, { id: 'message-0001', text: largeWords('large') });
    telegram.say(chat, alice, largeWords('large').slice(0, 4_000));
    telegram.pushRaw({
      message: {
        message_id: 77,
        date: Math.floor(Date.now() / 1000),
        chat: telegram.privateChat(telegram.user({ name: 'Carol' })),
        from: alice,
        text: largeWords('huge'),
      },
    });
    await telegram.until('the channel to be down', () => down(world), wait);
    assert.match(
      down(world)!,
      /^messages cannot be stored \(The database .*gatehouse\.db cannot grow: the disk is full .*\); Telegram keeps them, trying again$/,
    );
    assert.ok(telegram.pending > 0, 'Telegram has not been told that they are here');
    gate.open();
    // The run could not write its step and was taken up again.
    await model.request(2, 30_000);
    await db.run('pragma max_page_count = 1000000');
    assert.equal((await told(largeWords('large'))).status, 202);
    await goesOn(trouble, 'large');
  },
  { only: 'sqlite', timeoutMs },
);

eachDatabase(
  'a database that becomes read-only in the middle: told, nothing lost, each answered once afterwards',
  async (t, _open, { url }) => {
    const trouble = await startTrouble(t, url);
    const { telegram, world, alice, chat, pat, gate } = trouble;
    await administer(url, ['alter system set default_transaction_read_only = on', 'select pg_reload_conf()']);
    await readOnlyIs(url, 'on');
    await isRefused(pat, { id: 'message-0001', text: 'hello' });
    telegram.say(chat, alice, 'hello');
    await telegram.until('the channel to be down', () => down(world), wait);
    assert.match(
      down(world)!,
      /^messages cannot be stored \(The database .* is not available \(cannot execute .* in a read-only transaction\)\.\); Telegram keeps them/,
    );
    assert.equal(telegram.pending, 1);
    gate.open();
    await logged(world, /a run could not be ended, it will be taken up again/);
    await administer(url, [
      'set default_transaction_read_only = off',
      'alter system reset default_transaction_read_only',
      'select pg_reload_conf()',
    ]);
    await readOnlyIs(url, 'off');
    assert.equal((await pat.post({ id: 'message-0001', text: 'hello' })).status, 202);
    await goesOn(trouble, 'hello');
    await world.stop();
  },
  { only: 'postgres', timeoutMs },
);

eachDatabase(
  'all connections to the database end in the middle: nothing lost, each answered once',
  async (t, _open, { url }) => {
    const trouble = await startTrouble(t, url);
    const { telegram, world, alice, chat, pat, gate } = trouble;
    const cut = () =>
      administer(url, [
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ]);
    await cut();
    telegram.say(chat, alice, 'hello');
    gate.open();
    await cut();
    const tries = [];
    while (tries.at(-1) !== 202 && tries.length < 10)
      tries.push((await pat.post({ id: 'message-0001', text: 'hello' })).status);
    assert.equal(tries.at(-1), 202, tries.join(' '));
    await goesOn(trouble, 'hello');
    await world.stop();
  },
  { only: 'postgres', timeoutMs },
);

/** A log line is no event, so it is looked for with every turn of the event loop. */
async function logged(world: TestGateway, text: RegExp): Promise<void> {
  const until = performance.now() + wait.timeoutMs;
  while (!text.test(world.log.text())) {
    assert.ok(performance.now() < until, `nothing like ${text} was logged: ${world.log.text().slice(-2_000)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function administer(url: string, statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** The server tells its processes one after another; a new one is told last. */
async function readOnlyIs(url: string, value: 'on' | 'off'): Promise<void> {
  for (;;) {
    const [row] = await administer(url, ['show default_transaction_read_only']);
    if (row?.default_transaction_read_only === value) return;
  }
}
