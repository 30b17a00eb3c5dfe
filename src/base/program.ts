/** Where this program stands on the disk. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Holds `src/` and `migrations/`: a checkout, or `dist/` of a published package. */
export const programFolder = dirname(dirname(import.meta.dirname));

/** Holds package.json and the config.yaml that comes with the program. */
export const packageFolder = existsSync(join(programFolder, 'package.json')) ? programFolder : dirname(programFolder);

/** What a person types before the name of a command: those who start the program through npm have no `gatehouse`. */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  const script = env.npm_lifecycle_event;
  return script === 'start' || script === 'gatehouse' ? 'npm run gatehouse --' : 'gatehouse';
}

export function readVersion(): string {
  return (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version;
}
