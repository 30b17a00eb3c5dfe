/** What the commands of the control socket answer, by name. `src/main.ts` implements them, the command line prints them. */

import type { ApprovalView } from '../approvals/api.ts';
import type { ShownRule } from '../tools/admin_rules.ts';
import type { ApprovalState } from '../types/approval.ts';
import type { Effect, Verdict } from '../types/tool.ts';

/** `reload`: the new configuration is in use. A bad file is a GatehouseError('config') and changes nothing. */
export interface ReloadResult {
  /** Lines about the file: warnings, notices, keys that are not available yet, what takes effect only after a restart. */
  remarks: string[];
}

/** `link` with `{ name? }`: a one-time link that signs in the owner, or another person of that name. */
export interface LinkResult {
  url: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Whom it signs in: `<channel>:<user id>`, and the name. */
  account: string;
  name: string;
  isOwner: boolean;
  /** No other machine reaches that address. */
  localOnly: boolean;
}

/** `claim`: a code that makes whoever sends it to the bot the first admin; null when there is an admin. */
export interface ClaimResult {
  code: string | null;
  expiresAt: number | null;
}

/** `pair` with `{ action: 'list' }`. */
export interface PairListResult {
  pending: { account: string; name: string; createdAt: number; expiresAt: number }[];
}
/** `pair` with `{ action: 'code', code, admin? }` or `{ action: 'account', account, admin? }`. */
export interface PairResult {
  account: string;
  name: string;
  /** It was given the admin role too. */
  isAdmin: boolean;
}

interface ListedToken {
  id: string;
  /** Whom it speaks for. */
  account: string;
  label: string;
  createdAt: number;
  /** null = never. */
  expiresAt: number | null;
  lastUsedAt: number | null;
}

/** `token` with `{ action: 'create', account, label, lifeMs }`; the token is told this once. */
export interface TokenResult extends ListedToken {
  token: string;
}

/** `token` with `{ action: 'list' }`. */
export interface TokenListResult {
  tokens: ListedToken[];
}

/** `token` with `{ action: 'revoke', id }`. */
export interface TokenRevokeResult {
  id: string;
  account: string;
}

/** `audit` with `{ limit }`: the newest first. */
export interface AuditResult {
  entries: {
    id: string;
    at: number;
    /** `<channel>:<user id>`, `cli` or `gateway`. */
    actor: string;
    action: string;
    subject: string;
    before?: unknown;
    after?: unknown;
  }[];
}

/** `approvals` with `{ action: 'list', all?, limit }`: pending ones first, each the newest first. */
export interface ApprovalListResult {
  approvals: ApprovalView[];
}

/** `approvals` with `{ action: 'show', id }`. */
export interface ApprovalResult {
  approval: ApprovalView;
}

/** `approvals` with `{ action: 'approve' | 'deny', id, reason? }`. */
export interface ApprovalDecisionResult {
  id: string;
  /** `pending` where another person must approve too. */
  state: ApprovalState;
  notice: string;
}

/** `policy` with `{ action: 'list', person? }`. */
export interface PolicyListResult {
  admin: ShownRule[];
  person: {
    account: string;
    own: ShownRule[];
    /** What is always allowed; `exact`: with the same arguments only. Not valid once the tool has changed. */
    grants: {
      id: string;
      agent: string;
      capability: string;
      tool: string;
      exact: boolean;
      isValid: boolean;
      setBy: string;
      setAt: number;
    }[];
  } | null;
}

/** `policy` with `{ action: 'set', capability, tool, verdict, person? }` or `{ action: 'unset', capability, tool, person? }`. */
export interface PolicyChangeResult {
  capability: string;
  tool: string;
  /** Null = no rule any more. */
  verdict: Verdict | null;
  before: Verdict | null;
  /** Whose rule it is; null = everybody's. */
  account: string | null;
}

/** `policy` with `{ action: 'forget', id }`. */
export interface PolicyForgetResult {
  id: string;
  agent: string;
  capability: string;
  tool: string;
  setBy: string;
}

/** `tools` with `{ agent, binding?, person?, audience? }`. */
export interface ToolsResult {
  agent: string;
  binding: string | null;
  audience: 'direct' | 'group';
  account: string | null;
  tools: {
    capability: string;
    tool: string;
    /** What the model sees. */
    name: string;
    effect: Effect;
    verdict: Verdict;
    twoPeople: boolean;
    /** The rule that decided. */
    rule: string;
  }[];
}

/** `status` */
export interface StatusResult {
  version: string;
  pid: number;
  startedAt: number;
  url: string;
  channels: { name: string; type: string; state: string; reason?: string }[];
  runs: { active: number; waiting: number };
  outbox: { waiting: number };
}

/** `usage` with `{ days }`. */
export interface UsageResult {
  since: number;
  rows: {
    agent: string;
    runs: number;
    input: number;
    cachedInput: number;
    output: number;
    usd: number;
    partial: boolean;
  }[];
}

/** `stop`: the gateway drains and ends. */
export interface StopResult {
  pid: number;
}
