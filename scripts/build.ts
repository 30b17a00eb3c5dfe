/** Makes `dist/`: the JavaScript that a published package runs, since Node strips no types under node_modules. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
// Pages, styles, SQL and example skills are used as they are.
for (const path of globSync(
  '{src,adapters,capabilities,migrations}/**/*.{sql,css,js,mjs,sh,py,svg,html,json,proto,md}',
  {
    cwd: root,
  },
))
  cpSync(join(root, path), join(dist, path));
console.log('built dist/');
