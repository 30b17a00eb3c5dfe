/** What an operator is told about skills before anything runs: who misses one, and grants that cannot be given. */
import { messageOf } from '../base/errors.ts';
import type { SandboxState } from '../sandbox/create_sandbox.ts';
import { checkGrant, type Grant, realPath } from '../sandbox/grant.ts';
import type { AgentSpec } from '../types/spec.ts';
import type { SkillProblem } from './load.ts';

export interface SkillUses {
  /** `skill_dirs`. */
  dirs: readonly string[];
  /** `sandbox.skills`, by the name of the skill. */
  grants: Readonly<Record<string, Grant>>;
  agents: Readonly<Record<string, Pick<AgentSpec, 'id' | 'capabilities'>>>;
  /** Names of the skills that are there. */
  ready: ReadonlySet<string>;
  problems: readonly SkillProblem[];
  /** The gateway's own files, which no grant opens. */
  hidden: readonly string[];
}

export interface SkillRemark {
  /** As `config.yaml` writes it. */
  path: string;
  message: string;
}

/** None of them stops the gateway. */
export function skillRemarks(of: SkillUses): SkillRemark[] {
  const remarks: SkillRemark[] = [];
  for (const agent of Object.values(of.agents))
    for (const { id, enabled } of agent.capabilities) {
      const name = enabled && id.startsWith('skill:') ? id.slice('skill:'.length) : null;
      if (name !== null && !of.ready.has(name))
        remarks.push({
          path: `agents.${agent.id}.capabilities`,
          message: `${id} is not there: ${whyMissing(name, of)}. The agent works without it`,
        });
    }
  const hidden = of.hidden.flatMap((path) => realPath(path) ?? []);
  for (const [name, grant] of Object.entries(of.grants)) {
    const path = `sandbox.skills.${name}`;
    if (!of.ready.has(name)) remarks.push({ path, message: `there is no skill "${name}": ${whyMissing(name, of)}` });
    try {
      checkGrant(grant, hidden);
    } catch (error) {
      remarks.push({ path, message: `its calls will be refused: ${messageOf(error)}` });
    }
  }
  return remarks;
}

function whyMissing(name: string, { problems, dirs }: SkillUses): string {
  const [problem] = problems.filter((one) => one.name === name);
  if (problem) return `${problem.path} was rejected: ${problem.reasons.join('; ')}`;
  if (dirs.length === 0) return 'skill_dirs names no folder to look in';
  const unread = problems.filter((one) => one.name === '').length;
  const more = unread > 0 ? `; ${unread} skill.json there could not be read` : '';
  return `no skill.json below ${dirs.join(', ')} has that name${more}`;
}

/** A line for everything that runs without the sandbox, and for skills that do not run at all. */
export function sandboxRemarks(
  state: SandboxState,
  skills: readonly { name: string; unconfined: boolean }[],
): string[] {
  const { missing } = state;
  const because = missing ? `: ${missing.reason}. What to do: ${missing.hint}` : '';
  if (state.runs === 'unconfined')
    return [
      state.mode === 'off'
        ? 'Skills run WITHOUT a sandbox (sandbox.subprocess: off): they can read and reach whatever their user can.'
        : `Skills run WITHOUT a sandbox, because sandbox.subprocess is preferred and it does not work here${because}`,
    ];
  return [
    ...(state.runs === 'refused' ? [`Skills do not run here${because}`] : []),
    ...skills
      .filter(({ unconfined }) => unconfined)
      .map(({ name }) => `The skill ${name} runs WITHOUT the sandbox (sandbox.skills.${name}.unconfined).`),
  ];
}
