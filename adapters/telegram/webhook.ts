/**
 * Updates pushed by Telegram. The secret header is checked before anything of a request is read (rule 9), and 200 is
 * said only after the inbox has stored the update (D1); anything else makes Telegram deliver it again.
 */
import { sameSecret } from '../../src/base/digest.ts';
import { newToken } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import type { AdapterContext, ChannelRequest } from '../../src/types/adapter.ts';
import { createBackoff } from './backoff.ts';
import type { Client } from './client.ts';
import { failureOf } from './failures.ts';
import { type Health, troubleOf } from './health.ts';
import type { Intake } from './intake.ts';
import { allowedUpdates, type Me } from './parse.ts';
import type { Receiver } from './receive.ts';

const secretHeader = 'x-telegram-bot-api-secret-token';
const secretKey = 'webhook_secret';
/** Telegram's default; it serialises the updates of one chat by itself. */
const connectionsMax = 40;

export interface Webhook extends Receiver {
  http(request: ChannelRequest): Promise<Response>;
}

export function createWebhook(parts: {
  client: Client;
  context: AdapterContext;
  health: Health;
  intake: Intake;
  /** From the configuration; null = one is made and kept. */
  secret: string | null;
  identify(signal: AbortSignal): Promise<Me>;
}): Webhook {
  const { client, context, health, intake } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff(context.clock);
  let running: Promise<void> | undefined;
  let secret: string | undefined;
  let me: Me | undefined;

  async function keptSecret(): Promise<string> {
    if (parts.secret !== null) return parts.secret;
    const known = await context.state.get(secretKey);
    if (known !== null) return known;
    const made = newToken(32);
    await context.state.set(secretKey, made);
    return made;
  }

  async function run(): Promise<void> {
    if (context.publicUrl === null)
      return health.failed(
        `mode webhook needs an address that Telegram can reach: set gateway.public_url, or channels.${context.channel}.mode: polling`,
      );
    const url = `${context.publicUrl.replace(/\/+$/, '')}/telegram/${context.channel}`;
    while (!signal.aborted) {
      try {
        secret ??= await keptSecret();
        me = await parts.identify(signal);
        await client.raw.setWebhook(
          { url, secret_token: secret, max_connections: connectionsMax, allowed_updates: allowedUpdates },
          signal as never,
        );
        return health.up();
      } catch (error) {
        if (signal.aborted || !(await endured(error))) return;
      }
    }
  }

  async function endured(error: unknown): Promise<boolean> {
    const failure = failureOf(error);
    if (failure.kind === 'refused' && failure.code === 400) {
      health.failed(`Telegram does not take the webhook address (${failure.description}): check gateway.public_url`);
      return false;
    }
    const trouble = troubleOf(failure, context.channel);
    if (trouble.fatal) {
      health.failed(trouble.reason);
      return false;
    }
    health.down(trouble.reason);
    await backoff.wait(signal, trouble.waitMs).catch(() => {});
    return true;
  }

  async function http({ request, path }: ChannelRequest): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const shown = request.headers.get(secretHeader);
    if (shown === null) return new Response(null, { status: 401 });
    if (secret === undefined) return new Response(null, { status: 503 });
    if (!sameSecret(shown, secret)) return new Response(null, { status: 403 });
    if (path !== '/' && path !== '') return new Response(null, { status: 404 });
    if (signal.aborted || me === undefined) return new Response(null, { status: 503 });
    const body = await boundedText(request);
    if (body === undefined) return new Response(null, { status: 413 });
    let update: unknown;
    try {
      update = JSON.parse(body);
    } catch {
      // Cut off on the way: Telegram sends it again.
      return new Response(null, { status: 400 });
    }
    const { left } = await intake.take([update], me);
    if (left.length > 0) context.count('store_retries');
    // No body: Telegram would read one as a method to call.
    return new Response(null, { status: left.length === 0 ? 200 : 503 });
  }

  return {
    run: () => (running = run()),
    http,
    async stop() {
      stopping.abort();
      await intake.stop();
      await running;
    },
  };
}

/** Undefined when the body is longer than the gateway takes. */
async function boundedText(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get('content-length')) > limits.httpBodyBytesMax) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (request.body)
    for await (const chunk of request.body) {
      bytes += chunk.byteLength;
      if (bytes > limits.httpBodyBytesMax) return undefined;
      chunks.push(chunk);
    }
  return Buffer.concat(chunks).toString('utf8');
}
