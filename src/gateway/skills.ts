/** The skills of a running gateway: loaded before the first run, and again with every reload. */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { ownEntry } from '../base/own_entry.ts';
import type { SkillSettings } from '../config/config.ts';
import { createSandbox, type Sandbox, type SandboxMode } from '../sandbox/create_sandbox.ts';
import type { Found } from '../sandbox/means.ts';
import { createSkillCapability } from '../skills/capability.ts';
import { loadSkills } from '../skills/load.ts';
import { removeOldCopies } from '../skills/register.ts';
import { type SkillRemark, sandboxRemarks, skillRemarks } from '../skills/remarks.ts';
import { createSkillTool, type SkillTool } from '../skills/tool.ts';
import type { CapabilityPlugin } from '../types/capability.ts';
import type { AgentSpec } from '../types/spec.ts';

export interface SkillsParts {
  dataDir: string;
  /** The gateway's own files; the first is the data folder. */
  hidden: readonly [string, ...string[]];
  /** Names of tools that skills may not take. */
  taken: ReadonlySet<string>;
  env: NodeJS.ProcessEnv;
  /** Replaces secrets in what a skill says. */
  mask(text: string): string;
  clock: Clock;
  log: Log;
  /** For tests. */
  found?: Found;
}

export interface Skills {
  /** Reads the folders and puts what is there now in place of what was. Calls under way go on with the copy they have. */
  load(settings: SkillSettings, agents: Readonly<Record<string, AgentSpec>>): Promise<void>;
  capabilities(): readonly CapabilityPlugin[];
  tools(): readonly SkillTool[];
  /** Of the last load: agents whose skill is missing, and grants that cannot be given. */
  remarks(): readonly SkillRemark[];
  /** Lines in red: what runs without the sandbox, or does not run. Waits for the sandbox's test of itself. */
  warnings(): Promise<string[]>;
  /** After the last call. */
  close(): Promise<void>;
}

export function createSkills(parts: SkillsParts): Skills {
  const { clock, log, hidden } = parts;
  const store = join(parts.dataDir, 'skills');
  // One for each mode there has been: a call under way after a reload still has the former.
  const sandboxes = new Map<SandboxMode, Sandbox>();
  let mode: SandboxMode = 'required';
  let tools: SkillTool[] = [];
  let capabilities: CapabilityPlugin[] = [];
  let remarks: SkillRemark[] = [];
  let unconfined: { name: string; unconfined: boolean }[] = [];
  let started = false;

  function sandboxOf(wanted: SandboxMode): Sandbox {
    let sandbox = sandboxes.get(wanted);
    if (!sandbox) {
      sandbox = createSandbox({ mode: wanted, hidden, clock, log, ...(parts.found ? { found: parts.found } : {}) });
      sandboxes.set(wanted, sandbox);
    }
    return sandbox;
  }

  return {
    async load(settings, agents) {
      const { skills, problems } =
        settings.dirs.length > 0
          ? await loadSkills({ roots: settings.dirs, store, taken: parts.taken, log })
          : { skills: [], problems: [] };
      if (!started)
        await removeOldCopies(store, new Set(skills.map(({ folderDigest }) => folderDigest))).catch((error) =>
          log.warn({}, `old copies of skills were not removed: ${messageOf(error)}`),
        );
      started = true;
      const rules = { env: parts.env, substituted: new Set(settings.ownVariables), operatorAllow: settings.envAllow };
      const grantOf = (name: string) => ownEntry(settings.grants, name);
      mode = settings.mode;
      tools = skills.map((skill) => {
        const grant = grantOf(skill.manifest.name);
        return createSkillTool({
          skill,
          sandbox: sandboxOf(settings.mode),
          ...(grant ? { grant } : {}),
          environment: () => rules,
          mask: parts.mask,
        });
      });
      capabilities = tools.map(createSkillCapability);
      unconfined = tools.map(({ id }) => ({ name: id, unconfined: grantOf(id)?.unconfined === true }));
      remarks = skillRemarks({
        dirs: settings.dirs,
        grants: settings.grants,
        agents,
        ready: new Set(tools.map(({ id }) => id)),
        problems,
        hidden,
      });
      for (const { path, message } of remarks) log.warn({ path }, message);
      // Tests itself now, so that the first call does not wait for it.
      if (tools.length > 0)
        sandboxOf(mode)
          .state()
          .catch((error) => log.error({ err: error }, `the sandbox could not be tested: ${messageOf(error)}`));
    },
    capabilities: () => capabilities,
    tools: () => tools,
    remarks: () => remarks,
    async warnings() {
      if (tools.length === 0 && mode !== 'off') return [];
      return sandboxRemarks(await sandboxOf(mode).state(), unconfined);
    },
    async close() {
      for (const sandbox of sandboxes.values()) await sandbox.close();
    },
  };
}
