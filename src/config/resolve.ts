/** Checked data as the `Config` the gateway works with. Nothing here can fail: `check.ts` has seen it all. */
import { resolve } from 'node:path';
import { contextWindowOf, keyVariables } from '../models/known.ts';
import type { SandboxMode } from '../sandbox/create_sandbox.ts';
import type { Grant } from '../sandbox/grant.ts';
import type { Json, JsonObject } from '../types/json.ts';
import type { ModelProfile } from '../types/model.ts';
import type { AgentSpec, ApprovalSetting, BindingSpec, CapabilityUse, Footer, ToolOverride } from '../types/spec.ts';
import { type AutoChoice, chooseByKey } from './auto_model.ts';
import { splitListen } from './check.ts';
import { usesOf } from './check_agents.ts';
import { chatIds } from './check_bindings.ts';
import { type CheckContext, entries, items, object, platform } from './check_context.ts';
import type { Config, SkillSettings } from './config.ts';
import { isLaterCapability, isLaterChannel } from './not_yet.ts';

const unitMs: Record<string, number> = { s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface Resolved {
  config: Config;
  /** What `provider: auto` became, by profile; null = Ollama has to be asked. */
  auto: Record<string, AutoChoice | null>;
}

/** What the file takes from the environment. */
export interface FromEnvironment {
  /** Channels without their token: like what is not built yet, they do not appear in the result. */
  leftOut: ReadonlySet<string>;
  /** Names of variables. */
  substituted: readonly string[];
}

export function resolveConfig(
  context: CheckContext,
  file: string,
  env: NodeJS.ProcessEnv,
  { leftOut, substituted }: FromEnvironment,
): Resolved {
  const { data, folder, plugins } = context;
  const gateway = object(data.gateway);
  const dataDir = resolve(folder, String(gateway.data_dir));
  const auto: Resolved['auto'] = {};
  const models: Config['models'] = {};
  for (const [name, profile] of entries(data.models)) {
    const isAuto = profile.provider === 'auto';
    if (isAuto) auto[name] = chooseByKey(env);
    models[name] = modelProfile(name, profile, isAuto ? (auto[name] ?? null) : null);
  }
  const channels: Config['channels'] = {};
  for (const [name, { type, ...settings }] of entries(data.channels))
    if (!leftOut.has(name) && !isLaterChannel(plugins, type)) channels[name] = { type: String(type), settings };
  const agents: Config['agents'] = {};
  for (const [name, agent] of entries(data.agents)) agents[name] = agentSpec(context, name, agent);
  const log = object(gateway.log);
  const retention = object(data.retention);
  const config: Config = {
    file,
    gateway: {
      name: String(gateway.name),
      dataDir,
      listen: splitListen(String(gateway.listen)),
      publicUrl: typeof gateway.public_url === 'string' ? gateway.public_url.replace(/\/+$/, '') : null,
      log: {
        level: log.level as Config['gateway']['log']['level'],
        format: log.format as Config['gateway']['log']['format'],
      },
      language: gateway.language as Config['gateway']['language'],
      timezone: String(gateway.timezone),
      concurrency: { runs: Number(object(gateway.concurrency).runs) },
    },
    storage: { url: storageUrl(object(data.storage).url, folder, dataDir) },
    models,
    channels,
    agents,
    bindings: items(data.bindings)
      .map(([index, binding]) => bindingSpec(context, index, object(binding)))
      .filter((binding) => channels[binding.channel] !== undefined),
    admins: (data.admins as string[]) ?? [],
    policies: data.policies as Config['policies'],
    skills: skillSettings(data, substituted),
    metrics: { enabled: object(data.metrics).enabled === true },
    retention: {
      messagesMs: durationMs(retention.messages),
      runsMs: durationMs(retention.runs),
      uploadsMs: durationMs(retention.uploads),
    },
  };
  return { config: freeze(config), auto };
}

/** `15m` in milliseconds. */
export function durationMs(value: Json | undefined): number {
  const [, amount, unit] = /^([0-9]+)([a-z]+)$/.exec(String(value))!;
  return Number(amount) * unitMs[unit!]!;
}

/** A profile as the file has it, or as `auto` chose; `auto` without a choice is demo until Ollama was asked. */
export function modelProfile(name: string, profile: JsonObject, choice: AutoChoice | null): ModelProfile {
  const price = object(profile.price);
  const isAuto = profile.provider === 'auto';
  const isDemo = profile.provider === 'demo' || (isAuto && choice === null);
  const own: ModelProfile['price'] =
    profile.price === null || profile.price === undefined
      ? null
      : {
          input: Number(price.input),
          cachedInput: Number(price.cached_input ?? price.input),
          output: Number(price.output),
        };
  const model = isDemo ? 'demo' : (choice?.model ?? String(profile.model));
  return {
    name,
    provider: isDemo ? 'demo' : (choice?.provider ?? (profile.provider as ModelProfile['provider'])),
    model,
    apiKey: choice?.apiKey ?? text(profile.api_key),
    baseUrl: choice?.baseUrl ?? text(profile.base_url),
    contextWindow: Number(profile.context_window ?? contextWindowOf(model)),
    maxOutputTokens: Number(profile.max_output_tokens),
    price: isDemo ? { input: 0, cachedInput: 0, output: 0 } : (choice?.price ?? own),
    timeoutMs: durationMs(profile.timeout),
    retries: Number(profile.retries),
    fallbacks: items(profile.fallbacks).map(([, one]) => String(one)),
  };
}

function agentSpec(context: CheckContext, id: string, agent: JsonObject): AgentSpec {
  const limits = object(agent.limits);
  const budget = object(limits.budget_usd);
  return {
    id,
    name: text(agent.name) ?? id,
    model: String(agent.model),
    instructions: context.instructions.get(id) ?? String(agent.instructions),
    permissionMode: agent.permission_mode as AgentSpec['permissionMode'],
    limits: {
      maxSteps: Number(limits.max_steps),
      runTimeoutMs: durationMs(limits.run_timeout),
      budgetUsd: { run: budget.run as number | null, day: budget.day as number | null },
    },
    capabilities: usesOf(id, agent)
      .filter((use) => !isLaterCapability(context.plugins, use.id))
      .map((use) => capabilityUse(use.id, use.entry)),
  };
}

/** The short form has no entry, so its defaults are written here too. */
function capabilityUse(id: string, entry: JsonObject): CapabilityUse {
  return {
    id,
    enabled: entry.enabled !== false,
    config: object(entry.config),
    approval: (entry.approval ?? 'default') as ApprovalSetting,
    toolApproval: object(entry.tool_approval) as Record<string, ApprovalSetting>,
    toolOverrides: object(entry.tool_overrides) as Record<string, ToolOverride>,
    tools: Array.isArray(entry.tools) ? names(entry.tools) : null,
  };
}

function bindingSpec(context: CheckContext, index: number, binding: JsonObject): BindingSpec {
  const where = object(binding.where);
  const access = object(binding.access);
  const approvals = object(binding.approvals);
  const defaults = platform(context, binding.channel)!.defaultAccess;
  return {
    id: String(binding.id),
    agent: String(binding.agent),
    channel: String(binding.channel),
    where: {
      chats: where.chats === 'any' ? 'any' : chatIds(context, ['bindings', index, 'where', 'chats'], where.chats),
      direct: where.direct === true,
    },
    scope: binding.scope as BindingSpec['scope'],
    directThreads: context.written(['bindings', index, 'scope']) && binding.scope === 'thread',
    trigger: binding.trigger as BindingSpec['trigger'],
    prompt: text(binding.prompt),
    access: {
      direct: (access.direct ?? defaults.direct) as BindingSpec['access']['direct'],
      group: (access.group ?? defaults.group) as BindingSpec['access']['group'],
      allow: names(access.allow),
      rateLimit: rate(String(access.rate_limit)),
    },
    onBusy: binding.on_busy as BindingSpec['onBusy'],
    bots: binding.bots as BindingSpec['bots'],
    stream: binding.stream === true,
    footer: footer(binding.footer),
    approvals: {
      approvers: Array.isArray(approvals.approvers)
        ? names(approvals.approvers)
        : (approvals.approvers as 'requester' | 'admins' | 'members'),
      expiresMs: durationMs(approvals.expires),
      waive: approvals.waive === true,
    },
    budgetUsd: { day: object(binding.budget_usd).day as number | null },
  };
}

function skillSettings(data: JsonObject, substituted: readonly string[]): SkillSettings {
  const sandbox = object(data.sandbox);
  return {
    dirs: names(data.skill_dirs),
    mode: sandbox.subprocess as SandboxMode,
    envAllow: Array.isArray(sandbox.env_allow) ? names(sandbox.env_allow) : null,
    grants: object(sandbox.skills) as unknown as Record<string, Grant>,
    ownVariables: [...new Set([...substituted, ...Object.values(keyVariables)])],
  };
}

function rate(value: string): BindingSpec['access']['rateLimit'] {
  if (value === 'off') return null;
  const [count, unit] = value.split('/');
  return { count: Number(count), perMs: unitMs[unit!]! };
}

function footer(value: Json | undefined): Footer {
  if (typeof value !== 'string') return { when: 'every', turns: Number(object(value).every) };
  const every = /^every: ?([0-9]+)$/.exec(value);
  if (every !== null) return { when: 'every', turns: Number(every[1]) };
  return { when: value as 'never' | 'near_limit' | 'always' };
}

function storageUrl(url: Json | undefined, folder: string, dataDir: string): string {
  if (typeof url !== 'string') return `sqlite:${resolve(dataDir, 'gatehouse.db')}`;
  return url.startsWith('sqlite:') ? `sqlite:${resolve(folder, url.slice('sqlite:'.length))}` : url;
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function names(value: Json | undefined): string[] {
  return items(value).map(([, one]) => String(one));
}

export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) freeze(child);
  }
  return value;
}
