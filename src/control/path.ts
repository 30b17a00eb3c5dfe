import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';

/** sun_path of macOS, with its closing zero; Linux has 108. */
const socketPathBytesMax = 103;

/**
 * Where the control socket of a data folder is: in it, or, when that path is too long for a socket, in a folder of
 * this user (0700) under the temporary folder, found by both sides from the data folder's path.
 * @throws GatehouseError `refused` when somebody else owns that folder.
 */
export function controlPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'control.sock');
  if (Buffer.byteLength(path) <= socketPathBytesMax) return path;
  const folder = join(tmpdir(), `gatehouse-${process.getuid?.() ?? 'user'}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  const isOurs = stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid());
  if (!isOurs || (stat.mode & 0o077) !== 0)
    throw new GatehouseError('refused', `${folder} is not a folder of this user alone`, {
      hint: 'remove it, or set gateway.data_dir to a shorter path',
    });
  return join(folder, `${sha256(resolve(dataDir)).slice(0, 24)}.sock`);
}
