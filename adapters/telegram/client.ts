/** The Bot API of one bot: grammY's Api for the words, our transport below it. All of the adapter's network is here. */
import { Api } from 'grammy';
import type { Clock } from '../../src/base/clock.ts';
import { limits } from '../../src/base/limits.ts';
import { fieldsOf } from './content.ts';
import { StrangeAnswer } from './failures.ts';
import { type Answer, createTransport } from './transport.ts';

export type RawApi = Api['raw'];

export interface Client {
  /** Every method of the Bot API. Rejects with what `failureOf` reads. */
  raw: RawApi;
  /** Fetches `file_path` of getFile. */
  file(path: string, options: { bytesMax: number; signal?: AbortSignal }): Promise<Answer>;
  close(): void;
}

/** A call that is no long poll: the server answers within a second, or something is wrong. */
const callMs = 20_000;
/** On top of what a long poll asked the server to wait. */
const pollGraceMs = 15_000;
const downloadMs = 120_000;
/** 100 real updates are far below it. */
const answerBytesMax = 64 * 1024 * 1024;

export function createClient(options: { token: string; apiUrl: string; clock: Clock }): Client {
  const { token, clock } = options;
  const transport = createTransport(options.apiUrl, clock);
  // grammY would put the address, and so the token, together itself; here no call gets that far.
  const api = new Api(token);
  api.config.use(async (_previous, method, payload, signal) => {
    const answer = await transport.post(`/bot${token}/${method}`, JSON.stringify(payload), {
      timeoutMs: timeoutOf(method, payload),
      answerBytesMax,
      // grammY's type is that of a polyfill with the same members.
      signal: signal as AbortSignal | undefined,
    });
    return readAnswer(method, answer) as never;
  });
  return {
    raw: api.raw,
    file: (path, { bytesMax, signal }) =>
      transport.get(`/file/bot${token}/${path.split('/').map(encodeURIComponent).join('/')}`, {
        timeoutMs: downloadMs,
        answerBytesMax: Math.min(bytesMax, limits.fileBytesMax),
        signal,
      }),
    close: () => transport.close(),
  };
}

function timeoutOf(method: string, payload: object): number {
  if (method !== 'getUpdates') return callMs;
  const seconds = 'timeout' in payload ? Number(payload.timeout) : 0;
  return seconds * 1000 + pollGraceMs;
}

/** The answer in the Bot API's own form, also for refusals. */
function readAnswer(method: string, answer: Answer): object {
  let json: unknown;
  try {
    json = JSON.parse(answer.body.toString('utf8'));
  } catch {
    throw new StrangeAnswer(answer.status);
  }
  if (typeof json !== 'object' || json === null || !('ok' in json)) throw new StrangeAnswer(answer.status);
  if (json.ok === true) {
    if ('result' in json && isResultOf(method, json.result)) return json;
    throw new StrangeAnswer(answer.status);
  }
  const refusal = json as { error_code?: unknown; description?: unknown; parameters?: { retry_after?: unknown } };
  const header = Number(answer.headers['retry-after']);
  return {
    ok: false,
    error_code: typeof refusal.error_code === 'number' ? refusal.error_code : answer.status,
    description: typeof refusal.description === 'string' ? refusal.description.slice(0, 300) : 'no description',
    parameters: {
      ...(Number.isFinite(header) && answer.status === 429 ? { retry_after: header } : {}),
      ...refusal.parameters,
    },
  };
}

/** What is read of a result without looking twice; the rest of the adapter takes nothing else for granted. */
function isResultOf(method: string, result: unknown): boolean {
  if (method === 'getUpdates') return Array.isArray(result);
  const fields = fieldsOf(result);
  if (method === 'getMe') return Number.isSafeInteger(fields?.id) && typeof fields?.username === 'string';
  if (method === 'sendMessage') return Number.isSafeInteger(fields?.message_id);
  if (method === 'getFile' || method === 'getChat' || method === 'getChatMember') return fields !== undefined;
  return true;
}
