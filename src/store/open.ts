import { GatehouseError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { CommitHooks, Db } from './db.ts';
import { lockDataFolder } from './lock.ts';
import { migrate } from './migrate.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Opens `sqlite:PATH` (relative to the working directory) or `postgres://…` and brings it to this program's schema.
 * Throws `store_unavailable`, `store_newer`, or `config` for any other url.
 */
export async function openStore(url: string, options: { hooks?: CommitHooks; log?: Log } = {}): Promise<Db> {
  const db = await open(url, options);
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** As `openStore`, by the only gateway of its data folder: with SQLite that is locked until `close` (rule 94). */
export async function openOwnStore(
  url: string,
  dataDir: string,
  options: { hooks?: CommitHooks; log?: Log } = {},
): Promise<{ db: Db; close(): Promise<void> }> {
  const lock = url.startsWith('sqlite:') ? lockDataFolder(dataDir) : null;
  try {
    const db = await openStore(url, options);
    return {
      db,
      async close() {
        await db.close();
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function open(url: string, options: { hooks?: CommitHooks; log?: Log }): Promise<Db> {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length), options);
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(url, options);
  }
  // The url may hold a password, so it is not repeated.
  throw new GatehouseError('config', 'storage.url is neither sqlite:PATH nor postgres://…', {
    hint: 'Write storage.url as sqlite:./data/gatehouse.db or postgres://user:password@host:5432/database',
  });
}
