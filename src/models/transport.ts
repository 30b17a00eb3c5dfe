/**
 * HTTP to a provider, in the shape of `fetch` that the SDKs take. Our own on node:http, which costs a third of what
 * undici does per request and lets the answer be counted and bounded where it arrives. It follows no redirect, since
 * that would carry the key to another host.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { assert } from '../base/errors.ts';

/** What the transport tells the attempt that owns the signal. */
export interface Watch {
  /** The request was handed to the network. */
  sent: boolean;
  /** A 2xx answer began. */
  answered: boolean;
  /** Bytes of the request body. */
  requestBytes: number;
  onBytes(): void;
}

const watches = new WeakMap<AbortSignal, Watch>();

export function watch(signal: AbortSignal, observer: Watch): void {
  watches.set(signal, observer);
}

export interface FetchOptions {
  /** Lower case; never sent, whatever the SDK sets. */
  headersLeftOut: readonly string[];
  /** Of an answer, unpacked. */
  answerBytesMax: number;
  /** What a longer answer fails with. */
  tooLarge(): Error;
}

/** An idle connection is ended by us before servers end it (5 s is usual), perhaps just as a request goes out. */
const idleMs = 4_000;
const agentOptions = {
  keepAlive: true,
  timeout: idleMs,
  // As node itself decides it for its own agent and for fetch.
  ...(process.env.NODE_USE_ENV_PROXY === '1' ? { proxyEnv: process.env } : {}),
};
const agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };

/** Bodies are strings, as the SDKs write JSON. Rejects with a TypeError as `fetch` does, or with the signal's reason. */
export function createFetch(options: FetchOptions): typeof globalThis.fetch {
  let last = addressOf('http://localhost');
  const addressFor = (input: Parameters<typeof fetch>[0]) => {
    const text = input instanceof Request ? input.url : String(input);
    // A provider posts to one address again and again.
    if (text !== last.text) last = addressOf(text);
    return last;
  };
  return (input, init) =>
    new Promise((resolve, reject) => {
      const signal = init?.signal ?? undefined;
      if (signal?.aborted) return reject(signal.reason);
      const observer = signal && watches.get(signal);
      const body = init?.body ?? '';
      assert(typeof body === 'string', 'a request to a provider is a text');
      const bytes = Buffer.byteLength(body);
      const request = open(addressFor(input), {
        method: init?.method ?? 'GET',
        headers: headersOf(init?.headers, options.headersLeftOut, bytes),
      });
      if (observer) {
        observer.sent = true;
        observer.requestBytes = bytes;
      }
      const onAbort = () => {
        request.destroy();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      request.on('error', (error) => reject(new TypeError('fetch failed', { cause: error })));
      request.on('close', () => signal?.removeEventListener('abort', onAbort));
      request.on('response', (response) => {
        try {
          resolve(answerOf(response, signal, observer, options));
        } catch (error) {
          // Such as a status that is none.
          request.destroy();
          reject(new TypeError('fetch failed', { cause: error }));
        }
      });
      request.end(body);
    });
}

interface Address {
  text: string;
  secure: boolean;
  /** Read once: node takes an address apart anew for every request that names one. */
  options: ReturnType<typeof urlToHttpOptions>;
}

function addressOf(text: string): Address {
  const url = new URL(text);
  return { text, secure: url.protocol === 'https:', options: urlToHttpOptions(url) };
}

function open(address: Address, options: { method: string; headers: OutgoingHttpHeaders }): ClientRequest {
  return address.secure
    ? httpsRequest({ ...address.options, ...options, agent: agents.https })
    : httpRequest({ ...address.options, ...options, agent: agents.http });
}

function headersOf(given: RequestInit['headers'], leftOut: readonly string[], bytes: number): OutgoingHttpHeaders {
  const pairs = Array.isArray(given) || given instanceof Headers ? [...given] : Object.entries(given ?? {});
  const headers: OutgoingHttpHeaders = { accept: '*/*', 'accept-encoding': 'identity', 'content-length': bytes };
  for (const [name, value] of pairs) {
    const lower = String(name).toLowerCase();
    if (!leftOut.includes(lower)) headers[lower] = String(value);
  }
  return headers;
}

/** Pieces of an answer that wait to be read before no more are taken from the network. */
const waitingMax = 16;
/** Statuses that have no body. */
const bodiless = [204, 205, 304];

function answerOf(
  response: IncomingMessage,
  signal: AbortSignal | undefined,
  observer: Watch | undefined,
  options: FetchOptions,
): Response {
  const status = response.statusCode ?? 0;
  const statusText = response.statusMessage ?? '';
  const headers = new Headers();
  const { rawHeaders } = response;
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] as string, rawHeaders[at + 1] ?? '');
  const ok = status >= 200 && status < 300;
  if (observer) {
    observer.answered = ok;
    observer.onBytes();
  }
  if (bodiless.includes(status)) {
    response.resume();
    return new Response(null, { status, statusText, headers });
  }
  const reader = readerOf(response, signal, observer, options);
  // Of an answer that is streamed the SDKs ask for nothing but these, and the body for nothing but its reader: a whole
  // Response around a whole ReadableStream costs as much as the network does.
  if (ok) return { ok, status, statusText, headers, body: { getReader: () => reader } } as unknown as Response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: reader.cancel,
  });
  return new Response(body, { status, statusText, headers });
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel' | 'releaseLock'>;

/** One read at a time. */
function readerOf(
  response: IncomingMessage,
  signal: AbortSignal | undefined,
  observer: Watch | undefined,
  options: FetchOptions,
): Reader {
  const source = unpacked(response);
  const waiting: Uint8Array[] = [];
  let left = options.answerBytesMax;
  let end: { error?: unknown } | null = null;
  let wake = () => {};
  const finish = (how: { error?: unknown }) => {
    if (end) return;
    end = how;
    if ('error' in how) {
      waiting.length = 0;
      response.destroy();
    }
    wake();
  };
  source.on('data', (chunk: Buffer) => {
    if (end) return;
    left -= chunk.length;
    observer?.onBytes();
    if (left < 0) return finish({ error: options.tooLarge() });
    waiting.push(chunk);
    if (waiting.length >= waitingMax) source.pause();
    wake();
  });
  source.on('end', () => finish({}));
  source.on('error', (error) =>
    finish({ error: signal?.aborted ? signal.reason : new TypeError('terminated', { cause: error }) }),
  );
  return {
    async read() {
      if (waiting.length === 0 && !end) {
        source.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const value = waiting.shift();
      if (value) return { done: false, value };
      if (end && 'error' in end) throw end.error;
      return { done: true, value: undefined };
    },
    async cancel() {
      finish({ error: new TypeError('the answer was cancelled') });
    },
    releaseLock() {},
  };
}

/** We ask for plain bytes; some servers pack them all the same. */
function unpacked(response: IncomingMessage): Readable {
  const packing = response.headers['content-encoding']?.trim().toLowerCase();
  const decoder =
    packing === 'gzip' || packing === 'x-gzip'
      ? createGunzip()
      : packing === 'deflate'
        ? createInflate()
        : packing === 'br'
          ? createBrotliDecompress()
          : null;
  // Its end and its errors, those of the response among them, come out of the decoder.
  return decoder ? pipeline(response, decoder, () => {}) : response;
}
