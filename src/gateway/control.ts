/** What the commands of the control socket do. Those that need only the database work without a running gateway. */
import type { ApprovalParts } from '../approvals/parts.ts';
import { accountName, splitAccount } from '../base/account.ts';
import { GatehouseError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { commandName } from '../base/program.ts';
import { startOfDay } from '../base/time.ts';
import type {
  ClaimResult,
  LinkResult,
  PairListResult,
  PairResult,
  StatusResult,
  UsageResult,
} from '../control/results.ts';
import type { ControlHandler } from '../control/server.ts';
import { admitAndTell, admitCodeAndTell } from '../inbox/admit_and_tell.ts';
import { mintClaim } from '../people/admission.ts';
import { listPairings } from '../store/accounts.ts';
import type { Db } from '../store/db.ts';
import { countAllWaiting } from '../store/inbox.ts';
import { usageByAgent } from '../store/ledger.ts';
import { outboxBacklog } from '../store/outbox.ts';
import { countActiveRuns } from '../store/runs.ts';
import type { SignedIn } from '../store/sessions.ts';
import type { AdmissionFacts, Settings } from '../types/settings.ts';
import { wordsFor } from '../words/index.ts';
import type { ChannelReport } from './channels.ts';
import { accessHandlers } from './control_access.ts';
import { approvalHandlers } from './control_approvals.ts';
import { type PolicyParts, policyHandlers } from './control_policy.ts';

export interface OfflineParts extends PolicyParts {
  db: Db;
  now: () => number;
  timezone: string;
  language: string;
  /** Undefined = no such channel. */
  factsOf: (channel: string) => AdmissionFacts | undefined;
  /** Of the running gateway. */
  approvals?: ApprovalParts;
}

const dayMs = 24 * 3_600_000;

/** Commands on the database alone. */
export function offlineHandlers(parts: OfflineParts): Record<string, ControlHandler> {
  const { db, now } = parts;
  return {
    ...accessHandlers(parts),
    ...approvalHandlers(parts),
    ...policyHandlers(parts),
    async pair(args): Promise<PairListResult | PairResult> {
      if (args.action === 'list') {
        const pending = await listPairings(db, now());
        return { pending: pending.map((one) => ({ ...one, account: accountName(one) })) };
      }
      const words = wordsFor(null, parts.language);
      const by = { actor: 'cli', asAdmin: args.admin === true };
      if (args.action === 'code') {
        const admitted = await db.tx((q) => admitCodeAndTell(q, String(args.code), by, words, now()));
        if (!admitted)
          throw new GatehouseError('not_found', 'no open request has that code', {
            hint: `codes are good for one hour; "${commandName()} pair list" shows who waits`,
          });
        return { account: accountName(admitted), name: admitted.name, isAdmin: by.asAdmin };
      }
      const account = String(args.account);
      const { channel, userId: id } = splitAccount(account);
      const facts = parts.factsOf(channel);
      if (!facts)
        throw new GatehouseError('not_found', `there is no channel "${channel}"`, {
          hint: 'write <channel>:<user id> with a key under channels: of the config file',
        });
      const admitted = await db.tx((q) => admitAndTell(q, { channel, id }, facts, by, words, now()));
      return { account, name: admitted?.name ?? '', isAdmin: by.asAdmin };
    },
    async usage(args): Promise<UsageResult> {
      const since = startOfDay(now(), parts.timezone) - (Number(args.days ?? 30) - 1) * dayMs;
      return { since, rows: await usageByAgent(db, since) };
    },
  };
}

export interface OnlineParts extends OfflineParts {
  version: string;
  startedAt: number;
  url: string;
  settings: () => Settings;
  reports: () => ChannelReport[];
  signInLink: (name: string | null) => Promise<string>;
  /** Whom that link signs in. */
  whoSignsIn: (name: string | null) => SignedIn;
  /** Only programs on this machine reach `url`. */
  localOnly: boolean;
}

/** Everything but `reload` and `stop`, which belong to the process. */
export function onlineHandlers(parts: OnlineParts): Record<string, ControlHandler> {
  const { db, now } = parts;
  return {
    ...offlineHandlers(parts),
    async link(args): Promise<LinkResult> {
      const name = typeof args.name === 'string' ? args.name : null;
      const who = parts.whoSignsIn(name);
      return {
        url: await parts.signInLink(name),
        expiresAt: now() + limits.signInLinkMs,
        account: accountName(who),
        name: who.name,
        isOwner: name === null,
        localOnly: parts.localOnly,
      };
    },
    async claim(): Promise<ClaimResult> {
      const code = await db.tx((q) => mintClaim(q, parts.settings().admins.size, now()));
      return { code, expiresAt: code === null ? null : now() + limits.claimMs };
    },
    async status(): Promise<StatusResult> {
      const [active, waiting, backlog] = await Promise.all([
        countActiveRuns(db),
        countAllWaiting(db),
        outboxBacklog(db),
      ]);
      return {
        version: parts.version,
        pid: process.pid,
        startedAt: parts.startedAt,
        url: parts.url,
        channels: parts.reports().map(({ name, type, state, reason }) => ({
          name,
          type,
          state,
          ...(reason === undefined ? {} : { reason }),
        })),
        runs: { active, waiting },
        outbox: { waiting: backlog.count },
      };
    },
  };
}
