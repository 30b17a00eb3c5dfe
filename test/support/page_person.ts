/** Somebody signed in on the chat page of a running gateway, over HTTP as the page does it. */
import { type Answer, ask } from './ask.ts';

export interface PageLine {
  seq: number;
  who: 'me' | 'bot';
  text: string;
}

export interface PagePerson {
  /** `way` is another way to the same gateway. Rejects when the connection breaks. */
  post(message: { id: string; text: string }, way?: string): Promise<Answer>;
  /** Any body. */
  send(body: string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  /** What the page shows, oldest first. */
  lines(): Promise<PageLine[]>;
  /** What the bot said, oldest first. */
  answers(): Promise<string[]>;
  /** Resolves when the page shows as many answers of the bot. */
  seesAnswers(count: number): Promise<string[]>;
  /** Resolves when one of them holds these words. */
  seesAnswer(words: string): Promise<string[]>;
  readonly cookie: string;
}

const seesMs = 40_000;

export const codeOf = (link: string): string => new URL(link).searchParams.get('code') ?? '';

/** Enters with a one-time code. */
export function redeem(url: string, code: string, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(`${url}/signin`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ code }).toString(),
  });
}

/** The Cookie header of the session that an answer begins. */
export function cookieOf(answer: Answer): string {
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return cookie.split(';')[0] ?? '';
}

export async function signIn(url: string, link: string): Promise<PagePerson> {
  const entered = await redeem(url, codeOf(link));
  const cookie = cookieOf(entered);
  if (entered.status !== 303 || cookie === '') throw new Error(`signing in was answered ${entered.status}`);
  // With the Host and Origin of the gateway, whatever the way to it.
  const ours = { host: new URL(url).host, origin: url, cookie };
  const send = (body: string | Buffer, headers: Record<string, string> = {}, way = url) =>
    ask(`${way}/chat/api/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...ours },
      body,
    });
  /** Looks with the opening of the page's stream and with everything that comes over it. */
  async function sees(what: string, enough: (answers: string[]) => boolean): Promise<string[]> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error(`the page does not show ${what}`)), seesMs);
    try {
      const stream = await fetch(`${url}/chat/api/events`, { headers: { cookie }, signal: abort.signal });
      for await (const _ of stream.body ?? []) {
        const answers = await person.answers();
        if (enough(answers)) return answers;
      }
      throw new Error('the stream of the page ended');
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }
  const person: PagePerson = {
    cookie,
    post: (message, way) => send(JSON.stringify(message), {}, way),
    send,
    async lines() {
      const answer = await ask(`${url}/chat/api/messages`, { headers: ours });
      return JSON.parse(answer.text) as PageLine[];
    },
    async answers() {
      const lines = await person.lines();
      return lines.filter(({ who }) => who === 'bot').map(({ text }) => text);
    },
    seesAnswers: (count) => sees(`${count} answers`, (answers) => answers.length >= count),
    seesAnswer: (words) => sees(`"${words}"`, (answers) => answers.some((text) => text.includes(words))),
  };
  return person;
}
