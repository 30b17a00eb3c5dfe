/**
 * The configuration after loading: defaults applied, durations in milliseconds, paths absolute, `${NAME}` replaced,
 * frozen. What no feature reads yet is checked and left out.
 */
import type { SandboxMode } from '../sandbox/create_sandbox.ts';
import type { Grant } from '../sandbox/grant.ts';
import type { JsonObject } from '../types/json.ts';
import type { ModelProfile } from '../types/model.ts';
import type { AgentSpec, BindingSpec } from '../types/spec.ts';

export interface ChannelConfig {
  type: string;
  /** Checked against the adapter's configSchema, its defaults filled in, without `type`. Handed to `create`. */
  settings: JsonObject;
}

/** `skill_dirs` and `sandbox`. */
export interface SkillSettings {
  /** Absolute. */
  dirs: readonly string[];
  mode: SandboxMode;
  /** null = the operator has listed nothing. */
  envAllow: readonly string[] | null;
  /** By the name of the skill. */
  grants: Readonly<Record<string, Grant>>;
  /** Variables that this file substitutes or takes a model key from: what the gateway itself was trusted with. */
  ownVariables: readonly string[];
}

export interface Config {
  /** Absolute path of the file this came from. */
  file: string;
  gateway: {
    name: string;
    /** Absolute. */
    dataDir: string;
    /** IPv6 addresses without brackets. Port 0 takes a free one. */
    listen: { host: string; port: number };
    /** Without a slash at the end. */
    publicUrl: string | null;
    log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent'; format: 'auto' | 'json' | 'pretty' };
    language: 'en' | 'de' | 'pt';
    timezone: string;
    concurrency: { runs: number };
  };
  /** `sqlite:<absolute path>` or `postgres://…`. */
  storage: { url: string };
  models: Record<string, ModelProfile>;
  channels: Record<string, ChannelConfig>;
  agents: Record<string, AgentSpec>;
  bindings: BindingSpec[];
  /** Accounts `<channel>:<platform user id>`. */
  admins: string[];
  /** By capability id as agents name it, then stable tool id. */
  policies: Record<string, Record<string, 'allow' | 'ask' | 'block'>>;
  skills: SkillSettings;
  metrics: { enabled: boolean };
  retention: { messagesMs: number; runsMs: number; uploadsMs: number };
}
