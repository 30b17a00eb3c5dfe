import { parseArgs } from 'node:util';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import { ConfigError, nearest } from '../config/issue.ts';
import { accessCommands } from './access.ts';
import { approvalsCommand } from './approvals.ts';
import { doctorCommand } from './doctor.ts';
import { helpOf, overview } from './help.ts';
import { localCommands } from './local.ts';
import { policyCommands } from './policy.ts';
import { type Command, exitCodes, type Program, type Terminal, UsageError } from './program.ts';
import { remoteCommands } from './remote.ts';
import { skillsCommand } from './skills.ts';

const helpCommand: Command = {
  name: 'help',
  usage: '[COMMAND]',
  summary: 'Explains a command.',
  examples: ['gatehouse help check'],
  options: {},
  wordsMax: 1,
  async run({ terminal, words }) {
    const [name] = words;
    terminal.out(name === undefined ? overview(commands) : helpOf(findCommand(name, commandName(terminal.env))));
    return exitCodes.ok;
  },
};

export const commands: readonly Command[] = [
  ...localCommands,
  doctorCommand,
  ...remoteCommands,
  approvalsCommand,
  ...accessCommands,
  skillsCommand,
  ...policyCommands,
  helpCommand,
];

const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async read(bytesMax) {
    if (process.stdin.isTTY) return null;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new UsageError(`standard input is larger than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  },
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
  if (message.endsWith('.')) return `${message} ${hint}`;
  // A hint that begins with a word is a sentence elsewhere; a name such as TELEGRAM_TOKEN keeps its capitals.
  return `${message}; ${/^[A-Z][a-z]/.test(hint) ? hint[0]!.toLowerCase() + hint.slice(1) : hint}`;
}

/** Options people try, and where that is set. */
const elsewhere: Record<string, string> = {
  port: 'the port is gateway.listen in the config file',
  host: 'the address is gateway.listen in the config file',
};

async function runCommand(argv: readonly string[], program: Program, terminal: Terminal): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    terminal.err(overview(commands));
    return exitCodes.usage;
  }
  if (first === '--version' || first === '-v') return runCommand(['version'], program, terminal);
  if (first === '--help' || first === '-h') return runCommand(['help', ...rest], program, terminal);
  const command = findCommand(first, commandName(terminal.env));
  const { words, options } = parse(command, rest, commandName(terminal.env));
  if (options.help === true) {
    terminal.out(helpOf(command));
    return exitCodes.ok;
  }
  if (words.length > command.wordsMax)
    throw new UsageError(
      `${command.name} does not take "${words[command.wordsMax]}"; see ${commandName(terminal.env)} help ${command.name}`,
    );
  return command.run({ program, terminal, words, options });
}

function findCommand(name: string, program: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    commands.map((command) => command.name),
  );
  throw new UsageError(
    `there is no command "${name}"${near === undefined ? `; "${program} help" lists them` : `, did you mean "${near}"?`}`,
  );
}

function parse(command: Command, args: readonly string[], program: string) {
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
    const option = unknown?.replace(/^-+/, '') ?? '';
    if (Object.hasOwn(elsewhere, option)) throw new UsageError(`there is no --${option}: ${elsewhere[option]}`);
    const near = unknown === undefined ? undefined : nearest(option, Object.keys(options));
    throw new UsageError(
      `${messageOf(error).split('. ')[0]}${near === undefined ? '' : `, did you mean "--${near}"?`}; see ${program} help ${command.name}`,
    );
  }
}
