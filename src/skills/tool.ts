/** A registered skill as a tool: arguments on stdin, one JSON value back, log lines as progress. */
import { GatehouseError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Sandbox } from '../sandbox/create_sandbox.ts';
import { type Grant, noGrant } from '../sandbox/grant.ts';
import type { SandboxResult } from '../sandbox/run.ts';
import { validatorOf } from '../tools/validator.ts';
import type { JsonObject } from '../types/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../types/tool.ts';
import { type EnvironmentRules, skillEnvironment } from './environment.ts';
import type { Manifest } from './manifest.ts';
import type { RegisteredSkill } from './register.ts';

/** What a call needs to know. */
export type SkillCall = Pick<ToolContext, 'progress' | 'signal'>;

export interface SkillOutcome extends ToolOutcome {
  /** `arguments` and `refused`: it was not run. */
  ended: 'done' | 'arguments' | 'refused' | 'failed';
}

export interface SkillTool extends Tool {
  /** What a decision about a call is for (rule 50). */
  definition: string;
  category: string;
  /** What is wrong with the arguments; null = nothing. */
  check(input: JsonObject): string | null;
  /** As `call`, for callers that are no model. */
  execute(input: JsonObject, call: SkillCall): Promise<SkillOutcome>;
}

export interface SkillToolParts {
  skill: RegisteredSkill;
  sandbox: Pick<Sandbox, 'run'>;
  /** The operator's, from `sandbox.skills`. */
  grant?: Grant;
  /** Read at each call. */
  environment(): EnvironmentRules;
  /** Replaces secrets in what a skill says. */
  mask?(text: string): string;
}

export function createSkillTool(parts: SkillToolParts): SkillTool {
  const { manifest, definition } = parts.skill;
  const grant = parts.grant ?? noGrant;
  const mask = parts.mask ?? ((text: string) => text);
  const safe = manifest.class === 'safe';
  return {
    id: manifest.name,
    name: manifest.name,
    effect: manifest.class,
    description: manifest.description,
    returns: 'One JSON value, as the skill wrote it.',
    inputSchema: manifest.schema,
    annotations: {
      readOnlyHint: safe,
      destructiveHint: manifest.class === 'dangerous',
      idempotentHint: safe,
      openWorldHint: grant.network === 'any' || grant.unconfined,
    },
    ...(manifest.class === 'dangerous' ? { dualSign: true } : {}),
    definition,
    category: manifest.category,
    check: (input) => argumentErrors(manifest, input),
    execute,
    async call(input, context) {
      const { ended: _, ...outcome } = await execute(input, context);
      return outcome;
    },
  };

  async function execute(input: JsonObject, call: SkillCall): Promise<SkillOutcome> {
    const wrong = argumentErrors(manifest, input);
    if (wrong)
      return { ended: 'arguments', isError: true, retry: true, content: `${manifest.name} was not run: ${wrong}` };
    const outcome = await run(parts, grant, input, call, mask);
    return { ...outcome, content: mask(outcome.content) };
  }
}

function argumentErrors({ schema }: Manifest, input: JsonObject): string | null {
  const validate = validatorOf(schema);
  if (validate(input)) return null;
  const errors = (validate.errors ?? []).slice(0, 10);
  return errors.map((error) => `${error.instancePath || 'arguments'} ${error.message ?? 'is wrong'}`).join('; ');
}

async function run(
  { skill, sandbox, environment }: SkillToolParts,
  grant: Grant,
  input: JsonObject,
  call: SkillCall,
  mask: (text: string) => string,
): Promise<SkillOutcome> {
  const { manifest } = skill;
  try {
    const result = await sandbox.run({
      folder: skill.folder,
      program: skill.program,
      interpreter: skill.interpreter,
      stdin: JSON.stringify(input),
      env: skillEnvironment(manifest.envAllow, environment()),
      timeoutMs: manifest.timeoutMs,
      grant,
      onLog: (line) => call.progress(mask(line)),
      signal: call.signal,
    });
    return outcomeOf(manifest, result);
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.code !== 'refused') throw error;
    const hint = error.hint ? ` The operator can change that: ${error.hint}.` : '';
    return { ended: 'refused', isError: true, content: `${manifest.name} was not run: ${error.message}.${hint}` };
  }
}

/** A stopped call of a skill that changes things is not to be repeated blindly; of one that only reads it may be. */
function outcomeOf(manifest: Manifest, result: SandboxResult): SkillOutcome {
  const failure = failureOf(manifest, result);
  if (failure === null) return { ended: 'done', content: result.stdout.trim() };
  const interrupted = result.ended !== 'exited' && manifest.class !== 'safe';
  return {
    ended: 'failed',
    isError: true,
    ...(result.ended === 'timed_out' && manifest.class === 'safe' ? { retry: true } : {}),
    content: [
      `${manifest.name} ${failure}.`,
      ...(interrupted ? ['It may have taken effect in part: check before you try it again.'] : []),
      ...(result.stderrTail.trim() ? [`The end of its log (stderr):\n${result.stderrTail.trimEnd()}`] : []),
    ].join('\n'),
  };
}

function failureOf(manifest: Manifest, result: SandboxResult): string | null {
  const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  switch (result.ended) {
    case 'timed_out':
      return `was stopped: it did not end within ${manifest.timeoutMs / 1_000} s`;
    case 'output_too_long':
      return `was stopped: it wrote more than ${mebibytes(limits.sandboxStdoutBytesMax)} to stdout`;
    case 'out_of_memory':
      return `was stopped: it used more than ${mebibytes(limits.sandboxMemoryBytesMax)} of memory`;
    case 'killed':
      return `was ended by ${result.signal ?? 'a signal'}`;
    case 'exited':
      if (result.exitCode !== 0) return `failed with exit code ${result.exitCode}`;
      return isJson(result.stdout) ? null : 'answered with something that is not one JSON value';
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
