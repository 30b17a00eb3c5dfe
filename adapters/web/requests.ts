/** Bodies of the page's requests. What is wrong with one is told with the status to answer. */
import { limits } from '../../src/base/limits.ts';
import { wellFormed } from '../../src/base/safe_text.ts';

/** Of what a button carries. */
export const buttonDataBytesMax = 64;
const refCharsMax = 200;

export interface Press {
  id: string;
  ref: string;
  data: string;
}

export async function readPress(request: Request): Promise<Press | { status: 400 | 415; error: string }> {
  if (!isJson(request)) return { status: 415, error: 'Send JSON: {"id": "…", "ref": "…", "data": "…"}.' };
  const { id, ref, data } = (await readJson(request)) ?? {};
  if (!isClientId(id)) return { status: 400, error: wrongId };
  if (!isRef(ref)) return { status: 400, error: '"ref" must be the data-ref of the line.' };
  if (typeof data !== 'string' || !isPressable(data))
    return { status: 400, error: '"data" must be the data-press of the button.' };
  return { id, ref, data };
}

/** What it names, and whether it is still there, is for the core to say. */
const isRef = (ref: unknown): ref is string =>
  typeof ref === 'string' && ref.length <= refCharsMax && /^\d{1,16}:./.test(ref) && ref === wellFormed(ref);

const isPressable = (data: string): boolean =>
  data !== '' && data === wellFormed(data) && Buffer.byteLength(data) <= buttonDataBytesMax;

const isJson = (request: Request): boolean =>
  request.headers.get('content-type')?.startsWith('application/json') ?? false;

/** Null when the body is no object. */
async function readJson(request: Request): Promise<Record<string, unknown> | null> {
  const body: unknown = await request.json().catch(() => null);
  return typeof body === 'object' ? (body as Record<string, unknown> | null) : null;
}

const isClientId = (id: unknown): id is string => typeof id === 'string' && /^[A-Za-z0-9_-]{8,64}$/.test(id);
const wrongId = '"id" must be 8 to 64 letters, digits, - or _, new for each message.';

type Sent = { id: string; text: string } | { status: 400 | 413 | 415; error: string };

export async function readMessage(request: Request, command: string | null): Promise<Sent> {
  if (!isJson(request)) return { status: 415, error: 'Send JSON: {"id": "…", "text": "…"}.' };
  const { id, text } = (await readJson(request)) ?? {};
  if (!isClientId(id)) return { status: 400, error: wrongId };
  if (command !== null) return { id, text: command };
  if (typeof text !== 'string' || text.trim() === '') return { status: 400, error: 'The message has no words.' };
  if (text.length > limits.inboundTextCharsMax) {
    const most = limits.inboundTextCharsMax.toLocaleString('en');
    return {
      status: 413,
      error: `The message has ${text.length.toLocaleString('en')} characters; ${most} fit. Send it in parts.`,
    };
  }
  // JSON lets through what no database takes.
  return { id, text: wellFormed(text) };
}
