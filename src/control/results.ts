/** What the commands of the control socket answer, by name. `src/main.ts` implements them, the command line prints them. */

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
