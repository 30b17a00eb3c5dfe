import { limits } from '../base/limits.ts';
import { withoutToken } from './cookies.ts';

/**
 * The request with its whole body in memory, byte for byte (signatures are made over it), and without our session
 * cookie, which is nobody's business behind the session check. Null when the body is over the limit.
 */
export async function readBounded(
  request: Request,
  bytesMax: number = limits.httpBodyBytesMax,
): Promise<Request | null> {
  const headers = new Headers([...request.headers]);
  const cookies = withoutToken(headers.get('cookie') ?? '');
  if (cookies === '') headers.delete('cookie');
  else headers.set('cookie', cookies);
  const init: RequestInit = { method: request.method, headers, signal: request.signal };
  if (request.method === 'GET' || request.method === 'HEAD') return new Request(request.url, init);
  if (Number(headers.get('content-length') ?? 0) > bytesMax) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (request.body) {
    for await (const chunk of request.body) {
      bytes += chunk.length;
      if (bytes > bytesMax) return null;
      chunks.push(chunk);
    }
  }
  return new Request(request.url, { ...init, body: Buffer.concat(chunks) });
}
