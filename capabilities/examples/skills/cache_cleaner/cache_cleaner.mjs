#!/usr/bin/env node
/** Arguments as JSON on stdin, the result as JSON on stdout, progress on stderr. */
import { lstatSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const { path, older_than_days: days = 30, dry_run: dryRun = true } = JSON.parse(readFileSync(0, 'utf8'));
const before = Date.now() - days * 24 * 3_600_000;
const result = { dry_run: dryRun, freed_bytes: 0, files_deleted: 0, folders_deleted: 0, kept_files: 0, failed: [] };

function attempt(target, action) {
  try {
    action();
    return true;
  } catch (error) {
    if (result.failed.length < 20) result.failed.push(`${target}: ${error.code}`);
    return false;
  }
}

/** Whether nothing is left in it. Links are deleted like files and never followed. */
function clean(folder) {
  let empty = true;
  let names = [];
  if (!attempt(folder, () => (names = readdirSync(folder)))) return false;
  for (const name of names) {
    const target = join(folder, name);
    const info = lstatSync(target, { throwIfNoEntry: false });
    if (!info) continue;
    if (info.isDirectory()) {
      if (clean(target) && (dryRun || attempt(target, () => rmdirSync(target)))) result.folders_deleted += 1;
      else empty = false;
    } else if (Math.max(info.atimeMs, info.mtimeMs) >= before) {
      result.kept_files += 1;
      empty = false;
    } else if (dryRun || attempt(target, () => unlinkSync(target))) {
      // The space of a file with other names is not free yet.
      if (info.nlink === 1) result.freed_bytes += info.blocks * 512;
      result.files_deleted += 1;
      if (result.files_deleted % 10_000 === 0) console.error(`${result.files_deleted} files so far`);
    } else empty = false;
  }
  return empty;
}

if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(
    `${path} is no folder that this skill can see; the operator grants folders in sandbox.skills.cache_cleaner.write`,
  );
  process.exit(1);
}
clean(path);
console.log(JSON.stringify(result));
