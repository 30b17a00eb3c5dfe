/** Where this program stands on the disk. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Holds `src/` and `migrations/`: a checkout, or `dist/` of a published package. */
export const programFolder = dirname(dirname(import.meta.dirname));

/** Holds package.json and the config.yaml that comes with the program. */
export const packageFolder = existsSync(join(programFolder, 'package.json')) ? programFolder : dirname(programFolder);

export function readVersion(): string {
  return (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version;
}
