/**
 * HTTP to a Bot API server, below grammY's Api. Our own for one reason: after a failure it must be known whether the
 * request can have reached the server, since a message that may have been sent is not simply sent again. No address
 * appears in any error, because Telegram's addresses hold the token.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../src/base/clock.ts';

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface RequestOptions {
  /** Of the whole exchange. */
  timeoutMs: number;
  /** A longer answer is refused. */
  answerBytesMax: number;
  signal?: AbortSignal | undefined;
}

export interface Transport {
  /** `path` begins with `/` and is below the server's own path. Throws TransportError. */
  post(path: string, json: string, options: RequestOptions): Promise<Answer>;
  get(path: string, options: RequestOptions): Promise<Answer>;
  close(): void;
}

/** No usable answer came. `code` is Node's (`ECONNREFUSED`), or one of ours below. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: string;
  /** False only when it is certain that the server has not got the request. */
  readonly written: boolean;
  constructor(code: string, written: boolean) {
    super(messages[code] ?? `the connection failed (${code})`);
    this.code = code;
    this.written = written;
  }
}

const messages: Record<string, string> = {
  aborted: 'the call was cancelled',
  timeout: 'no answer came in time',
  too_long: 'the answer is longer than allowed',
  cut: 'the connection ended in the middle of the answer',
  request: 'the request could not be made: check api_url and token for stray characters',
  ENOTFOUND: 'the name of the server cannot be resolved (ENOTFOUND)',
  EAI_AGAIN: 'the name of the server cannot be resolved now (EAI_AGAIN)',
  ECONNREFUSED: 'the server refuses connections (ECONNREFUSED)',
};

/** Long polls, downloads and sends of one bot together. */
const socketsMax = 64;
/** An idle connection is ended by us before the server does it, perhaps just as a message goes out. */
const idleMs = 15_000;

/** `root` is http or https, with or without a path. */
export function createTransport(root: string, clock: Clock): Transport {
  const base = new URL(root);
  const secure = base.protocol === 'https:';
  const agentOptions = { keepAlive: true, maxSockets: socketsMax, timeout: idleMs };
  const agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const prefix = base.pathname.replace(/\/+$/, '');

  function exchange(method: 'GET' | 'POST', path: string, body: Buffer | undefined, options: RequestOptions) {
    return new Promise<Answer>((resolve, reject) => {
      if (options.signal?.aborted) return reject(new TransportError('aborted', false));
      let written = false;
      let request: ClientRequest;
      const fail = (code: string) => {
        done();
        reject(new TransportError(code, written));
        request?.destroy();
      };
      const onAbort = () => fail('aborted');
      const cancelTimer = clock.after(options.timeoutMs, () => fail('timeout'));
      const done = () => {
        cancelTimer();
        options.signal?.removeEventListener('abort', onAbort);
      };
      options.signal?.addEventListener('abort', onAbort);
      try {
        request = (secure ? httpsRequest : httpRequest)({
          method,
          agent,
          hostname: base.hostname.replace(/^\[|\]$/g, ''),
          port: base.port,
          path: prefix + path,
          headers: body ? { 'content-type': 'application/json', 'content-length': body.length } : {},
        });
      } catch {
        // Node's own message would quote the path.
        return fail('request');
      }
      request.on('socket', (socket: Socket) => {
        // Nothing leaves a socket before it is connected, and with TLS before the handshake is over.
        if (!socket.connecting) written = true;
        else socket.once(secure ? 'secureConnect' : 'connect', () => (written = true));
      });
      request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'unknown'));
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        if (Number(response.headers['content-length']) > options.answerBytesMax) return fail('too_long');
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > options.answerBytesMax) return fail('too_long');
          chunks.push(chunk);
        });
        response.on('error', () => fail('cut'));
        response.on('end', () => {
          if (!response.complete) return fail('cut');
          done();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        });
      });
      request.end(body);
    });
  }

  return {
    post: (path, json, options) => exchange('POST', path, Buffer.from(json), options),
    get: (path, options) => exchange('GET', path, undefined, options),
    close: () => agent.destroy(),
  };
}
