/** What the command `approvals` does, with or without a running gateway. The operator acts as an admin named `cli`. */
import { type ApprovalView, decideById, listApprovals, readApprovalView } from '../approvals/api.ts';
import type { ApprovalParts } from '../approvals/parts.ts';
import { operator } from '../approvals/rule.ts';
import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import type { ApprovalDecisionResult, ApprovalListResult, ApprovalResult } from '../control/results.ts';
import type { ControlHandler } from '../control/server.ts';
import type { Db } from '../store/db.ts';

export interface ApprovalCommandParts {
  db: Db;
  now: () => number;
  timezone: string;
  language: string;
  /** Of the running gateway; absent without one. */
  approvals?: ApprovalParts;
}

/** A code is looked for among so many pending ones. */
const pendingMax = 10_000;

export function approvalHandlers({ db, now, ...parts }: ApprovalCommandParts): Record<string, ControlHandler> {
  const approvals = parts.approvals ?? withoutGateway(parts);

  async function find(idOrCode: string): Promise<ApprovalView> {
    const byId = await readApprovalView(db, approvals, operator, idOrCode);
    if (byId) return byId;
    const code = idOrCode.toUpperCase();
    const pending = await listApprovals(db, approvals, operator, { state: 'pending', limit: pendingMax });
    const [found, other] = pending.filter((view) => view.code === code);
    if (found && other)
      throw new GatehouseError('invalid', `several open questions have the code ${code}`, {
        hint: `name one by its id: "${commandName()} approvals list" shows them`,
      });
    if (found) return found;
    throw new GatehouseError('not_found', `there is no approval ${idOrCode}`, {
      hint: `"${commandName()} approvals list --all" shows all with their ids`,
    });
  }

  return {
    async approvals(args): Promise<ApprovalListResult | ApprovalResult | ApprovalDecisionResult> {
      if (args.action === 'list') {
        const limit = Number(args.limit);
        const pending = await listApprovals(db, approvals, operator, { state: 'pending', limit });
        const decided =
          args.all === true ? await listApprovals(db, approvals, operator, { state: 'decided', limit }) : [];
        return { approvals: [...pending, ...decided] };
      }
      const view = await find(String(args.id));
      if (args.action === 'show') return { approval: view };
      const choice = args.action === 'deny' ? 'deny' : 'approve';
      const reason = typeof args.reason === 'string' ? args.reason : null;
      const outcome = await decideById(db, approvals, view.id, { choice, reason, viewer: operator }, now());
      if (outcome.ok) return { id: view.id, state: outcome.state, notice: outcome.words };
      throw new GatehouseError(outcome.why === 'unknown' ? 'not_found' : 'refused', outcome.words);
    },
  };
}

/** Cards are redrawn in a way that fits every platform, and sent when the gateway runs again. */
function withoutGateway({ language, timezone }: Pick<ApprovalCommandParts, 'language' | 'timezone'>): ApprovalParts {
  return {
    settings: () => ({ language, timezone, admins: new Set(), channels: new Map() }),
    adapterOf: () => undefined,
    count() {},
  };
}
