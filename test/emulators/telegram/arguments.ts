import { readMultipart } from './multipart.ts';
import { type Arguments, badRequest, type Upload } from './wire.ts';

/**
 * Arguments come from the query, a form, multipart or JSON, so a number may be text and an object may be JSON in text.
 * Invalid UTF-8 and lone surrogates are refused as the real server does.
 */
export function readArguments(
  query: URLSearchParams | null,
  contentType: string,
  body: Buffer,
): { args: Arguments; uploads: Map<string, Upload> } {
  const args: Arguments = {};
  const uploads = new Map<string, Upload>();
  if (query) for (const [name, value] of query) args[name] = value;
  if (body.length === 0) return { args, uploads };
  if (contentType.startsWith('multipart/form-data')) {
    for (const part of readMultipart(contentType, body)) {
      if (part.file) uploads.set(part.name, part.file);
      else args[part.name] = textOf(part.bytes);
    }
    return { args, uploads };
  }
  const text = textOf(body);
  if (contentType.startsWith('application/json')) {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      throw badRequest("can't parse JSON object");
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw badRequest('expected an Object');
    return { args: Object.assign(args, parsed), uploads };
  }
  for (const [name, value] of new URLSearchParams(text)) args[name] = value;
  return { args, uploads };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest('strings must be encoded in UTF-8');
  }
}

export function text(args: Arguments, name: string): string {
  const value = args[name];
  if (value === undefined || value === null) return '';
  const result = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (!result.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  return result;
}

/** undefined when it is absent or not a whole number. */
export function integer(args: Arguments, name: string): number | undefined {
  const value = args[name];
  const result = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof result === 'number' && Number.isSafeInteger(result) ? result : undefined;
}

export function flag(args: Arguments, name: string): boolean {
  const value = args[name];
  return value === true || value === 1 || value === 'true' || value === '1' || value === 'True' || value === 'yes';
}

/** An object or a list, sent as such or as JSON in text. `what` is Telegram's name for it in the error. */
export function structure<T>(args: Arguments, name: string, what: string): T | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') return value as T;
  try {
    const parsed: unknown = JSON.parse(String(value));
    if (typeof parsed === 'object' && parsed !== null) return parsed as T;
  } catch {
    // answered below
  }
  throw badRequest(`can't parse ${what} JSON object`);
}
