import { GatehouseError } from '../base/errors.ts';
import { commandName } from '../base/program.ts';

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

/** The known word that is meant most likely, or undefined when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const distanceMax = Math.max(1, Math.min(3, Math.floor(word.length / 2)));
  let best: string | undefined;
  let bestDistance = distanceMax + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > distanceMax) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `, did you mean "scope"?` or, when nothing is near, what there is to choose from. */
export function suggestion(word: string, known: readonly string[], what: string): string {
  const near = nearest(word, known);
  if (near !== undefined) return `, did you mean "${near}"?`;
  if (known.length === 0) return `; there are no ${what}`;
  const shown = known.slice(0, 20).join(', ');
  return `; the ${what} are ${shown}${known.length > 20 ? ', …' : ''}`;
}

/** Optimal string alignment: insert, delete, replace, and swap of two neighbours count one each. */
function editDistance(left: string, right: string): number {
  if (left.length > 100 || right.length > 100) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[left.length]![right.length]!;
}
