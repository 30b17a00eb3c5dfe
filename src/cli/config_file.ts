import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageFolder } from '../base/program.ts';
import { formatIssue } from '../config/issue.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { CommandRun } from './program.ts';

/**
 * The file named by --config, else ./config.yaml, else the one that comes with the program, whose relative paths then
 * begin here and not in the folder of the program.
 */
export async function loadFor({ program, terminal, options }: CommandRun): Promise<LoadedConfig> {
  const plugins = await program.plugins();
  if (typeof options.config === 'string')
    return loadConfig(resolve(terminal.cwd, options.config), terminal.env, plugins);
  const own = join(terminal.cwd, 'config.yaml');
  if (existsSync(own)) return loadConfig(own, terminal.env, plugins);
  return loadConfig(join(packageFolder, 'config.yaml'), terminal.env, plugins, terminal.cwd);
}

/** Everything there is to say about a valid file, a line each. */
export function remarks(loaded: LoadedConfig): string[] {
  return [
    ...loaded.warnings.map((issue) => formatIssue(loaded.file, { ...issue, message: `warning: ${issue.message}` })),
    ...[...loaded.notices, ...loaded.notYet].map((issue) => formatIssue(loaded.file, issue)),
  ];
}
