import type { LoadedConfig } from '../config/load.ts';
import type { Plugins } from '../config/schema.ts';
import type { ControlArgs } from '../control/wire.ts';

/** What the command line is given by `src/main.ts`. */
export interface Program {
  version: string;
  /** Loaded only by commands that read the configuration. */
  plugins(): Promise<Plugins>;
  /** Runs the gateway; resolves with the exit code when it has stopped. `auto` profiles are settled. */
  start(loaded: LoadedConfig, options: { open: boolean }): Promise<number>;
  /**
   * Does a command on the database itself, because no gateway runs: the same names, arguments and results as the
   * handlers of the control socket. Only commands with `offline` in the table get here.
   */
  offline(loaded: LoadedConfig, command: string, args: ControlArgs): Promise<unknown>;
}

/** Where a command reads and writes; tests hand in their own. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Everything on standard input, up to `bytesMax`; null at a terminal, where somebody would have to type it. */
  read(bytesMax: number): Promise<string | null>;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

export interface CommandRun {
  program: Program;
  terminal: Terminal;
  /** What follows the command's name and is not an option. */
  words: string[];
  options: Record<string, string | boolean | undefined>;
}

export interface Command {
  name: string;
  /** What may follow the name, for the usage line. */
  usage: string;
  summary: string;
  /** More than the summary, in a few lines. */
  help?: string;
  examples: string[];
  options: Record<string, { type: 'string' | 'boolean'; summary: string; value?: string }>;
  /** How many words may follow. */
  wordsMax: number;
  run(run: CommandRun): Promise<number>;
}

/** The words or options of a command are wrong; the message says what is right. */
export class UsageError extends Error {}
