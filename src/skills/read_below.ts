/** Reads files of others without being led astray: what is read is proved to lie below the root while it is open. */
import { constants, type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isWithin } from '../sandbox/grant.ts';

export interface OpenFile {
  content: Buffer;
  executable: boolean;
}

export class EscapeError extends Error {}

/**
 * Reads a regular file of at most `bytesMax`; links are followed, but the file itself must lie below `realRoot`.
 * Throws EscapeError when it does not, else a sentence about the file.
 */
export async function readBelow(path: string, realRoot: string, bytesMax: number): Promise<OpenFile> {
  // Does not wait for the writer of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!isWithin(await whereIs(file, path), realRoot)) throw new EscapeError();
    const kind = await file.stat();
    if (!kind.isFile()) throw new Error(`${path} is not a regular file`);
    if (kind.size > bytesMax) throw new Error(`${path} is larger than ${bytesMax} bytes`);
    const content = Buffer.alloc(kind.size);
    const { bytesRead } = await file.read(content, 0, kind.size, 0);
    return { content: content.subarray(0, bytesRead), executable: (kind.mode & 0o111) !== 0 };
  } finally {
    await file.close();
  }
}

/** The kernel's own answer cannot be changed by moving links about; other systems are asked by name. */
async function whereIs(file: FileHandle, path: string): Promise<string> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);
}
