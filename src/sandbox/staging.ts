/**
 * Where a skill's folder can be reached by the user that skills run as. That is the folder itself, except under a
 * gateway started as root: its data folder is closed to everybody else, so each folder is copied once per process to
 * one that anybody may pass through and only root may change.
 */
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isAlive } from './cgroup.ts';

export interface Staging {
  /** `folder` is content-addressed: what is at a path never changes. */
  place(folder: string): string;
  close(): void;
}

const prefix = 'gatehouse-skills-';

export function createStaging(options: { root: boolean; parent?: string }): Staging {
  if (!options.root) return { place: (folder) => folder, close() {} };
  const places = new Map<string, string>();
  let own: string | null = null;
  return {
    place(folder) {
      own ??= createOwn(options.parent ?? (canWrite('/run') ? '/run' : tmpdir()));
      const known = places.get(folder);
      if (known !== undefined && lstatSync(known, { throwIfNoEntry: false })) return known;
      const target = join(own, basename(folder));
      const fresh = `${target}.new`;
      rmSync(fresh, { recursive: true, force: true });
      cpSync(folder, fresh, { recursive: true, verbatimSymlinks: true });
      open(fresh);
      rmSync(target, { recursive: true, force: true });
      renameSync(fresh, target);
      places.set(folder, target);
      return target;
    },
    close() {
      if (own) rmSync(own, { recursive: true, force: true });
    },
  };
}

function createOwn(parent: string): string {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const own = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  chmodSync(own, 0o711);
  return own;
}

function canWrite(folder: string): boolean {
  const probe = join(folder, `${prefix}${process.pid}`);
  try {
    mkdirSync(probe);
    rmSync(probe, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** Readable for all; executable where it was for its owner. */
function open(path: string): void {
  const kind = lstatSync(path);
  if (kind.isSymbolicLink()) return;
  chmodSync(path, kind.isDirectory() || kind.mode & 0o100 ? 0o755 : 0o644);
  if (kind.isDirectory()) for (const name of readdirSync(path)) open(join(path, name));
}
