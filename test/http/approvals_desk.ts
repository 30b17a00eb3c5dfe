/** A desk with a few questions that the test decides about itself, in the place of the core. */
import type { ApprovalDesk, ApprovalView, Decided, DeskDecision } from '../../src/http/approvals_api.ts';

export interface Desk extends ApprovalDesk {
  views: ApprovalView[];
  asked: { account: string; id: string; choice: DeskDecision; reason: string | null }[];
  /** Changes a question as if it were decided elsewhere. */
  set(id: string, change: Partial<ApprovalView>): void;
  /** What the next decision is answered; null = it is done. */
  refusal: (Decided & { ok: false }) | null;
  /** A decision waits for this. */
  held: Promise<void>;
}

export function createDesk(...views: ApprovalView[]): Desk {
  const desk: Desk = {
    views,
    asked: [],
    refusal: null,
    held: Promise.resolve(),
    set(id, change) {
      desk.views = desk.views.map((view) => (view.id === id ? { ...view, ...change } : view));
    },
    async list(_who, { state, limit }) {
      return desk.views.filter((view) => (view.state === 'pending') === (state === 'pending')).slice(0, limit);
    },
    async decide(who, id, { choice, reason }) {
      desk.asked.push({ account: `${who.channel}:${who.userId}`, id, choice, reason });
      await desk.held;
      if (desk.refusal) return desk.refusal;
      const state = choice === 'deny' ? 'denied' : choice === 'withdraw' ? 'withdrawn' : 'approved';
      desk.set(id, { state, decidedBy: who.name, decidedAt: Date.now(), reason, mayDecide: false });
      return { ok: true, state };
    },
  };
  return desk;
}

export function question(id: string, change: Partial<ApprovalView> = {}): ApprovalView {
  const now = Date.now();
  return {
    id,
    code: '4K7',
    state: 'pending',
    capability: 'skill:cache_cleaner',
    tool: 'cache_cleaner',
    name: 'cache_cleaner',
    input: '{"folder":"/var/cache","older_than_days":30}',
    message: 'I would like to clear old caches.',
    agent: 'helper',
    binding: 'page',
    place: { channel: 'web', chat: 'bob' },
    requester: { account: 'web:bob', name: 'Bob' },
    approvers: 'admins',
    dual: false,
    signatures: [],
    createdAt: now - 180_000,
    expiresAt: now + 71 * 3_600_000 + 60_000,
    decidedBy: null,
    decidedAt: null,
    reason: null,
    question: false,
    options: null,
    mayDecide: true,
    grantable: null,
    ...change,
  };
}
