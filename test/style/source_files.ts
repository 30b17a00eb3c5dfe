/** The files that the style tests read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const skipped = new Set(['node_modules', 'dist', 'data', '.git']);

export interface SourceFile {
  /** From the repository's root, with `/`. */
  path: string;
  text: string;
}

/** Every text file below the folders, or the files themselves; what does not exist has none. */
export function filesIn(places: readonly string[], endings: readonly string[]): SourceFile[] {
  return places
    .flatMap((place) => pathsIn(join(root, place)))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }));
}

function pathsIn(place: string): string[] {
  if (!existsSync(place)) return [];
  try {
    return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
      if (skipped.has(entry.name)) return [];
      return entry.isDirectory() ? pathsIn(join(place, entry.name)) : [join(place, entry.name)];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [place];
    throw error;
  }
}

/** The code without comments. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;,{}()])\/\/.*$/gm, '$1');
}

/** The code without what its strings and templates say; lines stay where they are. */
export function withoutStrings(text: string): string {
  return text.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g, (literal) => {
    return `''${literal.replace(/[^\n]/g, '')}`;
  });
}

/** Each place where `pattern` is found, as `path:line: text`, but for the excepted files. */
export function findings(files: readonly SourceFile[], pattern: RegExp, except: Record<string, string> = {}): string[] {
  return files
    .filter((file) => !(file.path in except))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
}
