import { GatehouseError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { commandName } from '../base/program.ts';

export { nearest };

/** Keys and list positions from the root of the file: `['bindings', 0, 'scope']`. */
export type Path = readonly (string | number)[];

/** One thing to tell about the file. `path` is empty when it concerns the file as a whole. */
export interface ConfigIssue {
  path: string;
  line?: number;
  message: string;
}

/** Everything that is wrong with a configuration file, in the order of the file. */
export class ConfigError extends GatehouseError {
  /** Name of the file as it stands in front of every line. */
  readonly file: string;
  readonly issues: readonly ConfigIssue[];
  constructor(file: string, issues: readonly ConfigIssue[]) {
    super('config', issues.map((issue) => formatIssue(file, issue)).join('\n'), {
      hint: `correct the lines named above and run "${commandName()} check"`,
    });
    this.file = file;
    this.issues = issues;
  }
}

/** `config.yaml:41 bindings[0].scop: unknown key, did you mean "scope"?` */
export function formatIssue(file: string, issue: ConfigIssue): string {
  const place = issue.line === undefined ? `${file}:` : `${file}:${issue.line}`;
  return issue.path === '' ? `${place} ${issue.message}` : `${place} ${issue.path}: ${issue.message}`;
}

/** `bindings[0].where.chats[1]`, `policies["mcp:github"].search` */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** `, did you mean "scope"?` or, when nothing is near, what there is to choose from. */
export function suggestion(word: string, known: readonly string[], what: string): string {
  const near = nearest(word, known);
  if (near !== undefined) return `, did you mean "${near}"?`;
  if (known.length === 0) return `; there are no ${what}`;
  const shown = known.slice(0, 20).join(', ');
  return `; the ${what} are ${shown}${known.length > 20 ? ', …' : ''}`;
}
