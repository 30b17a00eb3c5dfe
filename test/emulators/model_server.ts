/**
 * A scripted model server: one HTTP server that speaks the wires of all providers, refuses what the real ones
 * refuse, records every request in order, and answers as a test says. No sleeping: what is slow waits for a gate.
 *
 *   const server = await startModelServer();
 *   server.script({ text: 'Hello' }, { calls: [{ name: 'store_get', input: { key: 'a' } }] });
 *   server.respond((request) => ({ text: `you said ${request.messages.at(-1)?.text}` }));
 *   const first = await server.request(1);
 *
 * base_url is `server.url` + `/v1` (openai, openai_compatible, anthropic) or `/v1beta` (google).
 * As a program: node test/emulators/model_server.ts --port 4010 --answer "text" [--instant]
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import type { JsonObject } from '../../src/types/json.ts';
import { anthropicWire } from './model_server_anthropic.ts';
import { chatWire } from './model_server_chat.ts';
import { googleWire } from './model_server_google.ts';
import { createInstant } from './model_server_instant.ts';
import { responsesWire } from './model_server_responses.ts';
import { sendAnswer } from './model_server_send.ts';
import { type Answer, Refusal, type Responder, type SeenRequest, type Wire } from './model_server_types.ts';

export type * from './model_server_types.ts';

export interface ModelServerOptions {
  port?: number;
  /** Other keys are answered 401 in the provider's words. */
  apiKey?: string;
  /** Models that exist; others are answered 404. */
  models?: string[];
  /** For benchmarks: this constant text to every request, nothing recorded, nothing checked. */
  instant?: string;
  /** Paths answered 404, as by a server that speaks only some of the wires: 'responses', 'chat/completions', … */
  missing?: string[];
  /** Awaited when a request was read and before anything is answered ("received"). */
  onRequest?: (request: SeenRequest) => Promise<void> | void;
  /** Awaited when the answer is chosen and before its first byte. */
  beforeAnswer?: (request: SeenRequest) => Promise<void> | void;
  /** Called when the last byte was handed to the socket ("answered"). */
  afterAnswer?: (request: SeenRequest) => Promise<void> | void;
}

export interface ModelServer {
  url: string;
  /** In order of arrival, refused ones included. */
  requests: SeenRequest[];
  /** Answers in order; each is used once, before `respond` is asked. */
  script(...answers: Answer[]): void;
  /** Answers what the script has no answer for; undefined falls through to `You said: …`. */
  respond(responder: Responder): void;
  /** The n-th request (1-based), waiting for it at most `withinMs` (default 20 s). */
  request(number: number, withinMs?: number): Promise<SeenRequest>;
  /** How many answers of the script are left. */
  left(): number;
  close(): Promise<void>;
}

const routes: [RegExp, Wire][] = [
  [/\/chat\/completions$/, chatWire],
  [/\/responses$/, responsesWire],
  [/\/messages$/, anthropicWire],
  [/\/models\/[^/]+:(streamGenerateContent|generateContent)$/, googleWire],
];

const bodyBytesMax = 64 * 1024 * 1024;

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const waiting = new Map<number, (request: SeenRequest) => void>();
  const queue: Answer[] = [];
  let responder: Responder = () => undefined;

  async function choose(request: SeenRequest): Promise<Answer> {
    const scripted = queue.shift() ?? (await responder(request));
    return (
      scripted ?? { text: `You said: ${request.messages.findLast((message) => message.role === 'user')?.text ?? ''}` }
    );
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (message.url ?? '/').split('?')[0] as string;
    const body = await readBody(message);
    const wire = routes.find(([pattern]) => pattern.test(path))?.[1];
    if (!wire || options.missing?.some((missing) => path.endsWith(missing))) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
      return;
    }
    const { request, refusal } = record(wire, path, body, message, response, requests.length + 1, options);
    requests.push(request);
    waiting.get(request.number)?.(request);
    waiting.delete(request.number);
    await options.onRequest?.(request);
    const answer: Answer = refusal
      ? { status: refusal.status, message: refusal.message, ...(refusal.code ? { code: refusal.code } : {}) }
      : await choose(request);
    await options.beforeAnswer?.(request);
    await sendAnswer(wire, request, answer, response);
    await options.afterAnswer?.(request);
  }

  const instant = options.instant === undefined ? null : createInstant(options.instant);
  const server = createServer((message, response) => {
    if (instant) return instant(message, response);
    serve(message, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else response.writeHead(500).end(`model server: ${String(error)}`);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...answers) => void queue.push(...answers),
    respond: (next) => {
      responder = next;
    },
    left: () => queue.length,
    request(number, withinMs = 20_000) {
      const seen = requests[number - 1];
      if (seen) return Promise.resolve(seen);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () =>
            reject(
              new Error(`model server: request ${number} did not come within ${withinMs} ms (${requests.length} came)`),
            ),
          withinMs,
        );
        waiting.set(number, (request) => {
          clearTimeout(timer);
          resolve(request);
        });
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function record(
  wire: Wire,
  path: string,
  body: string,
  message: IncomingMessage,
  response: ServerResponse,
  number: number,
  options: ModelServerOptions,
): { request: SeenRequest; refusal: Refusal | null } {
  let finish: (how: 'answered' | 'client' | 'broken') => void = () => {};
  const request: SeenRequest = {
    number,
    wire: wire.name,
    path,
    headers: message.headers,
    raw: {},
    body,
    at: Date.now(),
    status: 0,
    refusal: null,
    clientClosed: false,
    brokenByScript: false,
    ended: new Promise((resolve) => {
      finish = resolve;
    }),
    model: '',
    stream: false,
    instructions: '',
    messages: [],
    tools: [],
    maxOutputTokens: null,
  };
  response.once('close', () => {
    request.clientClosed = !response.writableFinished && !request.brokenByScript;
    finish(response.writableFinished ? 'answered' : request.clientClosed ? 'client' : 'broken');
  });
  let refusal: Refusal | null = null;
  try {
    if (options.apiKey !== undefined && wire.key(message.headers) !== options.apiKey)
      throw new Refusal(`Incorrect API key provided: ${wire.key(message.headers) ?? ''}.`, 401, 'invalid_api_key');
    request.raw = JSON.parse(body) as JsonObject;
    Object.assign(request, wire.read(request.raw, { path, headers: message.headers }));
    if (options.models && !options.models.includes(request.model))
      throw new Refusal(
        `The model \`${request.model}\` does not exist or you do not have access to it.`,
        404,
        'model_not_found',
      );
  } catch (error) {
    refusal =
      error instanceof Refusal ? error : new Refusal(`We could not parse the JSON body of your request: ${error}`);
    request.refusal = refusal.message;
  }
  return { request, refusal };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      answer: { type: 'string', default: 'Hello from the model server.' },
      instant: { type: 'boolean', default: false },
    },
  });
  const server = await startModelServer({
    port: Number(values.port),
    ...(values.instant ? { instant: values.answer } : {}),
  });
  server.respond(() => ({ text: values.answer }));
  process.stdout.write(`${server.url}\n`);
}
