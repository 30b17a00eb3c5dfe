/** Looks for what the sandbox is made of, and says what is missing. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { findCgroups } from './cgroup.ts';
import type { Means } from './run.ts';
import { seccompFilter } from './seccomp.ts';
import { createStaging } from './staging.ts';

export interface Missing {
  reason: string;
  /** What the operator can do. */
  hint: string;
}

export interface Found {
  means: Means;
  /** Null when a sandbox can be tried. */
  missing: Missing | null;
  /** How memory is limited, for `doctor` and the log. */
  memory: string;
}

export function findMeans(path: string = process.env.PATH ?? ''): Found {
  const root = process.getuid?.() === 0;
  const cgroups = process.platform === 'linux' ? findCgroups() : { reason: 'not Linux' };
  const withGroups = 'memory' in cgroups;
  const means: Means = {
    bwrap: findProgram('bwrap', path),
    root,
    seccomp: seccompFilter(process.arch),
    cgroups: withGroups ? cgroups : null,
    node: process.execPath,
    staging: createStaging({ root }),
  };
  const memory = withGroups ? `cgroup v${cgroups.version}` : `of each process only: ${cgroups.reason}`;
  return { means, missing: missingOf(means), memory };
}

function missingOf(means: Means): Missing | null {
  if (process.platform !== 'linux')
    return {
      reason: `the sandbox for skills needs Linux, and this is ${process.platform}`,
      hint: 'run the gateway on Linux, or set sandbox.subprocess: off to run skills without a sandbox',
    };
  if (!means.bwrap)
    return {
      reason: 'bubblewrap is not installed',
      hint: 'sudo apt-get install bubblewrap (Fedora: dnf install bubblewrap)',
    };
  if (!means.seccomp)
    return {
      reason: `the system calls of ${process.arch} are not known`,
      hint: 'use a machine with x86_64 or aarch64',
    };
  if (means.root && !isOpenToAll(means.node))
    return {
      reason: `Node at ${means.node} cannot be reached by the user that skills run as`,
      hint: 'install Node in /usr, or start the gateway as a user of its own',
    };
  return null;
}

function findProgram(name: string, path: string): string | null {
  const folders = [
    ...path.split(delimiter).filter((folder) => folder.startsWith('/')),
    '/usr/bin',
    '/bin',
    '/usr/sbin',
  ];
  return (
    folders
      .map((folder) => join(folder, name))
      .find((file) => {
        try {
          accessSync(file, constants.X_OK);
          return true;
        } catch {
          return false;
        }
      }) ?? null
  );
}

function isOpenToAll(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o001) !== 0 && (path === '/' || isOpenToAll(dirname(path)));
}
