import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/base/clock.ts';
import { readArguments } from './arguments.ts';
import { answerOf, type FaultKind, type Faults } from './faults.ts';
import type { Call, Recorder } from './record.ts';
import { ApiError, type Arguments, type Upload } from './wire.ts';

/** What a method gets to see of its request. */
export interface Request {
  call: Call;
  args: Arguments;
  uploads: Map<string, Upload>;
  onClose(callback: () => void): void;
}
export type Method = (request: Request) => unknown;

/** Real uploads end at 50 MB; the rest is room for the envelope. */
const bodyBytesMax = 60 * 1024 * 1024;

export interface BotServer {
  url: string;
  close(): Promise<void>;
}

export interface ServerParts {
  token: string;
  clock: Clock;
  /** By lower-case name. */
  methods: Map<string, { name: string; run: Method }>;
  record: Recorder;
  faults: Faults;
  /** Throws the 429 a rate limit asks for. */
  checkRate(call: Call): void;
  download(path: string): Buffer;
  /** Requests that are not of the Bot API; true when it answered. */
  other?: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined;
  port: number;
}

export async function startServer(parts: ServerParts): Promise<BotServer> {
  const server = http.createServer((request, response) => {
    handle(parts, request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(parts.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(parts: ServerParts, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith('/bot') && !path.startsWith('/file/bot')) {
    if (parts.other?.(request, response)) return;
    return answer(response, new ApiError(404, 'Not Found'));
  }
  const body = await bodyOf(request);
  if (!body) return answer(response, new ApiError(413, 'Request Entity Too Large'));
  const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(path);
  const route = file ?? /^\/bot([^/]+)\/(?:test\/)?([^/]*)$/.exec(path);
  if (!route) return answer(response, new ApiError(404, 'Not Found'));
  if (decodeURIComponent(route[1]!) !== parts.token) return answer(response, new ApiError(401, 'Unauthorized'));
  const method = file ? downloadMethod(parts, file[2]!) : parts.methods.get(route[2]!.toLowerCase());
  if (!method) return answer(response, new ApiError(404, 'Not Found: method not found'));
  let input: ReturnType<typeof readArguments>;
  try {
    const query = mark < 0 ? null : new URLSearchParams(target.slice(mark + 1));
    input = readArguments(query, request.headers['content-type'] ?? '', body);
  } catch (error) {
    return answer(response, apiError(error));
  }
  const call = parts.record.begin(method.name, input.args, [...input.uploads.keys()]);
  if (file) input.args.file_path = file[2];
  await perform(parts, call, method.run, input, response);
}

async function perform(
  parts: ServerParts,
  call: Call,
  run: Method,
  input: ReturnType<typeof readArguments>,
  response: http.ServerResponse,
): Promise<void> {
  const { faults, record } = parts;
  try {
    const asked = faults.runBefore(call);
    if (asked !== true && !(await asked)) {
      call.fault = 'drop';
      return drop(call, response);
    }
    const fault = faults.take(call);
    if (fault?.do.endsWith('_before')) return breakTransport(fault, call, response);
    let outcome: unknown;
    try {
      const replaced = fault && answerOf(fault);
      if (replaced) throw replaced;
      parts.checkRate(call);
      outcome = run({
        call,
        args: input.args,
        uploads: input.uploads,
        onClose: (callback) => response.once('close', callback),
      });
      if (outcome instanceof Promise) outcome = await outcome;
      call.committed = true;
      call.result = outcome;
    } catch (error) {
      outcome = apiError(error);
    }
    const told = faults.runAfter(call);
    if (told) await told;
    if (fault?.do.endsWith('_after')) return breakTransport(fault, call, response);
    finish(parts, call, outcome, response);
  } finally {
    record.end(call);
  }
}

function finish(parts: ServerParts, call: Call, outcome: unknown, response: http.ServerResponse): void {
  if (response.destroyed) {
    call.status = 0;
    return;
  }
  call.answeredAt = parts.clock.now();
  if (outcome instanceof ApiError) {
    call.status = outcome.code;
    call.error = outcome.message;
    const retryAfter = outcome.parameters?.retry_after;
    if (typeof retryAfter === 'number') call.retryAfter = retryAfter;
  } else call.status = 200;
  answer(response, outcome);
}

function breakTransport(fault: FaultKind, call: Call, response: http.ServerResponse): void {
  if (fault.do.startsWith('close')) {
    drop(call, response);
    return;
  }
  if (fault.do.startsWith('hang')) {
    call.status = 0;
    return;
  }
  call.status = ('status' in fault ? fault.status : undefined) ?? 502;
  response.writeHead(call.status, { 'content-type': 'text/html' });
  response.end('<html><head><title>Bad Gateway</title></head><body>nginx</body></html>');
}

function drop(call: Call, response: http.ServerResponse): void {
  call.status = 0;
  response.socket?.destroy();
}

function answer(response: http.ServerResponse, outcome: unknown): void {
  if (Buffer.isBuffer(outcome)) {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': outcome.length });
    response.end(outcome);
    return;
  }
  const failed = outcome instanceof ApiError;
  const text = failed
    ? JSON.stringify({
        ok: false,
        error_code: outcome.code,
        description: outcome.message,
        parameters: outcome.parameters,
      })
    : `{"ok":true,"result":${JSON.stringify(outcome)}}`;
  const headers: http.OutgoingHttpHeaders = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  if (failed && outcome.parameters?.retry_after !== undefined) {
    headers['retry-after'] = String(outcome.parameters.retry_after);
  }
  response.writeHead(failed ? outcome.code : 200, headers);
  response.end(text);
}

/** A bug of the emulator must not look like an answer of Telegram, so it is named. */
function apiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  console.error('Telegram emulator:', error);
  return new ApiError(500, `Internal Server Error: bug in the emulator: ${String(error)}`);
}

function downloadMethod(parts: ServerParts, path: string): { name: string; run: Method } {
  return { name: 'download', run: () => parts.download(decodeURIComponent(path)) };
}

function bodyOf(request: http.IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bodyBytesMax) chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(size > bodyBytesMax ? null : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    );
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the client went away'));
    });
  });
}
