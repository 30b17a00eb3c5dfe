/** The digest of a skill's copy: the same for the same names, contents, links and executable files. */
import { createHash } from 'node:crypto';
import { chmod, lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** In hex. Every part is preceded by its length, so that no two folders give the same bytes. */
export async function folderDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const add = (part: string | Buffer) => {
    const bytes = Buffer.from(part);
    hash.update(`${bytes.length}:`).update(bytes);
  };
  const into = async (path: string, way: string): Promise<void> => {
    for (const name of (await readdir(path)).sort()) {
      const [at, named] = [join(path, name), way === '' ? name : `${way}/${name}`];
      const kind = await lstat(at);
      add(named);
      if (kind.isDirectory()) {
        add('folder');
        await into(at, named);
      } else if (kind.isSymbolicLink()) {
        add('link');
        add(await readlink(at));
      } else {
        add(kind.mode & 0o100 ? 'program' : 'file');
        add(await readFile(at));
      }
    }
  };
  await into(folder, '');
  return hash.digest('hex');
}

/** Files for their owner alone, and not to be written. Folders stay writable, or their owner could not remove them. */
export async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const at = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadOnly(at);
    else if (entry.isFile()) await chmod(at, (await lstat(at)).mode & 0o100 ? 0o500 : 0o400);
  }
}
