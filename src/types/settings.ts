/** What the stages read of the configuration. A reload replaces the whole snapshot; nobody keeps a part of it. */
import type { ModelProfile } from './model.ts';
import type { AgentSpec, BindingSpec } from './spec.ts';
import type { Verdict } from './tool.ts';

export interface Settings {
  gatewayName: string;
  language: string;
  timezone: string;
  runsMax: number;
  bindings: readonly BindingSpec[];
  /** Published agents, with the version new runs begin on. */
  agents: ReadonlyMap<string, { version: number; spec: AgentSpec }>;
  models: Readonly<Record<string, ModelProfile>>;
  /** Accounts `<channel>:<user id>` with the admin role by configuration. */
  admins: ReadonlySet<string>;
  policies: Readonly<Record<string, Record<string, Verdict>>>;
  channels: ReadonlyMap<string, ChannelFacts>;
}

/** Of a platform; an AdapterPlugin says both. */
export interface AdmissionFacts {
  groupsNeedAdmission: boolean;
  accountIds?: { pattern: string; hint?: string } | undefined;
  groupIds?: { pattern: string } | undefined;
}

export interface ChannelFacts extends AdmissionFacts {
  threads: 'open' | 'given' | false;
}
