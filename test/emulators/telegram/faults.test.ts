/** Faults, hooks at both sides of the commit, rate limits, and what the record says of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Api, GrammyError } from 'grammy';
import { createFakeClock } from '../../support/fake_clock.ts';
import { type EmulatorOptions, type FaultKind, startTelegramEmulator } from './index.ts';

async function start(options: EmulatorOptions = {}) {
  const emulator = await startTelegramEmulator(options);
  const api = new Api(emulator.token, { apiRoot: emulator.url });
  const alice = emulator.user({ name: 'Alice' });
  const chat = emulator.privateChat(alice);
  const texts = () => emulator.visible(chat, { fromBot: true }).map(({ text }) => text);
  return { emulator, api, alice, chat, texts };
}

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: Error) => (error instanceof GrammyError ? `${error.error_code} ${error.description}` : error.name),
  );

const kinds: [FaultKind, boolean, string | null][] = [
  [{ do: 'close_before' }, false, null],
  [{ do: 'close_after' }, true, null],
  [{ do: 'status_before', status: 503 }, false, '503'],
  [{ do: 'status_after' }, true, '502'],
  [{ do: 'flood', retryAfter: 7 }, false, '429'],
  [{ do: 'error', code: 400, description: "Bad Request: can't parse entities: x" }, false, '400'],
];
for (const [kind, committed, status] of kinds) {
  test(`${kind.do}: the message is ${committed ? '' : 'not '}there`, async (t) => {
    const { emulator, chat, texts } = await start();
    t.after(emulator.close);
    const fault = emulator.fault({ method: 'sendMessage', ...kind });
    const send = async () => {
      const url = `${emulator.url}/bot${emulator.token}/sendMessage?chat_id=${chat.id}&text=x`;
      return await fetch(url).then(
        (response) => String(response.status),
        () => null,
      );
    };
    assert.equal(await send(), status);
    assert.equal(fault.hits, 1);
    assert.deepEqual(texts(), committed ? ['x'] : []);
    const [call] = emulator.calls;
    assert.deepEqual([call?.fault, call?.committed], [kind.do, committed]);
    assert.equal(await send(), '200');
  });
}

test('hang: no answer comes; hang_after has sent the message', async (t) => {
  const { emulator, api, chat, texts } = await start();
  t.after(emulator.close);
  for (const kind of ['hang_before', 'hang_after'] as const) {
    emulator.fault({ method: 'sendMessage', do: kind });
    const stop = new AbortController();
    const call = outcome(api.sendMessage(chat.id, kind, {}, stop.signal as never));
    const seen = await emulator.call((entry) => entry.fault === kind);
    assert.equal(seen.committed, kind === 'hang_after');
    stop.abort();
    assert.equal(await call, 'HttpError');
  }
  assert.deepEqual(texts(), ['hang_after']);
});

test('a fault hits the nth call, a number of times, in a chat', async (t) => {
  const { emulator, api, alice, chat, texts } = await start();
  t.after(emulator.close);
  emulator.fault({ method: 'sendMessage', chat: chat.id, nth: 2, times: 2, do: 'error', code: 500, description: 'no' });
  const bob = emulator.privateChat(emulator.user());
  await api.sendMessage(bob.id, 'elsewhere');
  const results: string[] = [];
  for (const text of ['1', '2', '3', '4']) results.push(await outcome(api.sendMessage(chat.id, text)));
  assert.deepEqual(results, ['ok', '500 no', '500 no', 'ok']);
  assert.deepEqual(texts(), ['1', '4']);
  const removed = emulator.fault({ method: '*', do: 'flood', retryAfter: 1, times: Number.POSITIVE_INFINITY });
  assert.equal(await outcome(api.getChat(alice.id)), '429 Too Many Requests: retry after 1');
  removed.remove();
  assert.equal(await outcome(api.getChat(alice.id)), 'ok');
});

test('hooks see a call before and after its commit, and may drop it', async (t) => {
  const { emulator, api, chat, texts } = await start();
  t.after(emulator.close);
  const seen: string[] = [];
  const off = [
    emulator.before('sendMessage', (call) => {
      seen.push(`before ${call.committed} ${texts().length}`);
      return call.args.text === 'drop' ? 'drop' : undefined;
    }),
    emulator.after('sendMessage', (call) => {
      seen.push(`after ${call.committed} ${texts().length} ${call.answeredAt}`);
    }),
  ];
  await api.sendMessage(chat.id, 'x');
  assert.deepEqual(seen, ['before false 0', 'after true 1 undefined']);
  assert.equal(await outcome(api.sendMessage(chat.id, 'drop')), 'HttpError');
  assert.deepEqual(texts(), ['x']);
  for (const remove of off) remove();
  await api.sendMessage(chat.id, 'y');
  assert.equal(seen.length, 3);
});

test('a client killed between commit and answer has sent its message', async (t) => {
  const { emulator, chat, texts } = await start();
  t.after(emulator.close);
  const url = `${emulator.url}/bot${emulator.token}/sendMessage?chat_id=${chat.id}&text=last`;
  const child = spawn(process.execPath, ['-e', `fetch(${JSON.stringify(url)})`]);
  const gone = once(child, 'exit');
  emulator.after('sendMessage', async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const [code, signal] = await gone;
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
  assert.deepEqual(texts(), ['last']);
  await emulator.idle();
});

test('429 carries retry_after in the body and as a header', async (t) => {
  const { emulator, chat } = await start();
  t.after(emulator.close);
  emulator.flood(chat, 7);
  const response = await fetch(`${emulator.url}/bot${emulator.token}/sendMessage?chat_id=${chat.id}&text=x`);
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('retry-after'), '7');
  assert.deepEqual(await response.json(), {
    ok: false,
    error_code: 429,
    description: 'Too Many Requests: retry after 7',
    parameters: { retry_after: 7 },
  });
});

test('a flood lasts as long as it said, for one chat or for all; reading is free', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, alice, chat } = await start({ clock });
  t.after(emulator.close);
  const bob = emulator.privateChat(emulator.user());
  emulator.flood(chat, 150);
  await clock.advance(149_000);
  assert.equal(await outcome(api.sendMessage(chat.id, 'x')), '429 Too Many Requests: retry after 1');
  assert.equal(await outcome(api.sendMessage(bob.id, 'x')), 'ok');
  assert.equal(await outcome(api.getChat(alice.id)), 'ok');
  await clock.advance(1_000);
  assert.equal(await outcome(api.sendMessage(chat.id, 'x')), 'ok');
  assert.deepEqual(emulator.flooded, { refused: 1, ignored: 1 });
  emulator.flood('all', 1);
  assert.equal(await outcome(api.sendMessage(bob.id, 'x')), '429 Too Many Requests: retry after 1');
});

test('rate: a short burst, then one a second in a chat, edits included', async (t) => {
  const clock = createFakeClock();
  const { emulator, api, chat } = await start({ clock, limits: 'enforce' });
  t.after(emulator.close);
  const first = await api.sendMessage(chat.id, '1');
  await api.editMessageText(chat.id, first.message_id, '2');
  await api.editMessageText(chat.id, first.message_id, '3');
  const refusal = '429 Too Many Requests: retry after 1';
  assert.equal(await outcome(api.editMessageText(chat.id, first.message_id, '4')), refusal);
  assert.equal(await outcome(api.sendChatAction(chat.id, 'typing')), refusal);
  await clock.advance(1_000);
  assert.equal(await outcome(api.editMessageText(chat.id, first.message_id, '4')), 'ok');
  assert.equal(await outcome(api.sendMessage(chat.id, '5')), refusal);
  assert.deepEqual(emulator.flooded, { refused: 3, ignored: 1 });
});

test('rate: 20 a minute in a group', async (t) => {
  const clock = createFakeClock();
  const { emulator, api } = await start({ clock, limits: 'enforce' });
  t.after(emulator.close);
  const group = emulator.group();
  for (let each = 0; each < 20; each += 1) {
    await api.sendMessage(group.id, `${each}`);
    await clock.advance(1_000);
  }
  assert.equal(await outcome(api.sendMessage(group.id, 'x')), '429 Too Many Requests: retry after 40');
  await clock.advance(40_000);
  assert.equal(await outcome(api.sendMessage(group.id, 'x')), 'ok');
});

test('rate: 30 a second over all chats', async (t) => {
  const clock = createFakeClock();
  const { emulator, api } = await start({ clock, limits: 'enforce' });
  t.after(emulator.close);
  const chats = Array.from({ length: 31 }, () => emulator.privateChat(emulator.user()));
  const results: string[] = [];
  for (const chat of chats) results.push(await outcome(api.sendMessage(chat.id, 'x')));
  assert.deepEqual(results.slice(28), ['ok', 'ok', '429 Too Many Requests: retry after 1']);
});

test('the record has every call in order with arguments, result and times', async (t) => {
  const clock = createFakeClock(5_000);
  const { emulator, api, chat } = await start({ clock });
  t.after(emulator.close);
  const waiting = emulator.call('editMessageText');
  const sent = await api.sendMessage(chat.id, 'x');
  await outcome(api.editMessageText(chat.id, 99, 'y'));
  const edit = await waiting;
  assert.equal(edit.error, 'Bad Request: message to edit not found');
  assert.deepEqual(
    emulator.calls.map(({ id, method, at, answeredAt, status, committed }) => [
      id,
      method,
      at,
      answeredAt,
      status,
      committed,
    ]),
    [
      [1, 'sendMessage', 5_000, 5_000, 200, true],
      [2, 'editMessageText', 5_000, 5_000, 400, false],
    ],
  );
  assert.deepEqual(emulator.calls[0]?.args, { chat_id: chat.id, text: 'x' });
  assert.deepEqual(emulator.calls[0]?.result, sent);
  await assert.rejects(
    emulator.call('sendPhoto', { timeoutMs: 20 }),
    /an answered sendPhoto did not happen in time\. Calls: sendMessage 200, editMessageText 400\./,
  );
});

test("record: 'counts' keeps numbers and the last messages only", async (t) => {
  const { emulator, api, alice, chat } = await start({ record: 'counts' });
  t.after(emulator.close);
  for (let each = 0; each < 150; each += 1) await api.sendMessage(chat.id, `${each}`);
  emulator.say(chat, alice, 'hello');
  assert.equal(emulator.counts.get('sendMessage'), 150);
  assert.deepEqual([emulator.calls.length, emulator.updates.length, emulator.messages(chat).length], [0, 0, 100]);
});
