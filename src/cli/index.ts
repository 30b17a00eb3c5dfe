import { parseArgs } from 'node:util';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { ConfigError, nearest } from '../config/issue.ts';
import { helpOf, overview } from './help.ts';
import { localCommands } from './local.ts';
import { type Command, exitCodes, type Program, type Terminal, UsageError } from './program.ts';
import { remoteCommands } from './remote.ts';

const helpCommand: Command = {
  name: 'help',
  usage: '[COMMAND]',
  summary: 'Explains a command.',
  examples: ['gatehouse help check'],
  options: {},
  wordsMax: 1,
  async run({ terminal, words }) {
    const [name] = words;
    terminal.out(name === undefined ? overview(commands) : helpOf(findCommand(name)));
    return exitCodes.ok;
  },
};

export const commands: readonly Command[] = [...localCommands, ...remoteCommands, helpCommand];

const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
};

/**
 * Does what the words say. Resolves with the exit code: 0 done, 1 failed, 2 used wrongly. Never rejects for what an
 * operator can do wrong; a bug passes through.
 */
export async function runCli(argv: readonly string[], program: Program, terminal = processTerminal): Promise<number> {
  try {
    return await runCommand(argv, program, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`gatehouse: ${error.message}\n`);
      return exitCodes.usage;
    }
    if (error instanceof ConfigError) terminal.err(`${error.message}\n`);
    else if (error instanceof GatehouseError) terminal.err(`gatehouse: ${withHint(error)}\n`);
    else throw error;
    return exitCodes.failure;
  }
}

/** Some messages are sentences, some are not. */
function withHint({ message, hint }: GatehouseError): string {
  if (hint === undefined) return message;
  return message.endsWith('.') ? `${message} ${hint}` : `${message}; ${hint}`;
}

async function runCommand(argv: readonly string[], program: Program, terminal: Terminal): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    terminal.err(overview(commands));
    return exitCodes.usage;
  }
  if (first === '--version' || first === '-v') return runCommand(['version'], program, terminal);
  if (first === '--help' || first === '-h') return runCommand(['help', ...rest], program, terminal);
  const command = findCommand(first);
  const { words, options } = parse(command, rest);
  if (options.help === true) {
    terminal.out(helpOf(command));
    return exitCodes.ok;
  }
  if (words.length > command.wordsMax)
    throw new UsageError(
      `${command.name} does not take "${words[command.wordsMax]}"; see gatehouse help ${command.name}`,
    );
  return command.run({ program, terminal, words, options });
}

function findCommand(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    commands.map((command) => command.name),
  );
  throw new UsageError(
    `there is no command "${name}"${near === undefined ? '; "gatehouse help" lists them' : `, did you mean "${near}"?`}`,
  );
}

function parse(command: Command, args: readonly string[]) {
  const own = Object.entries(command.options).map(([name, option]) => [name, { type: option.type }] as const);
  const options = {
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    ...Object.fromEntries(own),
  } as const;
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { words: parsed.positionals, options: parsed.values as Record<string, string | boolean | undefined> };
  } catch (error) {
    const unknown = /'(-[^']*)'/.exec(messageOf(error))?.[1];
    const near = unknown === undefined ? undefined : nearest(unknown.replace(/^-+/, ''), Object.keys(options));
    throw new UsageError(
      `${messageOf(error).split('. ')[0]}${near === undefined ? '' : `, did you mean "--${near}"?`}; see gatehouse help ${command.name}`,
    );
  }
}
