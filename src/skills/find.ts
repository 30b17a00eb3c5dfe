/** Finds skill.json under the operator's allow-list roots. Reads nothing outside of them, whatever links there are. */
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export interface FoundManifest {
  /** The path of skill.json as the operator would write it: below the root as configured. */
  path: string;
  /** The root as configured, and where it really is. */
  root: string;
  realRoot: string;
}

export interface Search {
  found: FoundManifest[];
  /** Roots that were skipped, as log lines. */
  skipped: string[];
}

/** In the order of the roots, and within one by name. Links to folders are not followed. */
export async function findManifests(roots: readonly string[]): Promise<Search> {
  const search: Search = { found: [], skipped: [] };
  for (const root of roots) {
    if (!isAbsolute(root)) {
      search.skipped.push(`skill loader: skipping "${root}": not an absolute path`);
      continue;
    }
    let realRoot: string;
    try {
      realRoot = await realpath(root);
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      search.skipped.push(`skill loader: skipping ${root}: ${missing ? 'it does not exist' : messageOf(error)}`);
      continue;
    }
    await walk(root, realRoot, search);
  }
  return search;
}

async function walk(root: string, realRoot: string, search: Search): Promise<void> {
  let entries = 0;
  const into = async (way: string, depth: number): Promise<void> => {
    let names: Dirent[];
    try {
      names = await readdir(join(realRoot, way), { withFileTypes: true });
    } catch (error) {
      search.skipped.push(`skill loader: skipping ${join(root, way)}: ${messageOf(error)}`);
      return;
    }
    for (const entry of names.sort((left, right) => (left.name < right.name ? -1 : 1))) {
      entries += 1;
      if (entries > limits.skillSearchEntriesMax) return;
      const at = join(way, entry.name);
      if (entry.isDirectory() && depth < limits.skillSearchDepthMax) await into(at, depth + 1);
      else if (entry.name === 'skill.json' && !entry.isDirectory())
        search.found.push({ path: join(root, at), root, realRoot });
    }
  };
  await into('', 0);
  if (entries > limits.skillSearchEntriesMax)
    search.skipped.push(
      `skill loader: skipping the rest of ${root}: more than ${limits.skillSearchEntriesMax} files; name narrower folders in skill_dirs`,
    );
}
