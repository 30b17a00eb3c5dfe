/** Optional programs of tests: a missing one is a skip that says how to get it, or a failure when all must run. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian packages; what a machine of another kind calls them is easy to guess from these. */
const packages: Record<string, string> = {
  chromium: 'chromium',
  bwrap: 'bubblewrap',
  docker: 'docker.io',
  setpriv: 'util-linux',
  python3: 'python3',
};

/** The path of a program, or null. `$CHROMIUM` and its like, in capitals, name it elsewhere. */
export function findProgram(program: string): string | null {
  const named = process.env[program.toUpperCase()];
  const places = named ? [named] : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  return places.find(isExecutable) ?? null;
}

/**
 * For `test(name, { skip: needs('chromium') }, …)`: false, or the reason with the command that installs it. Under
 * GATEHOUSE_TEST_ALL=1 it never skips, so that the test runs and fails.
 */
export function needs(program: string): string | false {
  if (findProgram(program) || process.env.GATEHOUSE_TEST_ALL === '1') return false;
  return `${program} is not installed: sudo apt-get install ${packages[program] ?? program}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
