import { badRequest, type Upload } from './wire.ts';

export interface Part {
  name: string;
  bytes: Buffer;
  /** Set when the part has a file name. */
  file: Upload | null;
}

/** Parts of a multipart/form-data body (RFC 7578), in order. */
export function readMultipart(contentType: string, body: Buffer): Part[] {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (!boundary) throw badRequest('boundary not found');
  const mark = Buffer.from(`--${boundary}`);
  const parts: Part[] = [];
  let at = body.indexOf(mark);
  while (at >= 0) {
    const start = at + mark.length;
    if (body[start] === 0x2d && body[start + 1] === 0x2d) return parts;
    const next = body.indexOf(mark, start);
    if (next < 0) throw badRequest('wrong multipart body');
    const part = readPart(body.subarray(start + 2, next - 2));
    if (part) parts.push(part);
    at = next;
  }
  return parts;
}

function readPart(block: Buffer): Part | null {
  const end = block.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = block.subarray(0, end).toString('utf8');
  const name = /content-disposition:[^\r\n]*?[; ]name="?([^";\r\n]+)"?/i.exec(head)?.[1];
  if (!name) return null;
  const bytes = block.subarray(end + 4);
  const fileName = /content-disposition:[^\r\n]*?filename\*?="?([^";\r\n]*)"?/i.exec(head)?.[1];
  const type = /content-type:\s*([^\r\n;]+)/i.exec(head)?.[1] ?? 'application/octet-stream';
  const file = fileName === undefined ? null : { name: decodeName(fileName), type, bytes };
  return { name, bytes, file };
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replace(/^utf-8''/i, ''));
  } catch {
    return name;
  }
}
