/** `gatehouse skills`: what is there, what is wrong with it, and trying one out. Needs no running gateway. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { createLog, mask } from '../base/log.ts';
import { ownEntry } from '../base/own_entry.ts';
import { visibleText } from '../base/safe_text.ts';
import { ownToolNames } from '../config/check_agents.ts';
import { suggestion } from '../config/issue.ts';
import type { LoadedConfig } from '../config/load.ts';
import { createSandbox, type Sandbox } from '../sandbox/create_sandbox.ts';
import { type InspectedSkill, type Inspection, inspectSkills } from '../skills/inspect.ts';
import type { SkillProblem } from '../skills/load.ts';
import { registerSkill } from '../skills/register.ts';
import { sandboxRemarks } from '../skills/remarks.ts';
import { createSkillTool } from '../skills/tool.ts';
import type { JsonObject } from '../types/json.ts';
import { loadFor } from './config_file.ts';
import { type Command, type CommandRun, exitCodes, UsageError } from './program.ts';
import { agentsOf, inspectFor, ownFilesOf, skillLines } from './skill_folders.ts';
import { columns } from './text.ts';

export const skillsCommand: Command = {
  name: 'skills',
  usage: 'list | check [FOLDER|NAME] | run NAME',
  summary: 'Lists, checks and tries out skills.',
  help: [
    'list   what is below skill_dirs, and whether it runs here',
    'check  everything that is wrong with every skill.json; exit code 1 when there is something',
    'run    runs one in the sandbox with its grant, as the gateway would but with the variables of this terminal;',
    '       arguments are JSON on standard input, the result is printed, its log lines go to standard error',
  ].join('\n'),
  examples: [
    'gatehouse skills list',
    'gatehouse skills check ./my_skill',
    'gatehouse skills run disk_usage < args.json',
    'gatehouse skills run cache_cleaner --yes < args.json',
  ],
  options: {
    json: { type: 'boolean', summary: 'Print the result of list or check as JSON.' },
    yes: { type: 'boolean', summary: 'Run also what changes something.' },
  },
  wordsMax: 2,
  async run(run) {
    const [action = 'list', name] = run.words;
    if (action === 'list' && name === undefined) return list(run);
    if (action === 'check') return check(run, name);
    if (action === 'run' && name !== undefined) return execute(run, name);
    throw new UsageError(
      action === 'run'
        ? 'run takes the name of a skill: gatehouse skills run NAME < args.json'
        : `skills takes list, check [FOLDER|NAME] or run NAME, not "${run.words.join(' ')}"`,
    );
  },
};

type State = 'ready' | 'without sandbox' | 'refused' | SkillProblem['kind'];

interface Listed {
  name: string;
  class: string | null;
  category: string | null;
  state: State;
  reason: string | null;
  /** Agents that name it. */
  agents: string[];
  path: string;
}

async function list(run: CommandRun): Promise<number> {
  const loaded = await loadFor(run);
  const { config } = loaded;
  const inspection = await inspectFor(run, loaded);
  const { state, warnings } = await withSandbox(loaded, async (sandbox) => {
    const state = inspection.skills.length > 0 ? await sandbox.state() : null;
    const unconfined = inspection.skills.map(({ manifest: { name } }) => ({ name, unconfined: isFree(loaded, name) }));
    return { state, warnings: state ? sandboxRemarks(state, unconfined) : [] };
  });
  const rows: Listed[] = [
    ...inspection.skills.map(({ path, manifest }) => {
      const { name, category } = manifest;
      const free = isFree(loaded, name) || state?.runs === 'unconfined';
      const refused = !free && state?.runs === 'refused';
      return {
        name,
        class: manifest.class,
        category,
        state: free ? ('without sandbox' as const) : refused ? ('refused' as const) : ('ready' as const),
        reason: refused ? (state?.missing?.reason ?? null) : null,
        agents: agentsOf(config, name),
        path,
      };
    }),
    ...inspection.problems.map(({ path, name, kind, reasons }) => ({
      name,
      class: null,
      category: null,
      state: kind,
      reason: reasons.join('; '),
      agents: [],
      path,
    })),
  ];
  const lines = await skillLines(run, loaded, inspection);
  if (run.options.json === true) show(run, loaded, JSON.stringify({ skills: rows, sandbox: state }, null, 2));
  else {
    const none = `There are no skills${config.skills.dirs.length === 0 ? ': skill_dirs names no folder' : ''}. How to make one: docs/skills.md`;
    const table = columns([
      ['NAME', 'CLASS', 'CATEGORY', 'STATE', 'AGENTS', 'WHERE'],
      ...rows.map((row) => [
        row.name || '?',
        row.class ?? '-',
        row.category ?? '-',
        row.state,
        row.agents.join(', ') || '-',
        row.path,
      ]),
    ]);
    show(run, loaded, rows.length === 0 ? none : table);
    for (const row of rows) if (row.reason !== null) show(run, loaded, `${row.path}: ${row.reason}`);
    for (const line of [...inspection.skipped, ...lines, ...warnings]) show(run, loaded, line);
  }
  return exitCodes.ok;
}

/** A folder needs no configuration; a name, or nothing, means the folders of `skill_dirs`. */
async function check(run: CommandRun, of: string | undefined): Promise<number> {
  const folder = of === undefined ? null : resolve(run.terminal.cwd, of);
  const isFolder = folder !== null && existsSync(folder) && statSync(folder).isDirectory();
  if (of !== undefined && !isFolder && !/^[a-z0-9_]+$/.test(of))
    throw new GatehouseError('not_found', `there is no folder ${folder}`, {
      hint: 'name a folder that holds a skill.json, or a skill by its name',
    });
  const loaded = isFolder ? null : await loadFor(run);
  const all = loaded
    ? await inspectFor(run, loaded)
    : await inspectSkills([folder ?? ''], ownToolNames(await run.program.plugins()));
  const inspection = loaded && of !== undefined ? only(all, of) : all;
  const { skills, problems, skipped } = inspection;
  const warnings = loaded && of === undefined ? await skillLines(run, loaded, inspection) : [];
  if (isFolder && skills.length + problems.length === 0)
    throw new GatehouseError('not_found', `there is no skill.json below ${folder}`, {
      hint: 'docs/skills.md shows what one says',
    });
  const failed = problems.length > 0;
  if (run.options.json === true)
    show(
      run,
      loaded,
      JSON.stringify(
        {
          ok: !failed,
          skills: skills.map(({ manifest, path, warnings }) => ({ ...manifest, path, warnings })),
          problems,
        },
        null,
        2,
      ),
    );
  else {
    for (const { path, manifest, warnings } of skills) {
      show(run, loaded, `ok ${manifest.name} (${manifest.class}) ${path}`);
      for (const warning of warnings) show(run, loaded, `   warning: ${warning}`);
    }
    for (const { path, reasons } of problems) for (const reason of reasons) show(run, loaded, `${path}: ${reason}`);
    for (const line of [...skipped, ...warnings]) show(run, loaded, line);
    show(run, loaded, `${skills.length} right, ${problems.length} wrong`);
  }
  return failed ? exitCodes.failure : exitCodes.ok;
}

/** What concerns one skill, by its name or the name of its folder. */
function only(all: Inspection, name: string): Inspection {
  const is = (path: string) => path.endsWith(`/${name}/skill.json`);
  const skills = all.skills.filter((one) => one.manifest.name === name || is(one.path));
  const problems = all.problems.filter((one) => one.name === name || is(one.path));
  if (skills.length + problems.length === 0) throw unknown(all, name);
  return { skills, problems, skipped: [] };
}

function unknown({ skills, problems }: Inspection, name: string): GatehouseError {
  const broken = problems.find((one) => one.name === name);
  if (broken)
    return new GatehouseError('invalid', `${broken.path} is not a skill: ${broken.reasons.join('; ')}`, {
      hint: 'correct it; "gatehouse skills check" lists everything at once',
    });
  const known = skills.map(({ manifest }) => manifest.name);
  return new GatehouseError('not_found', `there is no skill "${name}"${suggestion(name, known, 'skills')}`);
}

async function execute(run: CommandRun, name: string): Promise<number> {
  const loaded = await loadFor(run);
  const inspection = await inspectFor(run, loaded);
  const skill = inspection.skills.find(({ manifest }) => manifest.name === name);
  if (!skill) throw unknown(inspection, name);
  const { class: effect } = skill.manifest;
  const warning = `${name} is ${effect}: what it does cannot be undone, and the gateway would ask two people first`;
  if (effect !== 'safe' && run.options.yes !== true)
    throw new GatehouseError(
      'refused',
      effect === 'dangerous' ? warning : `${name} is mutating: it changes something`,
      {
        hint: 'add --yes to run it all the same',
      },
    );
  if (effect === 'dangerous') run.terminal.err(`Warning: ${warning}.\n`);
  const input = await readArguments(run);
  return withSandbox(loaded, async (sandbox, store) => {
    const outcome = await tryOut(run, loaded, skill, { sandbox, store, input });
    const text = mask(outcome.content, loaded.secretValues);
    if (outcome.ended === 'done') run.terminal.out(`${text}\n`);
    else run.terminal.err(`${visibleText(text, { keep: 'lines' })}\n`);
    return outcome.ended === 'done' ? exitCodes.ok : exitCodes.failure;
  });
}

async function tryOut(
  run: CommandRun,
  loaded: LoadedConfig,
  skill: InspectedSkill,
  { sandbox, store, input }: { sandbox: Sandbox; store: string; input: JsonObject },
) {
  const { grants, envAllow, ownVariables } = loaded.config.skills;
  const grant = ownEntry(grants, skill.manifest.name);
  const tool = createSkillTool({
    skill: await registerSkill(skill, store),
    sandbox,
    ...(grant ? { grant } : {}),
    environment: () => ({ env: run.terminal.env, substituted: new Set(ownVariables), operatorAllow: envAllow }),
    mask: (text) => mask(text, loaded.secretValues),
  });
  for (const line of sandboxRemarks(await sandbox.state(), [{ name: tool.id, unconfined: grant?.unconfined === true }]))
    run.terminal.err(`${line}\n`);
  // Its log is the word of others, and a terminal obeys control sequences.
  const progress = (line: string) => run.terminal.err(`${visibleText(line)}\n`);
  const stop = new AbortController();
  const interrupted = () => stop.abort(new GatehouseError('unavailable', `${tool.id} was interrupted`));
  // Ended by the signal itself, this process would leave its copies behind.
  for (const signal of signals) process.once(signal, interrupted);
  try {
    return await tool.execute(input, { progress, signal: stop.signal });
  } finally {
    for (const signal of signals) process.off(signal, interrupted);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function readArguments(run: CommandRun): Promise<JsonObject> {
  const text = await run.terminal.read(limits.httpBodyBytesMax);
  if (text === null)
    throw new UsageError('the arguments are read from standard input: gatehouse skills run NAME < args.json');
  if (text.trim() === '') return {};
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`standard input is not JSON: ${messageOf(error)}`);
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new UsageError('the arguments must be a JSON object, such as {"path": "/var/log"}');
  return input as JsonObject;
}

/** With a place for copies of its own, so that it does not disturb a running gateway. */
export async function withSandbox<T>(
  loaded: LoadedConfig,
  work: (sandbox: Sandbox, store: string) => Promise<T>,
): Promise<T> {
  const store = mkdtempSync(join(tmpdir(), 'gatehouse-try-'));
  // What the log would say is said by the command.
  const log = createLog({ level: 'silent', format: 'auto', secrets: () => [] });
  const { mode } = loaded.config.skills;
  const sandbox = createSandbox({ mode, hidden: [store, ...ownFilesOf(loaded.config)], clock: systemClock, log });
  try {
    return await work(sandbox, store);
  } finally {
    await sandbox.close();
    rmSync(store, { recursive: true, force: true });
  }
}

function isFree({ config }: LoadedConfig, name: string): boolean {
  return ownEntry(config.skills.grants, name)?.unconfined === true;
}

function show(run: CommandRun, loaded: LoadedConfig | null, text: string): void {
  run.terminal.out(`${mask(text, loaded?.secretValues ?? [])}\n`);
}
