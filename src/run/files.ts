/**
 * Files that came with a message (rule 82): small text goes into the prompt, images to the model; what cannot be read
 * is named, to the model and in the reply. A bad file never fails the run.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatehouseError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { cleanFileName, wellFormed } from '../base/safe_text.ts';
import type { Adapter } from '../types/adapter.ts';
import type { IncomingFile } from '../types/message.ts';
import type { Said } from '../types/run.ts';
import type { Words } from '../words/index.ts';

/** Of text that is put into the prompt as it is. */
const textBytesMax = 64 * 1024;
const imageBytesMax = 5 * 1024 * 1024;
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|csv|toml)$)/;

export interface ReadFiles {
  files: Said['files'];
  /** One line a file that was not read: its name and why. */
  unread: string[];
}

export interface FileParts {
  adapter: Adapter;
  log: Log;
  words: Words;
  /** Where this run's uploads are kept. */
  folder: string;
  signal: AbortSignal;
}

export async function readFiles(parts: FileParts, incoming: readonly IncomingFile[]): Promise<ReadFiles> {
  const read: ReadFiles = { files: [], unread: [] };
  for (const [index, file] of incoming.entries()) {
    const name = cleanFileName(file.name);
    const outcome = await readOne(parts, file, name, index);
    if ('reason' in outcome) read.unread.push(`${name}: ${parts.words.fileReason[outcome.reason]}`);
    else read.files.push(outcome.file);
  }
  return read;
}

type Outcome = { file: Said['files'][number] } | { reason: keyof Words['fileReason'] };

async function readOne(parts: FileParts, file: IncomingFile, name: string, index: number): Promise<Outcome> {
  if (file.kind === 'voice' || file.kind === 'audio') return { reason: 'voice' };
  const isImage = imageTypes.has(file.mime);
  if (!isImage && !textTypes.test(file.mime)) return { reason: 'type' };
  const most = isImage ? imageBytesMax : textBytesMax;
  if ((file.bytes ?? 0) > most) return { reason: 'size' };
  if (!parts.adapter.download) return { reason: 'failed' };
  try {
    const bytes = await parts.adapter.download(file, parts.signal);
    if (bytes.byteLength > most) return { reason: 'size' };
    if (!isImage) return { file: { name, mime: file.mime, text: wellFormed(Buffer.from(bytes).toString('utf8')) } };
    if (!looksLikeImage(bytes)) return { reason: 'type' };
    await mkdir(parts.folder, { recursive: true, mode: 0o700 });
    const path = join(parts.folder, `${index}-${name}`);
    await writeFile(path, bytes, { mode: 0o600 });
    return { file: { name, mime: file.mime, image: path } };
  } catch (error) {
    if (parts.signal.aborted) throw parts.signal.reason;
    parts.log.warn({ file: name, err: error }, `a file was not fetched: ${messageOf(error)}`);
    // Some platforms tell the size only when they are asked for the file.
    return { reason: error instanceof GatehouseError && error.code === 'limit' ? 'size' : 'failed' };
  }
}

/** A corrupt image would make the provider refuse the whole request. */
function looksLikeImage(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return (
    head.startsWith('\x89PNG') ||
    head.startsWith('\xff\xd8\xff') ||
    head.startsWith('GIF8') ||
    (head.startsWith('RIFF') && head.endsWith('WEBP'))
  );
}
