/** The skills of a configuration as what is decided about, not run: for commands on the database alone. */
import { join } from 'node:path';
import { GatehouseError } from '../base/errors.ts';
import { createLog } from '../base/log.ts';
import { ownToolNames } from '../config/check_agents.ts';
import type { Config } from '../config/config.ts';
import type { Plugins } from '../config/schema.ts';
import { createSkillCapability } from '../skills/capability.ts';
import { loadSkills } from '../skills/load.ts';
import { createSkillTool } from '../skills/tool.ts';
import type { CapabilityPlugin } from '../types/capability.ts';

export async function skillsAtRest(config: Config, plugins: Plugins): Promise<CapabilityPlugin[]> {
  const { dirs } = config.skills;
  if (dirs.length === 0) return [];
  const { skills } = await loadSkills({
    roots: dirs,
    store: join(config.gateway.dataDir, 'skills'),
    taken: ownToolNames(plugins),
    log: createLog({ level: 'silent', format: 'json', secrets: () => [] }),
  });
  const sandbox = {
    run: () => Promise.reject(new GatehouseError('unavailable', 'skills run in a running gateway only')),
  };
  const environment = () => ({ env: {}, substituted: new Set<string>(), operatorAllow: null });
  return skills.map((skill) => createSkillCapability(createSkillTool({ skill, sandbox, environment })));
}
