/**
 * Registers one skill: copies its folder into the data folder under the digest of what was copied. Only the copy runs,
 * so that what was checked and approved is what runs (rules 50 and 59).
 */
import { lstat, mkdir, mkdtemp, readdir, readlink, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { canonicalJson, sha256 } from '../base/digest.ts';
import { limits } from '../base/limits.ts';
import { isWithin } from '../sandbox/grant.ts';
import type { Json } from '../types/json.ts';
import type { FoundManifest } from './find.ts';
import { folderDigest, makeReadOnly } from './folder_digest.ts';
import type { Manifest } from './manifest.ts';
import { EscapeError, readBelow } from './read_below.ts';

export interface RegisteredSkill {
  manifest: Manifest;
  /** The path of skill.json where the operator put it. */
  source: string;
  /** The copy that runs. */
  folder: string;
  /** Of the program in the copy. */
  program: string;
  /** `node` when the program's first line says so: it runs with the gateway's own Node. */
  interpreter: 'node' | null;
  /** Of the copy: names, contents, links, and which files can be executed. */
  folderDigest: string;
  /** What an approval is for (rule 50): changes with description, schema and folder. */
  definition: string;
}

/** Where an entry from outside of the skill's folder is put in the copy. */
const entryFolder = '.entry';

/** What was read before the copy was made; the copy must hold the same. */
export interface ReadManifest extends FoundManifest {
  text: Buffer;
  manifest: Manifest;
}

/** Throws an Error with the reason. `store` is `<data>/skills`. */
export async function registerSkill(found: ReadManifest, store: string): Promise<RegisteredSkill> {
  const { manifest, realRoot } = found;
  const source = await realpath(dirname(found.path));
  if (!isWithin(source, realRoot)) throw new Error(`${dirname(found.path)} was moved while it was registered`);
  const entry = await findEntry(manifest.entry, source, found);
  await mkdir(store, { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(join(store, '.new-'));
  try {
    const copy = createCopy(realRoot);
    await copy.folder(source, fresh);
    const program = isWithin(entry, source) ? relative(source, entry) : join(entryFolder, basename(entry));
    if (!isWithin(entry, source)) {
      await mkdir(join(fresh, entryFolder));
      await copy.file(entry, join(fresh, program));
    }
    const own = await realpath(fresh);
    const copied = await readBelow(join(fresh, 'skill.json'), own, limits.skillManifestBytesMax);
    const { content, executable } = await readBelow(join(fresh, program), own, limits.skillFolderBytesMax);
    if (!copied.content.equals(found.text) || !executable) throw new Error('it was changed while it was registered');
    await makeReadOnly(fresh);
    const digest = await folderDigest(fresh);
    const folder = await putAway(fresh, join(store, digest), digest);
    const definition = { description: manifest.description, schema: manifest.schema as Json, folder: digest };
    return {
      manifest,
      source: found.path,
      folder,
      program,
      interpreter: namesNode(content) ? 'node' : null,
      folderDigest: digest,
      definition: sha256(canonicalJson(definition)),
    };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/**
 * Its real path; `source` is the real path of the skill's folder. Links in it are followed to the end, and that end must
 * be below the root and executable. Throws an Error with the reason.
 */
export async function findEntry(entry: string, source: string, found: FoundManifest): Promise<string> {
  const { root, realRoot } = found;
  const named = resolve(source, entry);
  let real: string;
  try {
    real = await realpath(named);
  } catch {
    // One that is not there must not tell what is there outside of the root.
    if (!isWithin(named, realRoot) && !isWithin(named, root)) throw escapes(entry, root);
    throw new Error(`entry ${entry} does not exist`);
  }
  if (!isWithin(real, realRoot)) throw escapes(entry, root);
  const kind = await lstat(real);
  if (!kind.isFile()) throw new Error(`entry ${entry} is not a regular file`);
  if ((kind.mode & 0o111) === 0) throw new Error(`entry ${entry} is not executable: chmod +x ${real}`);
  return real;
}

function escapes(entry: string, root: string): Error {
  return new Error(`entry ${entry} escapes allowlist root ${root}`);
}

/**
 * Copies below the limits for size and number. A link to a file below the root becomes that file; any other stays a
 * link, which leads nowhere in the sandbox but to the system and the folder itself.
 */
function createCopy(realRoot: string) {
  let bytes = 0;
  let files = 0;
  const count = () => {
    files += 1;
    if (files > limits.skillFolderFilesMax)
      throw new Error(`its folder has more than ${limits.skillFolderFilesMax} files`);
  };
  const file = async (from: string, to: string) => {
    const left = limits.skillFolderBytesMax - bytes;
    const { content, executable } = await readBelow(from, realRoot, left);
    bytes += content.length;
    await writeFile(to, content, { mode: executable ? 0o700 : 0o600, flag: 'wx' });
  };
  const folder = async (from: string, to: string): Promise<void> => {
    for (const entry of await readdir(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      count();
      if (entry.isDirectory()) {
        await mkdir(target, { mode: 0o700 });
        await folder(source, target);
      } else if (entry.isFile()) await file(source, target);
      else if (entry.isSymbolicLink()) await link(source, target);
    }
  };
  const link = async (from: string, to: string) => {
    try {
      await file(from, to);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const elsewhere = error instanceof EscapeError || code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO';
      if (!elsewhere && !(await isFolder(from))) throw error;
      await symlink(await readlink(from), to);
    }
  };
  return { folder, file };
}

async function isFolder(link: string): Promise<boolean> {
  return (await lstat(await realpath(link))).isDirectory();
}

/** The folder named by its digest; one that is there already is used only if it is what its name says. */
async function putAway(fresh: string, folder: string, digest: string): Promise<string> {
  const there = await folderDigest(folder).catch(() => null);
  if (there === digest) return folder;
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
  return folder;
}

/** `#!/usr/bin/env node`, `#!/usr/bin/env -S node --flag`, `#!/usr/local/bin/node`. */
function namesNode(program: Buffer): boolean {
  const line = program.subarray(0, 256).toString('latin1').split('\n', 1)[0] ?? '';
  return /^#!\s*(?:\/\S*\/)?(?:env\s+(?:-S\s+)?)?(?:\/\S*\/)?node(?:\s|$)/.test(line);
}

/** Removes copies that no registered skill uses; only at start, when none of them can be running. */
export async function removeOldCopies(store: string, keep: ReadonlySet<string>): Promise<number> {
  const names = await readdir(store).catch(() => [] as string[]);
  const old = names.filter((name) => /^(?:[0-9a-f]{64}|\.new-.*)$/.test(name) && !keep.has(name));
  for (const name of old) await rm(join(store, name), { recursive: true, force: true });
  return old.length;
}
