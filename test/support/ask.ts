/** An HTTP client that can say anything in its headers. */
import { request } from 'node:http';

const answerMs = 20_000;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Each on a connection of its own. Rejects when it breaks or stays silent. */
export function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = request(url, { method, headers, timeout: answerMs, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${answerMs} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
