import { dirname } from 'node:path';
import { controlPath } from './path.ts';

/** Paths that no program started by the gateway may see; the first is the data folder. */
export function ownFiles(of: { dataDir: string; configFile: string; storageUrl: string }): [string, ...string[]] {
  const database = of.storageUrl.startsWith('sqlite:') ? of.storageUrl.slice('sqlite:'.length) : null;
  return [
    of.dataDir,
    // Elsewhere when the data folder's path is too long for a socket.
    dirname(controlPath(of.dataDir)),
    of.configFile,
    ...(database === null ? [] : [database, `${database}-wal`, `${database}-shm`]),
  ];
}
