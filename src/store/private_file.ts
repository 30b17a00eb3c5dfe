import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';

/**
 * Sees that a file exists and that group and others have no rights on it. A file that exists is not opened: closing any
 * descriptor of a file drops the POSIX locks that this process holds on it, SQLite's included.
 */
export function createPrivate(path: string): void {
  if (existsSync(path)) chmodSync(path, 0o600);
  else closeSync(openSync(path, 'a', 0o600));
}
