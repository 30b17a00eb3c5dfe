/** Somebody signed in on the chat page of a running gateway, over HTTP as the page does it. */
import { type IncomingMessage, request } from 'node:http';

export interface PageAnswer {
  status: number;
  text: string;
}

export interface PagePerson {
  /** `url` is another way to the same gateway. Rejects when the connection breaks. */
  post(message: { id: string; text: string }, url?: string): Promise<PageAnswer>;
  /** Any body. */
  send(body: string | Buffer, headers?: Record<string, string>): Promise<PageAnswer>;
  /** What the bot said, oldest first. */
  answers(): Promise<string[]>;
  /** Resolves when the page shows as many answers of the bot. */
  seesAnswers(count: number): Promise<string[]>;
  readonly cookie: string;
}

const answerMs = 20_000;

export async function signIn(url: string, link: string): Promise<PagePerson> {
  const code = new URL(link).searchParams.get('code') ?? '';
  const entered = await exchange(url, url, 'POST', '/signin', new URLSearchParams({ code }).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const cookie = String(entered.headers['set-cookie']?.[0]).split(';')[0]!;
  const send = (body: string | Buffer, headers: Record<string, string> = {}, way = url) =>
    exchange(url, way, 'POST', '/chat/api/messages', body, { cookie, 'content-type': 'application/json', ...headers });
  const person: PagePerson = {
    cookie,
    post: (message, way) => send(JSON.stringify(message), {}, way),
    send,
    async answers() {
      const answer = await exchange(url, url, 'GET', '/chat/api/messages', null, { cookie });
      const lines = JSON.parse(answer.text) as { who: string; text: string; at: number }[];
      return lines.filter(({ who }) => who === 'bot').map(({ text }) => text);
    },
    async seesAnswers(count) {
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(new Error(`there are not ${count} answers on the page`)), answerMs);
      try {
        const stream = await fetch(`${url}/chat/api/events`, { headers: { cookie }, signal: abort.signal });
        for await (const _ of stream.body ?? []) {
          const answers = await person.answers();
          if (answers.length >= count) return answers;
        }
        throw new Error('the stream of the page ended');
      } finally {
        clearTimeout(timer);
        abort.abort();
      }
    },
  };
  return person;
}

/** With the Host and Origin of the gateway, whatever the way to it. */
function exchange(
  url: string,
  way: string,
  method: string,
  path: string,
  body: string | Buffer | null,
  headers: Record<string, string>,
): Promise<PageAnswer & { headers: IncomingMessage['headers'] }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${way}${path}`,
      { method, agent: false, timeout: answerMs, headers: { ...headers, host: new URL(url).host, origin: url } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
            headers: response.headers,
          }),
        );
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}
