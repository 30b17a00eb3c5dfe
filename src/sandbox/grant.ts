import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { GatehouseError } from '../base/errors.ts';

/** What the operator grants one skill beyond the sandbox (`sandbox.skills.NAME`); a manifest cannot ask for it. */
export interface Grant {
  /** Absolute paths it may read. */
  read: readonly string[];
  /** Absolute paths it may read and write, as the skills' user. */
  write: readonly string[];
  /** `any` is the machine's own network, loopback included. */
  network: 'none' | 'any';
  /** Runs without the sandbox. */
  unconfined: boolean;
}

export const noGrant: Grant = { read: [], write: [], network: 'none', unconfined: false };

/** Whether `path` is `folder` or in it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('../') && way !== '..' && !isAbsolute(way));
}

/**
 * Throws GatehouseError('refused') where a granted path cannot be given; the words are for operator and model. `hidden`
 * are real paths: the gateway's own files, which no grant opens.
 */
export function checkGrant(grant: Grant, hidden: readonly string[]): void {
  for (const path of [...grant.read, ...grant.write]) {
    if (!isAbsolute(path) || resolve(path) === '/')
      throw new GatehouseError('refused', `sandbox.skills grants ${path}: it must be an absolute path below /`);
    const real = realPath(path);
    if (real === null)
      throw new GatehouseError('refused', `sandbox.skills grants ${path}, which does not exist`, {
        hint: 'create it, or take it out of the grant',
      });
    const covering = [...hidden, '/proc', '/dev'].find((folder) => isWithin(real, folder));
    if (covering !== undefined)
      throw new GatehouseError('refused', `sandbox.skills grants ${path}, but nothing of ${covering} can be granted`);
    // A cover hides them only where they are: who may write above could rename the folder that they are in.
    const inside = grant.write.includes(path) ? hidden.find((one) => isWithin(one, real)) : undefined;
    if (inside !== undefined)
      throw new GatehouseError(
        'refused',
        `sandbox.skills grants writing to ${path}, which holds ${inside} of the gateway`,
        {
          hint: 'grant folders below it that do not',
        },
      );
  }
}

/** Null when nothing is there. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
