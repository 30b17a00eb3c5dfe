/** `gatehouse doctor`: looks at what the gateway stands on, and says of each what to do (rule 87). */
import { existsSync, statSync } from 'node:fs';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { mask } from '../base/log.ts';
import type { LoadedConfig } from '../config/load.ts';
import { callControl, NotRunning } from '../control/client.ts';
import type { StatusResult } from '../control/results.ts';
import type { SandboxState } from '../sandbox/create_sandbox.ts';
import { asJson, json } from './ask.ts';
import { dataDirFor, loadFor, remarks } from './config_file.ts';
import { type Command, type CommandRun, exitCodes } from './program.ts';
import { inspectFor, skillLines } from './skill_folders.ts';
import { withSandbox } from './skills.ts';
import { columns } from './text.ts';

export interface Finding {
  what: string;
  state: 'ok' | 'warning' | 'failure';
  detail: string;
  /** What to do; null when there is nothing to be done. */
  remedy: string | null;
}

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '',
  summary: 'Looks at what the gateway needs, and says what to do.',
  help:
    'Configuration, data folder, database, channels of the running gateway, skills and their sandbox.\n' +
    'Exit code 1 when something fails. Tokens and models are tried by the gateway itself: see the channels.',
  examples: ['gatehouse doctor', 'gatehouse doctor --json'],
  options: { json },
  wordsMax: 0,
  async run(run) {
    const loaded = await loadFor(run);
    const findings: Finding[] = [
      ...configFindings(loaded),
      dataFolder(loaded.config.gateway.dataDir),
      ...(await gatewayFindings(run, loaded)),
      ...(await skillFindings(run, loaded)),
    ];
    const failed = findings.some(({ state }) => state === 'failure');
    const text = run.options.json === true ? asJson({ ok: !failed, findings }) : shown(findings);
    run.terminal.out(`${mask(text, loaded.secretValues)}\n`);
    return failed ? exitCodes.failure : exitCodes.ok;
  },
};

function shown(findings: readonly Finding[]): string {
  return columns(
    findings.map(({ what, state, detail, remedy }) => [
      state === 'ok' ? 'ok' : state.toUpperCase(),
      what,
      remedy === null ? detail : `${detail}. What to do: ${remedy}`,
    ]),
  );
}

function configFindings(loaded: LoadedConfig): Finding[] {
  const lines = remarks(loaded);
  if (lines.length === 0)
    return [{ what: 'configuration', state: 'ok', detail: `${loaded.file} is valid`, remedy: null }];
  return lines.map((line) => ({ what: 'configuration', state: 'warning', detail: line, remedy: null }));
}

function dataFolder(path: string): Finding {
  const what = 'data folder';
  if (!existsSync(path)) return { what, state: 'ok', detail: `${path} will be made at the first start`, remedy: null };
  const { mode, uid } = statSync(path);
  if (process.getuid !== undefined && uid !== process.getuid() && process.getuid() !== 0)
    return {
      what,
      state: 'failure',
      detail: `${path} belongs to another user`,
      remedy: 'run as its owner, or chown it',
    };
  if ((mode & 0o077) !== 0)
    return { what, state: 'failure', detail: `${path} can be read by others`, remedy: `chmod 700 ${path}` };
  return { what, state: 'ok', detail: path, remedy: null };
}

/** A running gateway knows its channels; without one at least the database is opened. */
async function gatewayFindings(run: CommandRun, loaded: LoadedConfig): Promise<Finding[]> {
  try {
    const status = (await callControl(dataDirFor(run), 'status', {})) as StatusResult;
    const running: Finding = { what: 'gateway', state: 'ok', detail: `running at ${status.url}`, remedy: null };
    return [running, ...status.channels.map(channelFinding)];
  } catch (error) {
    if (!(error instanceof NotRunning)) return [failureOf('gateway', error)];
  }
  const stopped: Finding = { what: 'gateway', state: 'ok', detail: 'not running', remedy: null };
  try {
    await run.program.offline(loaded, 'usage', { days: 1 });
    return [
      stopped,
      { what: 'database', state: 'ok', detail: 'opens, and its tables are of this version', remedy: null },
    ];
  } catch (error) {
    return [stopped, failureOf('database', error)];
  }
}

function channelFinding({ name, type, state, reason }: StatusResult['channels'][number]): Finding {
  const what = `channel ${name}`;
  const detail = reason === undefined ? `${type}, ${state}` : `${type}, ${state}: ${reason}`;
  if (state === 'failed') return { what, state: 'failure', detail, remedy: 'correct its configuration, then reload' };
  return { what, state: state === 'up' ? 'ok' : 'warning', detail, remedy: null };
}

function failureOf(what: string, error: unknown): Finding {
  const remedy = error instanceof GatehouseError ? (error.hint ?? null) : null;
  return { what, state: 'failure', detail: messageOf(error), remedy };
}

async function skillFindings(run: CommandRun, loaded: LoadedConfig): Promise<Finding[]> {
  const inspection = await inspectFor(run, loaded);
  const state = await withSandbox(loaded, (sandbox) => sandbox.state());
  const wrong = inspection.problems.map(
    ({ path, reasons }): Finding => ({
      what: 'skill',
      state: 'warning',
      detail: `${path}: ${reasons.join('; ')}`,
      remedy: null,
    }),
  );
  const lines = (await skillLines(run, loaded, inspection)).map(
    (detail): Finding => ({ what: 'skill', state: 'warning', detail, remedy: null }),
  );
  return [sandboxFinding(state, inspection.skills.length), ...wrong, ...lines];
}

/** Without any skill nothing depends on it. Pure. */
export function sandboxFinding({ mode, runs, missing, memory }: SandboxState, skills: number): Finding {
  const what = 'sandbox';
  if (runs === 'confined')
    return { what, state: 'ok', detail: `tested, it holds; memory limits: ${memory}`, remedy: null };
  const reason = missing?.reason ?? `sandbox.subprocess is ${mode}`;
  const remedy = missing?.hint ?? 'set sandbox.subprocess: required';
  if (runs === 'unconfined') return { what, state: 'warning', detail: `skills run without it: ${reason}`, remedy };
  return { what, state: skills > 0 ? 'failure' : 'warning', detail: `skills do not run: ${reason}`, remedy };
}
