/** Telegram updates as nobody should send them: every recorded one with each of its parts made wrong. */
import { readdirSync, readFileSync } from 'node:fs';

type Update = Record<string, unknown>;
type Path = (string | number)[];

const folder = new URL('../fixtures/telegram/', import.meta.url);
const wrongValues: unknown[] = [null, [], {}, '', 'x\0\ud800\u202e', -1, 1.5, 1e300, 2 ** 53, true, [[]]];
/** Ids and times of an update are Telegram's own; what is in it may come from anybody. */
const keptFields = new Set(['update_id']);

/** Without an update_id; some two thousand. */
export function hostileUpdates(): Update[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith('update-'))
    .flatMap((file) => {
      const { update_id: _, ...update } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Update;
      const paths = pathsOf(update).filter((path) => !keptFields.has(String(path.at(-1))));
      return [
        ...paths.map((path) => changed(update, path, undefined)),
        ...paths.flatMap((path) => wrongValues.map((value) => changed(update, path, value))),
        poisoned(update) as Update,
      ];
    });
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]));
  return path.length === 0 ? below : [path, ...below];
}

function changed(update: Update, path: Path, value: unknown): Update {
  const copy = structuredClone(update);
  let holder: Record<string | number, unknown> = copy;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

/** What no database takes in every string but those that say what kind of thing it is. */
function poisoned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return key === 'type' || key === 'status' ? value : `\0\ud800${value}\udfff`;
  if (Array.isArray(value)) return value.map((part) => poisoned(part, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, poisoned(part, name)]));
}
