/** The skills of a configuration, looked at without a gateway. */

import { ownToolNames } from '../config/check_agents.ts';
import type { Config } from '../config/config.ts';
import { formatIssue } from '../config/issue.ts';
import type { LoadedConfig } from '../config/load.ts';
import { ownFiles } from '../control/own_files.ts';
import { type Inspection, inspectSkills } from '../skills/inspect.ts';
import { skillRemarks } from '../skills/remarks.ts';
import type { CommandRun } from './program.ts';

export async function inspectFor(run: CommandRun, { config }: LoadedConfig): Promise<Inspection> {
  return inspectSkills(config.skills.dirs, ownToolNames(await run.program.plugins()));
}

/** Agents by the skill that they name. */
export function agentsOf(config: Config, skill: string): string[] {
  const names = ({ capabilities }: Config['agents'][string]) =>
    capabilities.some((use) => use.enabled && use.id === `skill:${skill}`);
  return Object.values(config.agents)
    .filter(names)
    .map(({ id }) => id);
}

/** Warnings, a line each: an agent without a skill it names, a grant that cannot be given. */
export async function skillLines(run: CommandRun, loaded: LoadedConfig, inspection?: Inspection): Promise<string[]> {
  const { config, file } = loaded;
  const { skills, problems } = inspection ?? (await inspectFor(run, loaded));
  const remarks = skillRemarks({
    dirs: config.skills.dirs,
    grants: config.skills.grants,
    agents: config.agents,
    ready: new Set(skills.map(({ manifest }) => manifest.name)),
    problems,
    hidden: ownFilesOf(config),
  });
  return remarks.map(({ path, message }) => formatIssue(file, { path, message: `warning: ${message}` }));
}

export function ownFilesOf(config: Config): [string, ...string[]] {
  const { dataDir } = config.gateway;
  return ownFiles({ dataDir, configFile: config.file, storageUrl: config.storage.url });
}
