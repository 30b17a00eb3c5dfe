import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

/**
 * Sees that a file exists and takes the rights of group and others away. A file that exists is not opened: closing any
 * descriptor of a file drops the POSIX locks that this process holds on it, SQLite's included.
 */
export function createPrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) closeSync(openSync(path, 'a', 0o600));
  else if (mode & 0o077) chmodSync(path, mode & 0o700);
}
