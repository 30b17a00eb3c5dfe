import { limits } from '../base/limits.ts';
import { withoutToken } from './cookies.ts';

/** Bodies that are in memory at one moment, all requests together. */
const bodiesBytesMax = 32 * 1024 * 1024;

/** What all requests may hold together. */
export interface BodyBudget {
  /** False when there is no room for these bytes now. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export function createBodyBudget(bytesMax: number = bodiesBytesMax): BodyBudget {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > bytesMax) return false;
      held += bytes;
      return true;
    },
    giveBack(bytes) {
      held -= bytes;
    },
  };
}

/** `release` when the body is not needed any more. */
export type ReadRequest = { request: Request; release(): void } | { request: null; refusal: Response };

/** The request without its body, and without our session cookie, which is nobody's business behind the session check. */
export function headOf(request: Request): Request {
  return new Request(request.url, initOf(request));
}

/**
 * As `headOf`, with the whole body in memory, byte for byte (signatures are made over it). 413 when it is over the
 * limit, 503 when all bodies together are over theirs.
 */
export async function readBounded(
  request: Request,
  budget: BodyBudget,
  bytesMax: number = limits.httpBodyBytesMax,
): Promise<ReadRequest> {
  const init = initOf(request);
  if (request.method === 'GET' || request.method === 'HEAD')
    return { request: new Request(request.url, init), release() {} };
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax)
    return { request: null, refusal: tooLarge(bytesMax) };
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let held = 0;
  const release = () => {
    budget.giveBack(held);
    held = 0;
  };
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length;
      const refusal = bytes > bytesMax ? tooLarge(bytesMax) : budget.take(chunk.length) ? null : tooMuch();
      if (refusal !== null) {
        release();
        return { request: null, refusal };
      }
      held += chunk.length;
      chunks.push(chunk);
    }
  } catch (error) {
    release();
    throw error;
  }
  return { request: new Request(request.url, { ...init, body: Buffer.concat(chunks) }), release };
}

function tooLarge(bytesMax: number): Response {
  const kibibytes = bytesMax / 1024;
  const size = kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
  return Response.json({ error: `The request is larger than ${size}.` }, { status: 413 });
}

function tooMuch(): Response {
  const error = 'Too much is being sent at once. Try again.';
  return Response.json({ error }, { status: 503, headers: { 'Retry-After': '2' } });
}

function initOf(request: Request): RequestInit {
  const headers = new Headers([...request.headers]);
  const cookies = withoutToken(headers.get('cookie') ?? '');
  if (cookies === '') headers.delete('cookie');
  else headers.set('cookie', cookies);
  return { method: request.method, headers, signal: request.signal };
}
