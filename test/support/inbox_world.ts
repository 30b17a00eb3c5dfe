/** The accepting side alone, over a real database and a clock that stands still: what the routing rules are tested on. */
import { createInbox } from '../../src/inbox/accept.ts';
import { createDispatch } from '../../src/inbox/dispatch.ts';
import type { Db } from '../../src/store/db.ts';
import type { Inbox } from '../../src/types/adapter.ts';
import type { CapabilityPlugin } from '../../src/types/capability.ts';
import type { IncomingMessage, Sender } from '../../src/types/message.ts';
import type { ChannelFacts, Settings } from '../../src/types/settings.ts';
import type { AgentSpec, BindingSpec } from '../../src/types/spec.ts';
import { createFakeClock, type FakeClock } from './fake_clock.ts';
import { silentLog } from './silent_log.ts';

export const agentSpec: AgentSpec = {
  id: 'helper',
  name: 'Helper',
  model: 'main',
  instructions: 'You help.',
  permissionMode: 'mutating-with-confirm',
  limits: { maxSteps: 25, runTimeoutMs: 900_000, budgetUsd: { run: null, day: null } },
  capabilities: [],
};

export function bindingSpec(over: Partial<BindingSpec> = {}): BindingSpec {
  return {
    id: 'main',
    agent: 'helper',
    channel: 'tg',
    where: { chats: ['-1'], direct: true },
    scope: 'thread',
    directThreads: false,
    trigger: 'mention',
    prompt: null,
    access: { direct: 'open', group: 'open', allow: [], rateLimit: null },
    onBusy: 'queue',
    bots: 'ignore',
    stream: true,
    footer: { when: 'near_limit' },
    approvals: { approvers: 'requester', expiresMs: 259_200_000, waive: false },
    budgetUsd: { day: null },
    ...over,
  };
}

const telegram: ChannelFacts = { threads: 'given', groupsNeedAdmission: true, accountIds: { pattern: '^[a-z0-9]+$' } };

export interface Said {
  id: string;
  channel: string;
  chat: string;
  thread: string | null;
  markdown: string;
}

export interface InboxWorld {
  db: Db;
  clock: FakeClock;
  settings: Settings;
  inbox: (channel?: string) => Inbox;
  /** A direct message of the user, or with `chat: '-1'` one in that group. Returns the event, for redelivery. */
  say(user: string, text: string, over?: Partial<IncomingMessage>): Promise<IncomingMessage>;
  /** What the outbox holds, oldest first. */
  outbox(): Promise<Said[]>;
  /** Inbox states in order of arrival. */
  states(): Promise<string[]>;
  /** Lets the dispatcher make the runs that are due, and returns all runs so far. */
  dispatch(): Promise<{ id: string; conversation: string; user: string; state: string; messages: string[] }[]>;
  counts: Record<string, number>;
}

export function createInboxWorld(
  db: Db,
  over: {
    bindings?: BindingSpec[];
    admins?: string[];
    channels?: Record<string, ChannelFacts>;
    language?: string;
    capabilities?: CapabilityPlugin[];
  } = {},
): InboxWorld {
  const clock = createFakeClock();
  const counts: Record<string, number> = {};
  const settings: Settings = {
    gatewayName: 'Gatehouse',
    language: over.language ?? 'en',
    timezone: 'UTC',
    runsMax: 64,
    bindings: over.bindings ?? [bindingSpec()],
    agents: new Map([['helper', { version: 1, spec: agentSpec }]]),
    models: {},
    admins: new Set(over.admins ?? []),
    policies: {},
    channels: new Map(Object.entries(over.channels ?? { tg: telegram })),
  };
  const parts = {
    db,
    clock,
    log: silentLog,
    settings: () => settings,
    capabilities: () => over.capabilities ?? [],
    limitsOf: () => ({ textLength: 4096, measure: (text: string) => text.length }),
    approvals: { settings: () => settings, adapterOf: () => undefined, count: () => {} },
    count: (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    },
  };
  let next = 1;
  const inboxes = new Map<string, Inbox>();
  const inbox = (channel = 'tg') => {
    const known = inboxes.get(channel) ?? createInbox(parts, channel);
    inboxes.set(channel, known);
    return known;
  };
  return {
    db,
    clock,
    settings,
    inbox,
    counts,
    async say(user, text, changes = {}) {
      const messageId = String(next++);
      const chat = changes.chat ?? { id: user, kind: 'direct' as const };
      const message: IncomingMessage = {
        kind: 'message',
        key: `m:${chat.id}:${messageId}:0`,
        chat,
        messageId,
        sender: sender(user),
        text,
        mentionsBot: false,
        files: [],
        sentAt: clock.now(),
        ...changes,
      };
      await inbox().accept(message);
      return message;
    },
    async outbox() {
      return db.all<Said>('select id, channel, chat, thread, body as markdown from outbox order by id');
    },
    async states() {
      const rows = await db.all<{ state: string }>('select state from inbox order by id');
      return rows.map((row) => row.state);
    },
    async dispatch() {
      const stage = createDispatch({ db, clock, log: silentLog, settings: () => settings });
      stage.start();
      await stage.stop();
      const runs = await db.all<{ id: string; conversation: string; user: string; state: string }>(
        'select id, conversation_id as conversation, user_id as user, state from runs order by id',
      );
      const texts = await db.all<{ run_id: string; payload: string | null }>(
        'select run_id, payload from inbox where run_id is not null order by id',
      );
      return runs.map((run) => ({
        ...run,
        messages: texts
          .filter((row) => row.run_id === run.id)
          .map((row) => JSON.parse(row.payload ?? '{}').text as string),
      }));
    },
  };
}

export function sender(id: string, over: Partial<Sender> = {}): Sender {
  return { id, name: id, kind: 'human', membership: 'full', ...over };
}

export const group = { id: '-1', kind: 'group' as const, title: 'Ops' };
