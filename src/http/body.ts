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
export type ReadRequest = { request: Request; release(): void } | { request: null; status: 413 | 503 };

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
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return { request: null, status: 413 };
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
      const refused = bytes > bytesMax ? 413 : budget.take(chunk.length) ? null : 503;
      if (refused !== null) {
        release();
        return { request: null, status: refused };
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

function initOf(request: Request): RequestInit {
  const headers = new Headers([...request.headers]);
  const cookies = withoutToken(headers.get('cookie') ?? '');
  if (cookies === '') headers.delete('cookie');
  else headers.set('cookie', cookies);
  return { method: request.method, headers, signal: request.signal };
}
