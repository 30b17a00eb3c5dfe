/**
 * Updates pushed by Telegram. The secret header is checked before anything of a request is read (rule 9), and 200 is
 * said only after the inbox has stored the update (D1); anything else makes Telegram deliver it again.
 */
import { GrammyError } from 'grammy';
import { sameSecret } from '../../src/base/digest.ts';
import { newToken } from '../../src/base/ids.ts';
import type { ChannelRequest } from '../../src/types/adapter.ts';
import { createBackoff } from './backoff.ts';
import { endure } from './health.ts';
import { allowedUpdates, type Me } from './parse.ts';
import type { Receiver, ReceiverParts } from './receive.ts';

const secretHeader = 'x-telegram-bot-api-secret-token';
const secretKey = 'webhook_secret';
/** Telegram's default; it serialises the updates of one chat by itself. */
const connectionsMax = 40;

export interface Webhook extends Receiver {
  http(request: ChannelRequest): Promise<Response>;
  /** Reads nothing of the body. */
  authorize(request: ChannelRequest): Response | null;
}

interface WebhookParts extends ReceiverParts {
  /** From the configuration; null = one is made and kept. */
  secret: string | null;
}

export function createWebhook(parts: WebhookParts): Webhook {
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
    const url = `${context.publicUrl}/telegram/${context.channel}`;
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
    if (!(error instanceof GrammyError) || error.error_code !== 400)
      return endure(error, { context, health, backoff, signal });
    health.failed(`Telegram does not take the webhook address (${error.description}): check gateway.public_url`);
    return false;
  }

  function authorize({ request, path }: ChannelRequest): Response | null {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const shown = request.headers.get(secretHeader);
    if (shown === null) return new Response(null, { status: 401 });
    if (secret === undefined) return new Response(null, { status: 503 });
    if (!sameSecret(shown, secret)) return new Response(null, { status: 403 });
    if (path !== '/' && path !== '') return new Response(null, { status: 404 });
    return signal.aborted || me === undefined ? new Response(null, { status: 503 }) : null;
  }

  async function http(asked: ChannelRequest): Promise<Response> {
    const refusal = authorize(asked);
    if (refusal || me === undefined) return refusal ?? new Response(null, { status: 503 });
    let update: unknown;
    try {
      // The gateway's HTTP port has bounded the body already.
      update = JSON.parse(await asked.request.text());
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
    authorize,
    async stop() {
      stopping.abort();
      await intake.stop();
      await running;
    },
  };
}
