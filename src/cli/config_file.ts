import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageFolder } from '../base/program.ts';
import { formatIssue } from '../config/issue.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { locateGateway } from '../config/locate_gateway.ts';
import type { CommandRun } from './program.ts';

/**
 * The file named by --config, else ./config.yaml, else the one that comes with the program, whose relative paths then
 * begin here and not in the folder of the program.
 */
function choose({ terminal, options }: CommandRun): { path: string; folder?: string } {
  if (typeof options.config === 'string') return { path: resolve(terminal.cwd, options.config) };
  const own = join(terminal.cwd, 'config.yaml');
  if (existsSync(own)) return { path: own };
  return { path: join(packageFolder, 'config.yaml'), folder: terminal.cwd };
}

/** @throws ConfigError with everything that is wrong. */
export async function loadFor(run: CommandRun): Promise<LoadedConfig> {
  const { path, folder } = choose(run);
  return loadConfig(path, run.terminal.env, await run.program.plugins(), folder);
}

/** Where the running gateway is found, also when the rest of the file is not valid (now, or in this terminal). */
export function dataDirFor(run: CommandRun): string {
  const { path, folder } = choose(run);
  return locateGateway(path, run.terminal.env, folder);
}

/** Everything there is to say about a valid file, a line each. */
export function remarks(loaded: LoadedConfig): string[] {
  return [
    ...loaded.warnings.map((issue) => formatIssue(loaded.file, { ...issue, message: `warning: ${issue.message}` })),
    ...[...loaded.notices, ...loaded.notYet].map((issue) => formatIssue(loaded.file, issue)),
  ];
}
