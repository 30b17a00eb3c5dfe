/** Buttons of questions over HTTP: what the page is given and what a press becomes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Button } from '../../../src/types/message.ts';
import { ask } from '../../support/ask.ts';
import { type Chat, startChat } from './support.ts';

const timeout = 20_000;

const approve: Button = { data: 'c1.0.a', label: 'Approve', style: 'approve' };
const deny: Button = { data: 'c1.0.d', label: 'Deny', style: 'deny' };

async function visitor(chat: Chat, userId: string) {
  const cookie = await chat.signIn(userId);
  const press = async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await ask(`${chat.url}/chat/api/presses`, {
      method: 'POST',
      headers: { origin: chat.url, cookie, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
  };
  const lines = async () => {
    const answer = await ask(`${chat.url}/chat/api/messages`, { headers: { cookie } });
    return JSON.parse(answer.text) as { html: string; text: string; seq: number }[];
  };
  return { press, lines };
}

test('a question shows its words and its buttons, escaped, and none when it is closed', { timeout }, async (t) => {
  const chat = await startChat(t);
  const ada = await visitor(chat, 'ada');
  const ref = await chat.ask('ada', 'out1', 'Run **it**?', [
    [approve, { ...deny, label: 'Deny "<b>"' }],
    [{ data: 'c1.0.x', label: 'Details', style: 'plain' }],
  ]);
  const [line] = await ada.lines();
  assert.match(line?.html ?? '', /<div class="prose"><p>Run <strong>it<\/strong>\?<\/p><\/div>/);
  const choices = line?.html.slice(line.html.indexOf('<div class="choices"'), line.html.indexOf('<footer>'));
  assert.equal(
    choices,
    `<div class="choices" role="group" aria-label="Your decision" data-ref="${ref}">` +
      '<div class="row"><button type="button" class="choice approve" data-press="c1.0.a">Approve</button>' +
      '<button type="button" class="choice deny" data-press="c1.0.d">Deny &quot;&lt;b&gt;&quot;</button></div>' +
      '<div class="row"><button type="button" class="choice plain" data-press="c1.0.x">Details</button></div></div>',
  );

  await chat.change('ada', ref, 'approved by Ada');
  const [closed, ...more] = await ada.lines();
  assert.equal(more.length, 0);
  assert.equal(closed?.text, 'approved by Ada');
  assert.doesNotMatch(closed?.html ?? '', /choice/);
});

test('R44: a sent message tells when its line was written', { timeout }, async (t) => {
  const chat = await startChat(t);
  const sent = () =>
    chat.adapter.send(
      { id: 'out1', place: { channel: 'web', chat: 'ada' }, markdown: 'x' },
      AbortSignal.timeout(5_000),
    );
  const before = Date.now();
  const first = await sent();
  const after = Date.now();
  assert.ok(first.sentAt !== undefined && first.sentAt >= before && first.sentAt <= after, `${first.sentAt}`);
  assert.deepEqual(await sent(), first);
});

test('R46: a press becomes a decision of the account that is signed in, and its notice comes back', {
  timeout,
}, async (t) => {
  const chat = await startChat(t);
  const [ada, bob] = [await visitor(chat, 'ada'), await visitor(chat, 'bob')];
  const ref = await chat.ask('ada', 'out1', 'Run it?', [[approve, deny]]);
  chat.receipt = Promise.resolve({ notice: 'Approved.' });
  const before = Date.now();
  assert.deepEqual(await ada.press({ id: 'press-0001', ref, data: 'c1.0.a' }), {
    status: 200,
    body: { notice: 'Approved.' },
  });
  const [{ sentAt, ...decision }] = chat.presses as [(typeof chat.presses)[0]];
  assert.ok(sentAt >= before && sentAt <= Date.now());
  assert.deepEqual(decision, {
    kind: 'decision',
    key: 'press:ada:press-0001',
    chat: { id: 'ada', kind: 'direct' },
    ref,
    sender: { id: 'ada', name: 'ada', kind: 'human', membership: 'full' },
    data: 'c1.0.a',
  });

  chat.receipt = Promise.resolve(undefined);
  const forged = { id: 'press-0001', ref, data: 'c1.0.a', chat: 'ada', account: 'ada', sender: { id: 'ada' } };
  assert.deepEqual(await bob.press(forged), { status: 200, body: { notice: null } });
  const last = chat.presses.at(-1);
  assert.deepEqual([last?.key, last?.chat.id, last?.sender.id], ['press:bob:press-0001', 'bob', 'bob']);
});

test('a press that cannot be stored says so; the same id is the same press', { timeout }, async (t) => {
  const chat = await startChat(t);
  const ada = await visitor(chat, 'ada');
  const body = { id: 'press-0001', ref: '1:out1', data: 'c1.0.a' };
  chat.broken = true;
  assert.deepEqual(await ada.press(body), {
    status: 503,
    body: { error: 'The gateway cannot take decisions right now. Nothing is decided; press again.' },
  });
  chat.broken = false;
  await ada.press(body);
  await ada.press(body);
  assert.deepEqual(
    chat.presses.map(({ key }) => key),
    ['press:ada:press-0001', 'press:ada:press-0001'],
  );
});

test('R93: presses from other sites, without a session or of another shape are refused', { timeout }, async (t) => {
  const chat = await startChat(t);
  const ada = await visitor(chat, 'ada');
  const good = { id: 'press-0001', ref: '1:out1', data: 'c1.0.a' };
  const wrong: unknown[] = [
    '{',
    'null',
    '[]',
    { ...good, id: 'short' },
    { ...good, id: 7 },
    { ...good, ref: 'out1' },
    { ...good, ref: `1:${'x'.repeat(200)}` },
    { ...good, ref: '1:a\0' },
    { ...good, data: '' },
    { ...good, data: 'x'.repeat(65) },
    { ...good, data: 'ü'.repeat(33) },
    { ...good, data: '\ud800' },
    { ...good, data: 7 },
  ];
  for (const body of wrong) assert.equal((await ada.press(body)).status, 400, JSON.stringify(body));
  assert.equal((await ada.press(good, { 'content-type': 'text/plain' })).status, 415);
  const stranger = await ask(`${chat.url}/chat/api/presses`, {
    method: 'POST',
    headers: { origin: chat.url, 'content-type': 'application/json' },
    body: JSON.stringify(good),
  });
  assert.equal(stranger.status, 401);
  const foreign = await ask(`${chat.url}/chat/api/presses`, {
    method: 'POST',
    headers: { origin: 'https://evil.example', cookie: await chat.signIn('ada'), 'content-type': 'application/json' },
    body: JSON.stringify(good),
  });
  assert.equal(foreign.status, 403);
  assert.deepEqual(chat.presses, []);
  assert.equal((await ada.press({ ...good, data: 'ü'.repeat(32) })).status, 200);
});
