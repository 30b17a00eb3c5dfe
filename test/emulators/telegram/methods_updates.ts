import { flag, integer, structure, text } from './arguments.ts';
import type { Request } from './server.ts';
import type { UpdateQueue } from './updates.ts';
import type { Webhook } from './webhook.ts';
import { badRequest } from './wire.ts';

const secretCharsMax = 256;

export function updateMethods(queue: UpdateQueue, webhook: Webhook): Record<string, (request: Request) => unknown> {
  return {
    getUpdates({ args, onClose }) {
      queue.allow(structure(args, 'allowed_updates', 'allowed updates'));
      const offset = integer(args, 'offset') ?? 0;
      const limit = integer(args, 'limit') ?? 100;
      return queue.poll({ offset, limit, timeout: integer(args, 'timeout') ?? 0 }, { onClose });
    },

    setWebhook({ args }) {
      const url = text(args, 'url');
      const secret = text(args, 'secret_token');
      if (secret.length > secretCharsMax) throw badRequest('secret token is too long');
      if (!/^[A-Za-z0-9_-]*$/.test(secret)) throw badRequest('secret token contains unallowed characters');
      const loopback = /^http:\/\/(127\.0\.0\.1|localhost)(:|\/|$)/.test(url);
      if (url !== '' && !/^https:\/\//.test(url) && !loopback) {
        throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
      }
      queue.allow(structure(args, 'allowed_updates', 'allowed updates'));
      if (flag(args, 'drop_pending_updates')) queue.clear();
      if (url === '') webhook.clear();
      else webhook.set({ url, secret, connections: integer(args, 'max_connections') ?? 40 });
      return true;
    },
    deleteWebhook({ args }) {
      if (flag(args, 'drop_pending_updates')) queue.clear();
      webhook.clear();
      return true;
    },
    getWebhookInfo: () => ({
      url: webhook.url,
      has_custom_certificate: false,
      pending_update_count: queue.pending.length,
      ...(webhook.lastError && {
        last_error_date: Math.floor(webhook.lastError.at / 1000),
        last_error_message: webhook.lastError.message,
      }),
      ...(webhook.url !== '' && { max_connections: webhook.connections }),
      ...(queue.allowed && { allowed_updates: [...queue.allowed] }),
    }),
  };
}
