/** The chat page for the contract suite: people on it speak to the adapter's own API, its lines are in the real store. */
import { adapter as plugin } from '../../adapters/web/index.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Db } from '../../src/store/db.ts';
import type { Adapter, Journal } from '../../src/types/adapter.ts';
import type { Driver, Platform, Pressed, Said, Seen, Spot } from './driver.ts';

const retryMs = 2_000;
const alone = 'the page has one direct chat for each person and no groups';
const noPlatform = 'there is no platform behind the page: its lines are in our own store';

export const webDriver: Driver = {
  plugin,
  cannot: {
    'R1, R3: an edit has a key of its own and the new words': 'people cannot edit a line of the page',
    'R4: a deleted message is told': 'people cannot delete a line of the page',
    'D5: our own words are marked as ours, those of another bot as a bot’s':
      'only people who are signed in can write on the page',
    'R10: in a group a mention of the bot is told, and what follows it': alone,
    'R10: a reply to the bot is told from a reply to a person': 'the page has no replies: its lines stand in one order',
    'R19: a message in a thread names the thread': alone,
    'a forwarded message says so': 'the page has nothing to forward from',
    'R82: a file is announced and can be fetched': 'the page takes no files yet',
    'R82: a file over the limit is refused before it is fetched': 'the page takes no files yet',
    'R37, R84: words ping nobody': 'the page notifies nobody',
    'R21: a message for a thread stands in the thread and nowhere else': alone,
    'R46: a press in a thread names the thread': alone,
    'an answer names the message it answers, and goes out without it': 'the page has no replies',
    'a reaction is put and taken back': 'the page has no reactions',
    'a send that could not reach the platform is certainly not sent': noPlatform,
    'D4: a platform that asks to wait says how long, and other chats go on': noPlatform,
    'a chat where the bot may not write is refused for good': noPlatform,
    'R8: a platform that is down at the start is told, and taken up when it comes': noPlatform,
    'R8: after a cut connection nothing is missing': noPlatform,
    'R8: a configuration that cannot work is told once, with what to do': 'the page has nothing to configure',
  },
  open: async (clock, db) => createPlatform(clock, db),
};

function createPlatform(clock: Clock, db: Db): Platform {
  let adapter: Adapter;
  let journal: Journal;
  const names = new Map<string, string>();
  /** Posts of a page go out one after another. */
  const posting = new Map<string, Promise<void>>();
  const posted = new Map<string, { id: string; person: string; text: string }>();
  const closing = new AbortController();
  let serial = 0;
  let onAppend: (() => Promise<void>) | null = null;

  function ask(person: string, method: string, path: string, body?: string): Promise<Response> {
    const request = new Request(`http://gateway/chat${path}`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });
    const session = { account: person, name: names.get(person)! };
    return adapter.http!({ request, path: path.split('?')[0]!, session });
  }

  /** As the page does it: again until it is taken. */
  async function post(person: string, body: object): Promise<void> {
    for (;;) {
      const answer = await ask(person, 'POST', '/api/messages', JSON.stringify(body));
      if (answer.status === 202) return;
      if (answer.status !== 503) throw new Error(`the page was answered ${answer.status}`);
      await clock.sleep(retryMs, closing.signal);
    }
  }

  function say(spot: Spot, person: string, text: string): Said {
    const id = `message-${++serial}`;
    let isAcknowledged = false;
    const before = posting.get(person) ?? Promise.resolve();
    const acknowledged = before.then(() => post(person, { id, text }));
    const done = acknowledged.then(() => {
      isAcknowledged = true;
    });
    done.catch(() => {});
    posting.set(person, done);
    posted.set(`u:${id}`, { id, person, text });
    return { spot, messageId: `u:${id}`, isAcknowledged: () => isAcknowledged, acknowledged: () => done };
  }

  const lineWith = async (chat: string, ref: string) => {
    const lines = (await (await ask(chat, 'GET', '/api/messages')).json()) as { html: string }[];
    return lines.map(({ html }) => html).find((html) => html.includes(`data-key="${ref.slice(ref.indexOf(':') + 1)}"`));
  };
  const buttonsOf = (html = '') =>
    [...html.matchAll(/<button [^>]*data-press="([^"]*)">(.*?)<\/button>/g)].map(([, data, label]) => ({
      data: unescaped(data!),
      label: unescaped(label!),
    }));

  /** As the page does it: what stands on the line, again until it is taken. */
  function press(spot: Spot, person: string, ref: string, label: string): Pressed {
    const id = `press-${++serial}-of-this-test`;
    const body = lineWith(spot.chat, ref).then((html) => {
      const button = buttonsOf(html).find((one) => one.label === label);
      if (!html || !button) throw new Error(`there is no button "${label}"`);
      return JSON.stringify({ id, ref: unescaped(/data-ref="([^"]*)"/.exec(html)![1]!), data: button.data });
    });
    const once = async (): Promise<string | null> => {
      for (;;) {
        const answer = await ask(person, 'POST', '/api/presses', await body);
        if (answer.status === 200) return ((await answer.json()) as { notice: string | null }).notice;
        if (answer.status !== 503) throw new Error(`the press was answered ${answer.status}`);
        await clock.sleep(retryMs, closing.signal);
      }
    };
    const told = once();
    told.catch(() => {});
    return { told: () => told, again: () => void once().catch(() => {}) };
  }

  /** Reads the event stream of a newly opened page until it shows what is wanted. */
  async function shows(spot: Spot, name: string, wanted: (data: { text?: string; html?: string }) => boolean) {
    const after = await journal.read(spot.chat, { latest: true, limit: 1 });
    const response = await ask(spot.chat, 'GET', `/api/events?after=${after[0]?.seq ?? 0}`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    try {
      for (let text = ''; ; ) {
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream of the page ended');
        const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
        text = events.pop()!;
        for (const event of events) {
          const [, kind, data] = /event: (\w+)\ndata: (.*)/.exec(event) ?? [];
          if (kind === name && wanted(JSON.parse(data!))) return;
        }
      }
    } finally {
      await reader.cancel();
    }
  }

  return {
    config: {},
    publicUrl: null,
    secrets: ['a secret the page does not have'],
    attach: (next) => {
      adapter = next;
    },
    wrap(context) {
      journal = context.journal;
      const append: Journal['append'] = async (chat, key, body) => {
        const line = await journal.append(chat, key, body);
        const trouble = onAppend;
        onAppend = null;
        await trouble?.();
        return line;
      };
      return { ...context, journal: { ...journal, append } };
    },
    async close() {
      closing.abort(new Error('the page is closed'));
      await Promise.allSettled(posting.values());
    },
    person(name) {
      const id = `person-${++serial}`;
      names.set(id, name);
      return id;
    },
    direct: (person) => ({ chat: person }),
    say,
    press,
    buttons: async (spot, ref) => buttonsOf(await lineWith(spot.chat, ref)).map(({ label }) => label),
    command: (spot, person, name, args) => say(spot, person, `/${name} ${args}`),
    redeliver(said) {
      const { id, person, text } = posted.get(said.messageId)!;
      void post(person, { id, text });
    },
    disturb(_spot, person) {
      const bodies = ['', '{', 'null', '[]', '{"id": 7, "text": "x"}', '{"id": "message-0000"}', '"words"'];
      for (const body of bodies) void ask(person, 'POST', '/api/messages', body);
    },
    async seen(spot) {
      const answer = await ask(spot.chat, 'GET', '/api/messages');
      const lines = (await answer.json()) as { who: string; html: string }[];
      return lines.filter(({ who }) => who === 'bot').map(({ html }) => seenOf(html));
    },
    status: (spot, shown) => shows(spot, 'status', ({ text }) => (text != null) === shown),
    preview: (spot, text) =>
      shows(spot, 'live', ({ html }) => (html === undefined ? null : wordsOf(html).trim()) === text),
    /** As retention does with old lines. */
    async takeAway(spot, ref) {
      await db.run('delete from journal where chat = ? and key = ?', spot.chat, ref.slice(ref.indexOf(':') + 1));
    },
    loseAnswer() {
      onAppend = async () => {
        throw new Error('the connection to the database broke');
      };
    },
    hang: () =>
      new Promise((resolve) => {
        onAppend = () => {
          resolve();
          return new Promise(() => {});
        };
      }),
  };
}

function seenOf(html: string): Seen {
  const end = html.lastIndexOf(html.includes('<div class="choices"') ? '</div><div class="choices"' : '</div><footer>');
  const prose = html.slice(html.indexOf('<div class="prose">'), end);
  const inside = (tag: string) =>
    [...prose.matchAll(new RegExp(`<${tag}(?: [^>]*)?>(.*?)</${tag}>`, 'gs'))].map(([, words]) => wordsOf(words!));
  const outsideBlocks = prose.replaceAll(/<figure class="code">.*?<\/figure>/gs, '');
  const links = [...prose.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs)];
  const labels = links.map(([, , label]) => wordsOf(label!));
  return {
    // The first block begins no line of its own.
    text: wordsOf(prose).replace(/^\n/, ''),
    bold: inside('strong'),
    italic: inside('em').filter((words) => !labels.some((label) => label.includes(words))),
    strike: inside('del'),
    code: [...outsideBlocks.matchAll(/<code>(.*?)<\/code>/gs)].map(([, words]) => wordsOf(words!)),
    blocks: [...prose.matchAll(/<pre[^>]*><code>(.*?)<\/code><\/pre>/gs)].map(([, words]) => unescaped(words!)),
    links: links.map(([, url, label]) => ({ label: wordsOf(label!), url: unescaped(url!) })),
    pings: [],
    replyTo: null,
  };
}

/** What a browser would show, one line per line. */
function wordsOf(html: string): string {
  const lines = html
    .replaceAll(/<figcaption>.*?<\/figcaption>/gs, '')
    .replaceAll(/<\/t[hd]>/g, '\t')
    .replaceAll(/<br>|<(?:p|ul|ol|li|tr|pre|h\d)\b[^>]*>/g, '\n');
  return unescaped(lines.replaceAll(/<[^>]*>/g, ''));
}

const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescaped = (html: string) => html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!);
