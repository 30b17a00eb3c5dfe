/** Commands that need no running gateway. */
import { settleAuto } from '../config/load.ts';
import { loadFor, remarks } from './config_file.ts';
import { type Command, exitCodes } from './program.ts';
import { skillLines } from './skill_folders.ts';

export const localCommands: Command[] = [
  {
    name: 'start',
    usage: '',
    summary: 'Starts the gateway and keeps it running.',
    help: 'Stops on SIGTERM or Ctrl-C; SIGHUP reads the configuration again.',
    examples: ['gatehouse start', 'gatehouse start --config /etc/gatehouse/config.yaml'],
    options: { 'no-open': { type: 'boolean', summary: 'Do not open the chat page in a browser.' } },
    wordsMax: 0,
    async run(run) {
      const loaded = await settleAuto(await loadFor(run), run.terminal.env);
      for (const line of remarks(loaded)) run.terminal.out(`${line}\n`);
      return run.program.start(loaded, { open: run.options['no-open'] !== true });
    },
  },
  {
    name: 'check',
    usage: '',
    summary: 'Checks the configuration and prints every error.',
    help: 'Reads the manifests of skills too. Opens no port and no database. Exit code 1 when there are errors.',
    examples: ['gatehouse check', 'gatehouse check --config other.yaml'],
    options: {},
    wordsMax: 0,
    async run(run) {
      const loaded = await loadFor(run);
      const lines = [`${loaded.file} is valid`, ...remarks(loaded), ...(await skillLines(run, loaded))];
      run.terminal.out(`${lines.join('\n')}\n`);
      return exitCodes.ok;
    },
  },
  {
    name: 'version',
    usage: '',
    summary: 'Prints the version.',
    examples: ['gatehouse version'],
    options: {},
    wordsMax: 0,
    async run({ program, terminal }) {
      terminal.out(`${program.version}\n`);
      return exitCodes.ok;
    },
  },
];
