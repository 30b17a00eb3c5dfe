/** What comes from outside can be anything: it gets a clear answer, and the next person gets theirs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachDatabase } from '../support/databases.ts';
import { freePort } from '../support/free_port.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { signIn } from '../support/page_person.ts';
import { hostileUpdates } from './hostile_updates.ts';

const bounded = { timeout: 60_000 };
const wait = { timeoutMs: 30_000 };
const tenMegabytes = 10 * 1024 * 1024;

/** Somebody new writes and is answered. */
async function isAnswered({ telegram }: TestGateway, text = 'are you there?'): Promise<void> {
  const person = telegram.user({ name: 'Zoe' });
  const chat = telegram.privateChat(person);
  telegram.say(chat, person, text);
  await telegram.waitForMessage(chat, `You said: ${text}`, wait);
}

/** Lines that tell of a bug rather than of bad input. */
const complaints = (world: TestGateway) =>
  world.log.lines
    .filter(({ level }) => level === 'error')
    .filter(({ msg }) => !/message could not be delivered|channel has failed/.test(String(msg)));

const page = async ({ gateway }: TestGateway) => signIn(gateway.url, await gateway.signInLink('Pat'));

eachDatabase(
  'every recorded update with each of its parts made wrong stops nothing',
  async (t, _open, database) => {
    const world = await startTestGateway(t, { config: { storage: { url: database.url } } });
    const updates = hostileUpdates();
    assert.ok(updates.length > 1_500, `${updates.length} updates`);
    for (const update of updates) world.telegram.pushRaw(update);
    await world.telegram.until('all are taken', () => world.telegram.pending === 0, wait);
    await isAnswered(world);
    assert.deepEqual(complaints(world), []);
    assert.deepEqual(
      world.gateway.reports().map(({ name, state }) => [name, state]),
      [
        ['tg', 'up'],
        ['page', 'up'],
      ],
    );
    await world.stop();
  },
  { timeoutMs: 60_000 },
);

test('unknown kinds of updates are passed over', bounded, async (t) => {
  const world = await startTestGateway(t);
  const person = world.telegram.user();
  const chat = world.telegram.privateChat(person);
  for (const kind of ['channel_post', 'business_message', 'poll_answer', 'an_update_of_the_future', 'constructor'])
    world.telegram.pushRaw({ [kind]: { message_id: 1, date: 1, chat, from: person, text: 'hello' } });
  await isAnswered(world);
  assert.equal(world.model.requests.length, 1);
  assert.deepEqual(complaints(world), []);
});

test('ten megabytes on Telegram are refused in words, and the next message is answered', bounded, async (t) => {
  const world = await startTestGateway(t);
  const person = world.telegram.user();
  const chat = world.telegram.privateChat(person);
  for (let number = 1; number <= 3; number++)
    world.telegram.pushRaw({
      message: {
        message_id: number,
        date: Math.floor(Date.now() / 1000),
        chat,
        from: person,
        text: 'x'.repeat(tenMegabytes),
      },
    });
  await world.telegram.waitForMessage(
    chat,
    'That message has 10485760 characters; I can take 64000. Please send it in parts.',
    wait,
  );
  await isAnswered(world);
  assert.equal(world.model.requests.length, 1);
  assert.deepEqual(complaints(world), []);
});

test('the page: what is too large, no JSON, no words or no id is told', bounded, async (t) => {
  const world = await startTestGateway(t);
  const person = await page(world);
  const id = 'message-0001';
  const refusals: [string | Buffer, number, string][] = [
    [JSON.stringify({ id, text: 'x'.repeat(tenMegabytes) }), 413, 'The request is larger than 1 MiB.'],
    [
      JSON.stringify({ id, text: 'x'.repeat(64_001) }),
      413,
      'The message has 64,001 characters; 64,000 fit. Send it in parts.',
    ],
    ['[', 400, '"id" must be 8 to 64 letters, digits, - or _, new for each message.'],
    ['['.repeat(500_000), 400, '"id" must be 8 to 64 letters, digits, - or _, new for each message.'],
    [Buffer.from([0xff, 0xfe, 0x00, 0x7b]), 400, '"id" must be 8 to 64 letters, digits, - or _, new for each message.'],
    [
      '{"__proto__": {"id": "message-0001"}}',
      400,
      '"id" must be 8 to 64 letters, digits, - or _, new for each message.',
    ],
    [JSON.stringify({ id: 7, text: 'x' }), 400, '"id" must be 8 to 64 letters, digits, - or _, new for each message.'],
    [JSON.stringify({ id }), 400, 'The message has no words.'],
    [JSON.stringify({ id, text: ' \n\t' }), 400, 'The message has no words.'],
    [JSON.stringify({ id, text: { deep: 1 } }), 400, 'The message has no words.'],
  ];
  for (const [body, status, error] of refusals) {
    const answer = await person.send(body);
    assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, { error }], String(body).slice(0, 60));
  }
  const notJson = await person.send('id=1', { 'content-type': 'application/x-www-form-urlencoded' });
  assert.deepEqual(
    [notJson.status, JSON.parse(notJson.text)],
    [415, { error: 'Send JSON: {"id": "…", "text": "…"}.' }],
  );
  assert.equal((await person.post({ id, text: 'hello' })).status, 202);
  assert.deepEqual(await person.seesAnswers(1), ['You said: hello']);
  assert.deepEqual(complaints(world), []);
});

eachDatabase('bytes that are no text arrive as something that can be stored and shown', async (t, _open, database) => {
  const world = await startTestGateway(t, { config: { storage: { url: database.url } } });
  const person = await page(world);
  const bytes = Buffer.from('{"id": "message-0001", "text": "a\xff\xfeb \\ud800 \\u0000 c"}', 'latin1');
  assert.equal((await person.send(bytes)).status, 202);
  assert.deepEqual(await person.seesAnswers(1), ['You said: a��b � � c']);

  const { telegram } = world;
  const user = telegram.user();
  const chat = telegram.privateChat(user);
  const from = { ...user, first_name: '\ud83d\0', last_name: '\u202e\u0007', language_code: 'e\0n' };
  telegram.pushRaw({
    message: { message_id: 9, date: Math.floor(Date.now() / 1000), chat, from, text: 'a \ud800 b \0 c' },
  });
  await telegram.waitForMessage(chat, 'You said: a � b � c', wait);
  assert.deepEqual(complaints(world), []);
  await world.stop();
});

test('the webhook: any body is answered, and only what is stored with 200', bounded, async (t) => {
  const port = await freePort();
  const secret = 'secret-of-the-webhook';
  const url = `http://127.0.0.1:${port}`;
  const world = await startTestGateway(t, {
    config: { gateway: { listen: `127.0.0.1:${port}`, public_url: url } },
  });
  await world.restart({
    channels: {
      tg: {
        type: 'telegram',
        token: world.telegram.token,
        api_url: world.telegram.url,
        mode: 'webhook',
        webhook_secret: secret,
      },
    },
  });
  await world.telegram.call('setWebhook');
  await isAnswered(world);
  const person = world.telegram.user();
  const chat = world.telegram.privateChat(person);
  const message = { message_id: 5, date: Math.floor(Date.now() / 1000), chat, from: person, text: 'hello' };
  const post = async (body: string | Buffer, shown: string | null = secret) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (shown !== null) headers['x-telegram-bot-api-secret-token'] = shown;
    const answer = await fetch(`${url}/telegram/tg`, { method: 'POST', body: body as string, headers });
    return answer.status;
  };
  const whole = JSON.stringify({ update_id: 1, message });
  assert.equal(await post(whole, null), 401);
  assert.equal(await post(whole, 'another'), 403);
  assert.equal(await post(''), 400);
  assert.equal(await post(whole.slice(0, 40)), 400);
  assert.equal(await post(`{"update_id": 1, "message": ${'['.repeat(500_000)}`), 400);
  assert.equal(await post(`{"update_id": 1, "message": ${'['.repeat(400_000)}${']'.repeat(400_000)}}`), 200);
  assert.equal(
    await post(JSON.stringify({ update_id: 1, message: { ...message, text: 'x'.repeat(tenMegabytes) } })),
    413,
  );
  assert.equal(await post('null'), 200);
  assert.equal(await post('[]'), 200);
  assert.equal(await post(Buffer.from(whole.replace('hello', 'h\xffllo'), 'latin1')), 200);
  await world.telegram.waitForMessage(chat, 'You said: h�llo', wait);
  assert.equal(world.model.requests.length, 2);
  assert.deepEqual(complaints(world), []);
});
