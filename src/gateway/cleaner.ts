/** Removes what the configuration does not keep any more, some minutes after the start and then every hour. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../store/db.ts';
import { removeOld } from '../store/retention.ts';

const firstAfterMs = 5 * 60_000;
const everyMs = 3_600_000;

export interface CleanerParts {
  db: Db;
  clock: Clock;
  log: Log;
  dataDir: string;
  retention: () => Config['retention'];
}

export interface Cleaner {
  start(): void;
  stop(): void;
  /** One pass now. */
  clean(): Promise<number>;
}

export function createCleaner(parts: CleanerParts): Cleaner {
  const { db, clock, log } = parts;
  let cancel = () => {};
  const clean = async () => {
    const now = clock.now();
    const { messagesMs, runsMs, uploadsMs } = parts.retention();
    const removed = await removeOld(db, {
      messagesBefore: now - messagesMs,
      runsBefore: now - runsMs,
      keysBefore: now - limits.inboxKeyDays * 24 * 3_600_000,
      now,
    });
    const files = await removeOldFolders(join(parts.dataDir, 'uploads'), now - uploadsMs);
    if (removed + files > 0) log.info({ rows: removed, folders: files }, 'removed what is past its retention');
    return removed;
  };
  const later = (ms: number) => {
    cancel = clock.after(ms, () => {
      clean()
        .catch((error) => log.error({ err: error }, `retention: ${messageOf(error)}`))
        .finally(() => later(everyMs));
    });
  };
  return { start: () => later(firstAfterMs), stop: () => cancel(), clean };
}

async function removeOldFolders(folder: string, before: number): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  let removed = 0;
  for (const name of names) {
    const path = join(folder, name);
    if ((await stat(path)).mtimeMs >= before) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}
