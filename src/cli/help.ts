import { commandName } from '../base/program.ts';
import type { Command } from './program.ts';
import { columns } from './text.ts';

/** Examples are as an installed program is called. */
function inCheckout(): string[] {
  const name = commandName();
  return name === 'gatehouse' ? [] : ['', `Here "gatehouse" is "${name}".`];
}

export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [`  ${command.name}`, command.summary]);
  return [
    'Usage: gatehouse COMMAND [OPTIONS]',
    '',
    columns(rows),
    '',
    'Every command takes --config FILE (by default ./config.yaml, else the one that comes with the program).',
    '"gatehouse help COMMAND" explains one. Exit codes: 0 done, 1 failed, 2 used wrongly.',
    ...inCheckout(),
    '',
  ].join('\n');
}

export function helpOf(command: Command): string {
  const options: [string, string][] = [
    ['--config FILE', 'The configuration to use.'],
    ...Object.entries(command.options).map(([name, option]): [string, string] => [
      `--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
      option.summary,
    ]),
  ];
  return [
    `Usage: gatehouse ${[command.name, command.usage, '[OPTIONS]'].filter((part) => part !== '').join(' ')}`,
    '',
    command.summary,
    ...(command.help === undefined ? [] : [command.help]),
    '',
    'Options:',
    columns(options.map(([name, summary]) => [`  ${name}`, summary])),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    ...inCheckout(),
    '',
  ].join('\n');
}
