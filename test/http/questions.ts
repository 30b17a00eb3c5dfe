/** Real questions in the real store, put there without a run that would ask them. */
import { actorOf } from '../../src/approvals/actor.ts';
import { type ByIdOutcome, decideById } from '../../src/approvals/api.ts';
import type { ApprovalParts } from '../../src/approvals/parts.ts';
import { ensureAccount, setAdmin } from '../../src/store/accounts.ts';
import { addApproval, type NewApproval } from '../../src/store/approvals.ts';
import { openConversation } from '../../src/store/conversations.ts';
import type { Db } from '../../src/store/db.ts';
import { addRun, parkRun } from '../../src/store/runs.ts';
import type { Choice } from '../../src/types/approval.ts';

const minuteMs = 60_000;

export const approvalParts: ApprovalParts = {
  settings: () => ({
    language: 'en',
    timezone: 'UTC',
    admins: new Set<string>(),
    channels: new Map([
      ['web', { threads: false, groupsNeedAdmission: false }],
      ['work', { threads: 'open', groupsNeedAdmission: false }],
    ]),
  }),
  adapterOf: () => undefined,
  count() {},
};

/** An account of the page; the id of its person is `person-<id>`. */
export async function addPerson(db: Db, id: string, name: string, admin = false): Promise<void> {
  await ensureAccount(db, 'web', { id, name }, `person-${id}`, 1);
  if (admin) await setAdmin(db, 'web', id, true);
}

/** Asked by Bob in his chat three minutes ago, for Ada to decide; its run is parked. */
export async function addQuestion(db: Db, id: string, change: Partial<NewApproval> = {}): Promise<void> {
  const now = Date.now();
  const place = change.place ?? { channel: 'web', chat: 'bob' };
  const conversation = {
    id: `conversation-${id}`,
    key: `key-${id}`,
    binding: 'page',
    place,
    audience: 'direct' as const,
  };
  const { id: conversationId } = await openConversation(db, conversation, now);
  const run = {
    agent: 'helper',
    agentVersion: 1,
    binding: 'page',
    place,
    replyTo: null,
    userId: 'bob',
    createdAt: now,
  };
  await db.tx((q) => addRun(q, { ...run, id: `run-${id}`, conversationId }));
  await parkRun(db, `run-${id}`, 0, 0);
  await addApproval(db, {
    id,
    batch: `batch-${id}`,
    position: 0,
    runId: `run-${id}`,
    step: 1,
    callId: 'call-1',
    kind: 'tool',
    agent: 'helper',
    binding: 'page',
    place,
    direct: true,
    requester: 'person-bob',
    requesterAccount: 'web:bob',
    capability: 'skill:cache_cleaner',
    tool: 'cache_cleaner',
    name: 'cache_cleaner',
    definition: 'definition',
    digest: 'digest',
    argumentsDigest: 'arguments',
    input: '{\n  "folder": "/var/cache",\n  "older_than_days": 30\n}',
    message: 'I would like to clear old caches.',
    options: null,
    approvers: ['web:ada'],
    dual: false,
    grantable: null,
    shownTo: [],
    code: '4K7',
    createdAt: now - 3 * minuteMs,
    expiresAt: now + 71 * 60 * minuteMs + minuteMs,
    ...change,
  });
}

/** As somebody else does it meanwhile, in a chat or on the command line. */
export async function decideAs(
  db: Db,
  user: string,
  id: string,
  choice: Exclude<Choice, 'details'>,
  reason: string | null = null,
): Promise<ByIdOutcome> {
  const sender = { id: user, name: user, membership: 'full' } as const;
  const viewer = await actorOf(db, approvalParts.settings(), 'web', sender, null);
  return decideById(db, approvalParts, id, { choice, reason, viewer }, Date.now());
}

/** What is kept of a question. */
export async function kept(db: Db, id: string): Promise<Record<string, unknown> | undefined> {
  return db.get('select state, decided_by as by, reason, answer from approvals where id = ?', id);
}
