/** Fetches what people send. The address of a file holds the token, so it appears nowhere. */
import { GatehouseError } from '../../src/base/errors.ts';
import { limits } from '../../src/base/limits.ts';
import type { IncomingFile } from '../../src/types/message.ts';
import type { Client } from './client.ts';
import { failureOf } from './failures.ts';
import { TransportError } from './transport.ts';

/** What Telegram hands to bots; a Bot API server of one's own has no limit, but ours holds there too. */
export const fileBytesMax = Math.min(20 * 1024 * 1024, limits.fileBytesMax);

/** Throws a GatehouseError: `limit` for a file that is too large, `unavailable` for anything else. */
export async function download(client: Client, file: IncomingFile, signal: AbortSignal): Promise<Uint8Array> {
  if ((file.bytes ?? 0) > fileBytesMax) throw tooLarge();
  const path = await filePath(client, file, signal);
  const answer = await client.file(path, { bytesMax: fileBytesMax, signal }).catch((error: unknown) => {
    if (error instanceof TransportError && error.code === 'too_long') throw tooLarge();
    const failure = failureOf(error);
    throw new GatehouseError('unavailable', `Telegram's file server: ${failure.description}.`);
  });
  if (answer.status !== 200)
    throw new GatehouseError('unavailable', `Telegram's file server answered with status ${answer.status}.`);
  if (isPage(answer.headers['content-type'], answer.body, file))
    throw new GatehouseError('unavailable', 'A web page came instead of the file.', {
      hint: 'Something between the gateway and Telegram, such as a proxy that asks to sign in, answers in its place.',
    });
  return answer.body;
}

async function filePath(client: Client, file: IncomingFile, signal: AbortSignal): Promise<string> {
  let found: { file_path?: string; file_size?: number };
  try {
    found = await client.raw.getFile({ file_id: file.ref }, signal as never);
  } catch (error) {
    const failure = failureOf(error);
    if (/file is too big/i.test(failure.description)) throw tooLarge();
    throw new GatehouseError('unavailable', `Telegram does not give the file: ${failure.description}.`);
  }
  if ((found.file_size ?? 0) > fileBytesMax) throw tooLarge();
  if (!found.file_path) throw new GatehouseError('unavailable', 'Telegram does not say where the file is.');
  return found.file_path;
}

function tooLarge(): GatehouseError {
  return new GatehouseError('limit', `The file is larger than ${fileBytesMax / 1024 / 1024} MB.`, {
    hint: 'Send a smaller file or a link to it: Telegram does not hand larger ones to bots.',
  });
}

/** A text file may well be a page; a picture, a recording or a PDF never is. */
function isPage(contentType: string | undefined, body: Buffer, file: IncomingFile): boolean {
  if (/^text\/|html|xml/i.test(file.mime)) return false;
  if (/^text\/html/i.test(contentType ?? '')) return true;
  return file.kind !== 'document' && /^\s*<(?:!doctype\s+html|html)\b/i.test(body.subarray(0, 256).toString('latin1'));
}
