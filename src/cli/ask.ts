/** Has something done by the running gateway, or on the database itself when none runs, and prints what came of it. */
import { mask } from '../base/log.ts';
import type { LoadedConfig } from '../config/load.ts';
import { callControl, NotRunning } from '../control/client.ts';
import type { ControlArgs } from '../control/wire.ts';
import { dataDirFor, loadFor } from './config_file.ts';
import { type CommandRun, exitCodes } from './program.ts';

/** Of every command whose result a script may read. */
export const json = { type: 'boolean', summary: 'Print the result as JSON.' } as const;

/** Has the gateway do it, or, when none runs and the command can do without one, does it on the database. */
export async function request<T>(run: CommandRun, command: string, args: ControlArgs, offline: boolean) {
  let loaded: LoadedConfig | null;
  let result: T;
  try {
    result = (await callControl(dataDirFor(run), command, args)) as T;
    // For its secrets only; the gateway that answered may run with a file that has changed since.
    loaded = await loadFor(run).catch(() => null);
  } catch (error) {
    if (!(error instanceof NotRunning && offline)) throw error;
    loaded = await loadFor(run);
    result = (await run.program.offline(loaded, command, args)) as T;
  }
  const show = (text: string) => run.terminal.out(`${mask(text, loaded?.secretValues ?? [])}\n`);
  return { result, show };
}

export const asJson = (result: unknown) => JSON.stringify(result, null, 2);

/** Requests it and prints the answer. */
export async function ask<T>(
  run: CommandRun,
  command: string,
  args: ControlArgs,
  print: (result: T) => string,
  offline = false,
): Promise<number> {
  const { result, show } = await request<T>(run, command, args, offline);
  show(run.options.json === true ? asJson(result) : print(result));
  return exitCodes.ok;
}
