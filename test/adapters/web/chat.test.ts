import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DeliveryError } from '../../../src/base/errors.ts';
import { ask } from '../../support/ask.ts';
import { type Chat, openStream, place, type StreamedEvent, startChat } from './support.ts';

interface Page {
  cookie: string;
  post(path: string, body: unknown, headers?: Record<string, string>): ReturnType<typeof ask>;
  lines(after?: number): Promise<{ seq: number; key: string; who: string; text: string; at: number; html: string }[]>;
  events(query?: string, headers?: Record<string, string>): ReturnType<typeof openStream>;
}

async function openPage(t: TestContext, chat: Chat, userId = 'ada', name = 'Ada'): Promise<Page> {
  const cookie = await chat.signIn(userId, { name });
  const api = `${chat.url}/chat/api`;
  return {
    cookie,
    post: (path, body, headers = {}) =>
      ask(`${api}/${path}`, {
        method: 'POST',
        headers: { cookie, origin: chat.url, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    lines: async (after = 0) => JSON.parse((await ask(`${api}/messages?after=${after}`, { headers: { cookie } })).text),
    async events(query = '', headers = {}) {
      const stream = await openStream(`${api}/events${query}`, { cookie, ...headers });
      t.after(() => stream.close());
      return stream;
    },
  };
}

const id = (n: number) => `message-${String(n).padStart(4, '0')}`;
const texts = (lines: { text: string }[]) => lines.map(({ text }) => text);

test('a message becomes a line and an event with a key of its own', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const answer = await page.post('messages', { id: id(1), text: ' Hello\nthere ' });
  assert.equal(answer.status, 202);
  const [event] = chat.arrived;
  assert.ok(event);
  assert.equal(typeof event.sentAt, 'number');
  assert.deepEqual(
    { ...event, sentAt: 0 },
    {
      kind: 'message',
      key: 'm:ada:message-0001',
      chat: { id: 'ada', kind: 'direct' },
      messageId: 'u:message-0001',
      sender: { id: 'ada', name: 'Ada', kind: 'human', membership: 'full' },
      text: ' Hello\nthere ',
      mentionsBot: false,
      files: [],
      sentAt: 0,
    },
  );
  assert.deepEqual(texts(await page.lines()), [' Hello\nthere ']);
});

test('D1: a message sent again with its id is one line and one event, with the words it had first', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  for (const text of ['first', 'first', 'changed']) {
    assert.equal((await page.post('messages', { id: id(1), text })).status, 202);
  }
  await Promise.all(Array.from({ length: 10 }, () => page.post('messages', { id: id(2), text: 'second' })));
  assert.deepEqual(texts(await page.lines()), ['first', 'second']);
  assert.deepEqual(texts(chat.kept()), ['first', 'second']);
  assert.deepEqual(new Set(texts(chat.arrived)), new Set(['first', 'second']));
});

test('D1: what could not be stored is not acknowledged, and sent again it arrives once', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  chat.broken = true;
  const refused = await page.post('messages', { id: id(1), text: 'words' });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['retry-after'], '2');
  assert.doesNotMatch(refused.text, /disk full/);
  chat.broken = false;
  assert.equal((await page.post('messages', { id: id(1), text: 'words' })).status, 202);
  assert.deepEqual(texts(chat.arrived), ['words']);
  assert.deepEqual(texts(await page.lines()), ['words']);
});

test('R88: after stop no message is taken, answers still arrive', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  await chat.adapter.stop();
  assert.equal((await page.post('messages', { id: id(1), text: 'late' })).status, 503);
  assert.deepEqual(chat.arrived, []);
  await chat.answer('ada', 'out1', 'still here');
  assert.deepEqual(texts(await page.lines()), ['late', 'still here']);
});

test('D3: a repeated send with its outbox id is one line with one ref', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const refs = await Promise.all(Array.from({ length: 8 }, () => chat.answer('ada', 'out1', 'the answer')));
  refs.push(await chat.answer('ada', 'out1', 'the answer'));
  assert.equal(new Set(refs).size, 1);
  assert.deepEqual(texts(await page.lines()), ['the answer']);
});

test('an edit replaces the words where they stand', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const ref = await chat.answer('ada', 'out1', 'draft');
  await page.post('messages', { id: id(1), text: 'meanwhile' });
  const stream = await page.events();
  await stream.until(({ data }) => String(data.html).includes('meanwhile'));
  const edited = { id: 'out2', place: place('ada'), markdown: 'final' };
  await chat.adapter.edit?.(ref, edited, AbortSignal.timeout(5_000));
  await chat.adapter.edit?.(ref, edited, AbortSignal.timeout(5_000));
  const seen = await stream.until(({ name, data }) => name === 'line' && String(data.html).includes('final'));
  assert.match(String(seen.data.html), /data-key="out1"/);
  const html = (await ask(`${chat.url}/chat`, { headers: { cookie: page.cookie } })).text;
  assert.ok(html.indexOf('final') < html.indexOf('meanwhile'));
  assert.equal(html.includes('draft'), false);
});

test('an edit of a line that is gone is a failure for good', async (t) => {
  const chat = await startChat(t);
  const message = { id: 'out2', place: place('ada'), markdown: 'final' };
  await assert.rejects(
    async () => chat.adapter.edit?.('5:nothing', message, AbortSignal.timeout(5_000)),
    (error) => error instanceof DeliveryError && error.permanent && error.outcome === 'not_sent',
  );
});

test('D3: a page that comes back gets what it missed, once and in order', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const isLine = ({ name }: StreamedEvent) => name === 'line';
  const words = (event: StreamedEvent) => /<p>(.*?)<\/p>/.exec(String(event.data.html))?.[1];
  for (let n = 1; n <= 3; n++) await chat.answer('ada', `out${n}`, `line ${n}`);

  const first = await page.events();
  let last = await first.until((event) => words(event) === 'line 3');
  assert.equal(last.id, last.data.seq);
  first.close();
  for (let n = 4; n <= 130; n++) await chat.answer('ada', `out${n}`, `line ${n}`);

  // The address still holds the first position, as a browser's does.
  const second = await page.events('?after=0', { 'last-event-id': String(last.id) });
  last = await second.until((event) => words(event) === 'line 130');
  const missed = second.all.filter(isLine).map(words);
  assert.deepEqual(
    missed,
    Array.from({ length: 127 }, (_, n) => `line ${n + 4}`),
  );

  await chat.answer('ada', 'out131', 'line 131');
  await second.until((event) => words(event) === 'line 131');
  assert.equal(second.all.filter(isLine).length, 128);
});

test('R85: pieces and status are shown live, and the line comes before its preview goes', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const tabs = await Promise.all([page.events(), page.events()]);
  for (const tab of tabs) await tab.until(({ name }) => name === 'hello');
  await chat.adapter.setStatus?.(place('ada'), { text: 'reading' });
  for (const tab of tabs) await tab.until(({ name, data }) => name === 'status' && data.text === 'reading');
  assert.equal(await chat.adapter.preview?.(place('ada'), 'run1', 'Once **upon**'), true);
  for (const tab of tabs) {
    const live = await tab.until(({ name, data }) => name === 'live' && data.answerId === 'run1');
    assert.equal(live.id, null);
    assert.equal(typeof live.data.startedAt, 'number');
  }
  await chat.answer('ada', 'out1', 'Once upon a time', 'run1');
  for (const tab of tabs) {
    await tab.until(({ name, data }) => name === 'live' && data.answerId === null);
    const order = tab.all.filter(({ name, data }) => name === 'line' || (name === 'live' && data.answerId === null));
    assert.deepEqual(
      order.slice(-2).map(({ name }) => name),
      ['line', 'live'],
    );
    assert.match(String(order.at(-2)?.data.html), /data-answer="run1"/);
  }
});

test('a page that opens in the middle sees the answer so far', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  await chat.adapter.preview?.(place('ada'), 'run1', 'half an answer');
  const late = await page.events();
  const live = await late.until(({ name, data }) => name === 'live' && data.answerId !== null);
  assert.equal(live.data.html, '<p>half an answer</p>');
});

test('P1: nobody sees another account, neither lines nor pieces', async (t) => {
  const chat = await startChat(t);
  const ada = await openPage(t, chat, 'ada', 'Ada');
  const bob = await openPage(t, chat, 'bob', 'Bob');
  const stream = await bob.events();
  await ada.post('messages', { id: id(1), text: 'for ada only' });
  await chat.adapter.preview?.(place('ada'), 'run1', 'secret piece');
  await chat.answer('ada', 'out1', 'secret answer', 'run1');
  await chat.answer('bob', 'out2', 'for bob');
  await stream.until(({ name }) => name === 'line');
  const seen = JSON.stringify([
    stream.all,
    await bob.lines(),
    (await ask(`${chat.url}/chat`, { headers: { cookie: bob.cookie } })).text,
  ]);
  assert.match(seen, /for bob/);
  assert.doesNotMatch(seen, /secret|ada only/);
  // The same id of another account is another message.
  await bob.post('messages', { id: id(1), text: 'of bob' });
  assert.deepEqual(
    chat.kept().map(({ key, text }) => [key, text]),
    [
      ['m:ada:message-0001', 'for ada only'],
      ['m:bob:message-0001', 'of bob'],
    ],
  );
});

test('R18: stop, new and typed commands arrive as commands', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  assert.equal((await page.post('stop', { id: id(1) })).status, 202);
  assert.equal((await page.post('new', { id: id(2) })).status, 202);
  await page.post('messages', { id: id(3), text: '/memory forget x' });
  await page.post('messages', { id: id(4), text: '/usr/bin is a folder' });
  assert.deepEqual(
    chat.arrived.map(({ text, command }) => [text, command]),
    [
      ['/stop', { name: 'stop', args: '' }],
      ['/new', { name: 'new', args: '' }],
      ['/memory forget x', { name: 'memory', args: 'forget x' }],
      ['/usr/bin is a folder', undefined],
    ],
  );
});

test('bad requests say what is wrong and leave no line', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  const bad: [body: unknown, headers: Record<string, string>, status: number, words: RegExp][] = [
    [{ id: id(1), text: 'x'.repeat(64_001) }, {}, 413, /64,001 characters; 64,000 fit/],
    [{ id: id(1), text: ' \n ' }, {}, 400, /no words/],
    [{ id: id(1) }, {}, 400, /no words/],
    [{ id: id(1), text: 7 }, {}, 400, /no words/],
    [{ id: 'short', text: 'x' }, {}, 400, /8 to 64/],
    [{ id: '../../../etc', text: 'x' }, {}, 400, /8 to 64/],
    ['not json', {}, 400, /8 to 64/],
    ['null', {}, 400, /8 to 64/],
    [{ id: id(1), text: 'x' }, { 'content-type': 'text/plain' }, 415, /JSON/],
    [{ id: id(1), text: 'x' }, { origin: 'https://evil.example' }, 403, /page of this gateway/],
    [{ id: id(1), text: 'x'.repeat(1_100_000) }, {}, 413, /1 MiB/],
  ];
  for (const [body, headers, status, words] of bad) {
    const answer = await page.post('messages', body, headers);
    assert.equal(answer.status, status, `${JSON.stringify(body).slice(0, 60)}: ${answer.text}`);
    assert.match(answer.text, words);
  }
  assert.equal((await page.post('nothing', {})).status, 404);
  assert.deepEqual(await page.lines(), []);
  assert.equal((await page.post('messages', { id: id(1), text: 'x'.repeat(64_000) })).status, 202);
});

test('characters no database takes are replaced', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat);
  await page.post('messages', `{"id":"${id(1)}","text":"a\\u0000b\\ud800c"}`);
  assert.deepEqual(texts(chat.arrived), ['a\uFFFDb\uFFFDc']);
});

test('the page holds its latest lines in order, and the chosen theme', async (t) => {
  const chat = await startChat(t);
  const page = await openPage(t, chat, 'ada', '<b>Ada</b>');
  await page.post('messages', { id: id(1), text: 'question' });
  await chat.answer('ada', 'out1', 'answer');
  const open = async (cookie: string) => (await ask(`${chat.url}/chat`, { headers: { cookie } })).text;
  const html = await open(page.cookie);
  assert.ok(html.indexOf('question') < html.indexOf('<p>answer</p>'));
  assert.match(html, /<html lang="en">/);
  assert.match(html, /Sign out \(&lt;b&gt;Ada&lt;\/b&gt;\)/);
  assert.doesNotMatch(html, /<script>|style="|onclick/);
  assert.match(await open(`${page.cookie}; gatehouse_theme=dark`), /<html lang="en" data-theme="dark">/);
  assert.match(await open(`${page.cookie}; gatehouse_theme=x"y`), /<html lang="en">/);
});

test('files of the page are kept by the browser while they are unchanged', async (t) => {
  const chat = await startChat(t);
  const { cookie } = await openPage(t, chat);
  const url = `${chat.url}/chat/assets/chat.js`;
  const first = await ask(url, { headers: { cookie } });
  assert.equal(first.status, 200);
  assert.equal(first.headers['content-type'], 'text/javascript; charset=utf-8');
  const again = await ask(url, { headers: { cookie, 'if-none-match': String(first.headers.etag) } });
  assert.deepEqual([again.status, again.text], [304, '']);
  for (const name of ['nothing.js', '..%2fadapter.ts', '']) {
    assert.equal((await ask(`${chat.url}/chat/assets/${name}`, { headers: { cookie } })).status, 404, name);
  }
});
