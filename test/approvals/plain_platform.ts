/** A platform in small that a test holds in its hands: what it cannot do elsewhere (deletions, answers that do not come). */
import type { Adapter, AdapterPlugin, Inbox, Receipt } from '../../src/types/adapter.ts';
import type { InboundEvent, OutgoingMessage } from '../../src/types/message.ts';
import { noFeatures } from '../support/no_features.ts';
import { createWatch } from '../support/watch.ts';

export interface PlainPlatform {
  plugin: AdapterPlugin;
  sent: OutgoingMessage[];
  edited: { ref: string; message: OutgoingMessage }[];
  accept(event: InboundEvent): Promise<Receipt | undefined>;
  /** The first message that was sent with these words. */
  sends(words: string): Promise<OutgoingMessage>;
  edits(words: string): Promise<{ ref: string; message: OutgoingMessage }>;
  /** While it is open, messages stand there and the bot is not told. */
  hold: Promise<void> | null;
}

export function createPlainPlatform(): PlainPlatform {
  const { changed, until } = createWatch(() => JSON.stringify(platform.sent.map(({ markdown }) => markdown)));
  let inbox: Inbox | undefined;
  let up = () => {};
  const adapter: Adapter = {
    features: { ...noFeatures, buttons: true, edits: true, deletions: true },
    limits: {
      textLength: 4_000,
      measure: (text) => text.length,
      directPerSecond: 100,
      groupPerMinute: 1_000,
      accountPerSecond: 100,
      buttonsPerMessage: 20,
      buttonsPerRow: 5,
      buttonDataBytes: 64,
      fileBytesMax: 0,
    },
    async start(sink) {
      inbox = sink;
      up();
      changed();
    },
    async stop() {},
    async send(message) {
      const ref = String(platform.sent.push(message));
      changed();
      await platform.hold;
      return { ref };
    },
    async edit(ref, message) {
      platform.edited.push({ ref, message });
      changed();
    },
  };
  const platform: PlainPlatform = {
    plugin: {
      type: 'plain',
      configSchema: { type: 'object', properties: {}, additionalProperties: false },
      defaultAccess: { direct: 'open', group: 'open' },
      groupsNeedAdmission: false,
      create: (_config, context) => {
        up = () => context.report('up');
        return adapter;
      },
    },
    sent: [],
    edited: [],
    accept: async (event) => (await until('the start', () => inbox)).accept(event),
    sends: (words) => until(words, () => platform.sent.find(({ markdown }) => markdown.includes(words))),
    edits: (words) => until(words, () => platform.edited.find(({ message }) => message.markdown.includes(words))),
    hold: null,
  };
  return platform;
}
