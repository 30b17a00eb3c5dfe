/**
 * Agents and bindings as the core sees them: configuration after defaults, with durations in milliseconds. Plain
 * frozen data; `src/config` makes it, everything below reads it.
 */
import type { JsonObject } from './json.ts';

export type PermissionMode = 'read-only' | 'mutating-with-confirm' | 'dual-sign-required';
export type ApprovalSetting = 'default' | 'required' | 'never';

/** What the model sees instead of a tool's own name and description; rules stay with the tool id (A4). */
export interface ToolOverride {
  name?: string;
  description?: string;
}

/** One entry of `agents.*.capabilities`. */
export interface CapabilityUse {
  /** A built-in's id, or `container:ID`, `skill:NAME`, `mcp:KEY`. */
  id: string;
  enabled: boolean;
  /** Checked against the capability's own schema, its defaults filled in. */
  config: JsonObject;
  approval: ApprovalSetting;
  toolApproval: Record<string, ApprovalSetting>;
  toolOverrides: Record<string, ToolOverride>;
  /** The subset of tools to offer; null = all. */
  tools: string[] | null;
}

export interface AgentSpec {
  /** The key under `agents:`; permanent. */
  id: string;
  name: string;
  /** A key of `Config.models`. */
  model: string;
  /** The text, also when the file named an `instructions_file`. */
  instructions: string;
  permissionMode: PermissionMode;
  limits: {
    /** Model requests in one run. */
    maxSteps: number;
    runTimeoutMs: number;
    /** null = no cap. */
    budgetUsd: { run: number | null; day: number | null };
  };
  capabilities: CapabilityUse[];
}

export type Scope = 'user' | 'thread' | 'channel';
export type Trigger = 'mention' | 'follow' | 'all';
export type DirectAccess = 'open' | 'allowlist' | 'pairing' | 'linked';
export type GroupAccess = 'open' | 'allowlist';
export type Footer = { when: 'never' | 'near_limit' | 'always' } | { when: 'every'; turns: number };

export interface Access {
  direct: DirectAccess;
  group: GroupAccess;
  /** Accounts `<channel>:<platform user id>`, for allowlist and as exceptions. */
  allow: string[];
  /** Per account; null = none. */
  rateLimit: { count: number; perMs: number } | null;
}

/** Who may decide a question; a list holds accounts `<channel>:<platform user id>`. */
export type Approvers = 'requester' | 'admins' | 'members' | readonly string[];

export interface BindingSpec {
  id: string;
  agent: string;
  channel: string;
  where: { chats: string[] | 'any'; direct: boolean };
  scope: Scope;
  /**
   * Whether a direct chat is split by thread as well: only when the file itself says `scope: thread` (rule 19);
   * without a word about scope a direct chat is one conversation.
   */
  directThreads: boolean;
  trigger: Trigger;
  /** Appended to the agent's instructions here only. */
  prompt: string | null;
  access: Access;
  onBusy: 'queue' | 'steer';
  bots: 'ignore' | 'mention' | 'allow';
  stream: boolean;
  footer: Footer;
  approvals: {
    approvers: Approvers;
    expiresMs: number;
    /** Whether `mode waive` is allowed in direct chats (rule 95). */
    waive: boolean;
  };
  /** On top of the agent's own; null = no cap. */
  budgetUsd: { day: number | null };
}
