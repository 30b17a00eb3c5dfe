/** The control socket carries one JSON line each way: `{ command, args }`, then `{ ok, result }` or `{ ok, error }`. */
import type { Socket } from 'node:net';
import type { ErrorCode } from '../base/errors.ts';

export type ControlArgs = Record<string, unknown>;
export interface ControlRequest {
  command: string;
  args: ControlArgs;
}
export type ControlAnswer =
  | { ok: true; result: unknown }
  | { ok: false; error: { code: ErrorCode; message: string; hint?: string } };

export const requestBytesMax = 1024 * 1024;
export const answerBytesMax = 16 * 1024 * 1024;

/** The first line that arrives. Rejects when it is longer than `bytesMax` or the connection ends before it. */
export function readLine(socket: Socket, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      const end = chunk.indexOf(10);
      bytes += chunk.length;
      if (bytes > bytesMax) reject(new Error('the line is too long'));
      else if (end < 0) chunks.push(chunk);
      else resolve(Buffer.concat([...chunks, chunk.subarray(0, end)]).toString('utf8'));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection ended early')));
  });
}
