/** Telegram, as a plug-in: bots of the Bot API, by polling or webhook. README.md tells what it does and does not. */
import { GatehouseError } from '../../src/base/errors.ts';
import type { Adapter, AdapterContext, AdapterPlugin, Features } from '../../src/types/adapter.ts';
import { createClient } from './client.ts';
import { deliveryErrorOf, failureOf, isGone } from './failures.ts';
import { download, fileBytesMax } from './files.ts';
import { createHealth } from './health.ts';
import { createIntake } from './intake.ts';
import { buttonDataBytesMax, buttonsPerMessageMax, buttonsPerRowMax } from './keyboard.ts';
import { createLive } from './live.ts';
import type { Me } from './parse.ts';
import { createPresses } from './presses.ts';
import { createPolling, type Receiver } from './receive.ts';
import { measure, textLengthMax } from './render.ts';
import { chatId, createSender } from './send.ts';
import { createWebhook, type Webhook } from './webhook.ts';

export interface TelegramConfig {
  token: string;
  mode: 'polling' | 'webhook';
  webhook_secret: string | null;
  api_url: string;
}

const defaultApiUrl = 'https://api.telegram.org';

const features: Features = {
  buttons: true,
  edits: true,
  streaming: 'edits',
  threads: 'given',
  typing: true,
  reactions: true,
  files: true,
  history: false,
  directory: false,
  ephemeral: true,
  deletions: false,
  reconcile: false,
};

export const adapter: AdapterPlugin<TelegramConfig> = {
  type: 'telegram',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['token'],
    properties: {
      token: { type: 'string', minLength: 1, 'x-secret': true, description: 'The bot token that @BotFather gave.' },
      mode: {
        enum: ['polling', 'webhook'],
        default: 'polling',
        description: 'How messages come in: `polling` asks Telegram, `webhook` is called by it (needs public_url).',
      },
      webhook_secret: {
        type: ['string', 'null'],
        pattern: '^[A-Za-z0-9_-]{1,256}$',
        default: null,
        'x-secret': true,
        description: 'What Telegram must show with every webhook call. Absent = one is made and kept.',
      },
      api_url: {
        type: 'string',
        pattern: '^https?://',
        default: defaultApiUrl,
        description: 'The Bot API server, for a server of your own or a test double.',
      },
    },
  },
  defaultAccess: { direct: 'pairing', group: 'open' },
  groupsNeedAdmission: true,
  accountIds: {
    pattern: '^[0-9]{1,16}$',
    hint: 'on Telegram a number',
  },
  groupIds: { pattern: '^-[0-9]{1,16}$' },
  create,
};

function create(config: TelegramConfig, context: AdapterContext): Adapter {
  const token = config.token.trim();
  const client = createClient({ token, apiUrl: config.api_url, clock: context.clock });
  const sender = createSender(client, context.log);
  const live = createLive(client, context.clock);
  const presses = createPresses(client, context);
  let receiver: Receiver | undefined;
  let webhook: Webhook | undefined;

  let me: Me | undefined;
  /** Mentions cannot be told without our own name; it is asked for once. */
  async function identify(signal: AbortSignal): Promise<Me> {
    if (me) return me;
    const bot = await client.raw.getMe(signal as never);
    me = { id: bot.id, username: bot.username };
    context.log.info({ bot: bot.id, username: bot.username, seesAll: bot.can_read_all_group_messages }, 'Telegram bot');
    return me;
  }

  /** Before the start there is nobody to store anything: 503 makes Telegram come again. */
  const unheard = () => new Response(null, { status: config.mode === 'webhook' ? 503 : 404 });

  return {
    features,
    // A second poll ends the first one with 409; a webhook may be answered by any process.
    singleConsumer: config.mode !== 'webhook',
    limits: {
      textLength: textLengthMax,
      measure,
      directPerSecond: 1,
      groupPerMinute: 20,
      accountPerSecond: 30,
      buttonsPerMessage: buttonsPerMessageMax,
      buttonsPerRow: buttonsPerRowMax,
      buttonDataBytes: buttonDataBytesMax,
      fileBytesMax,
    },
    async start(sink) {
      const health = createHealth(context);
      if (/[\s/?#%]/.test(token))
        return health.failed(
          `channels.${context.channel}.token has characters that no bot token has: copy it from @BotFather again`,
        );
      const parts = { client, context, health, intake: createIntake(context, presses, sink), identify };
      if (config.mode === 'webhook') receiver = webhook = createWebhook({ ...parts, secret: config.webhook_secret });
      else receiver = createPolling(parts);
      receiver.run().catch((error: unknown) => {
        context.log.error({ err: error }, 'receiving from Telegram ended by a bug');
        health.failed('receiving ended by a bug, see the log; restart the gateway');
      });
      await health.known;
    },
    async send(message, signal) {
      if (message.answerId !== undefined) await live.settle(message.place, message.answerId);
      return sender.send(message, signal);
    },
    edit: sender.edit,
    remove: sender.remove,
    react: sender.react,
    preview: live.preview,
    async setStatus(place, status) {
      // A typing sign goes by itself after 5 s or with the next message; it cannot be taken away.
      if (status) await live.typing(place);
    },
    download: (file, signal) => download(client, file, signal),
    async registerCommands(commands) {
      try {
        await client.raw.setMyCommands({
          commands: commands.map(({ name, description }) => ({
            command: name,
            description: description.slice(0, 256),
          })),
        });
      } catch (error) {
        throw deliveryErrorOf(error);
      }
    },
    lookup: {
      /** Fails closed: a chat that cannot be asked throws. */
      async isMember(chat, user) {
        try {
          const member = await client.raw.getChatMember({ chat_id: chatId({ chat }), user_id: Number(user) });
          if (member.status === 'restricted') return member.is_member;
          return member.status === 'member' || member.status === 'administrator' || member.status === 'creator';
        } catch (error) {
          if (isGone(failureOf(error))) return false;
          throw unavailable(error);
        }
      },
      async chat(chat) {
        try {
          const found = await client.raw.getChat({ chat_id: chatId({ chat }) });
          return { title: found.title ?? [found.first_name, found.last_name].filter(Boolean).join(' ') };
        } catch (error) {
          throw unavailable(error);
        }
      },
    },
    http: async (request) => webhook?.http(request) ?? unheard(),
    authorize: (request) => (webhook ? webhook.authorize(request) : unheard()),
    async stop() {
      await receiver?.stop();
    },
    async close() {
      await presses.close();
      client.close();
    },
  };
}

function unavailable(error: unknown): GatehouseError {
  return new GatehouseError('unavailable', `Telegram cannot tell: ${failureOf(error).description}.`);
}
