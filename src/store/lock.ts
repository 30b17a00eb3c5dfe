import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { commandName } from '../base/program.ts';
import { createPrivate } from './private_file.ts';

/** `release` may be called more than once; a process that dies releases too. */
export interface DataFolderLock {
  release(): void;
}

/**
 * Rule 94: one gateway owns the data folder. Throws `in_use` naming the process that has it.
 *
 * The lock is an exclusive SQLite transaction on an empty file of its own: the operating system drops it with the
 * process however that ends, so nothing stale is left to judge, a reused pid cannot block, and it works the same on
 * every platform SQLite does. The pid stands beside it for people to read and decides nothing.
 */
export function lockDataFolder(dataDir: string): DataFolderLock {
  const path = join(dataDir, 'gatehouse.lock');
  const pidPath = join(dataDir, 'gatehouse.pid');
  let database: Database.Database | null = null;
  createDataFolder(dataDir);
  try {
    createPrivate(path);
    database = new Database(path, { timeout: 0 });
    database.exec('begin exclusive');
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database?.close();
    if (isLocked(error)) throw inUse(dataDir, pidPath, error);
    throw unusable(dataDir, error);
  }
  const held = database;
  return { release: () => void held.close() };
}

/** Makes it if it is not there; for this user alone either way. */
export function createDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    chmodSync(dataDir, 0o700);
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

function unusable(dataDir: string, cause: unknown): GatehouseError {
  return new GatehouseError('store_unavailable', `The data folder ${dataDir} cannot be used (${messageOf(cause)}).`, {
    hint: 'Make it writable for this user, or set gateway.data_dir to a folder that is.',
    cause,
  });
}

function isLocked(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');
}

function inUse(dataDir: string, pidPath: string, cause: unknown): GatehouseError {
  let pid = 'unknown';
  try {
    pid = readFileSync(pidPath, 'utf8').trim() || pid;
  } catch {
    // The other process has the lock and is about to write its pid.
  }
  return new GatehouseError('in_use', `Another gateway uses the data folder ${dataDir} (process ${pid}).`, {
    hint: `Stop it with "${commandName()} stop", or set gateway.data_dir in the config file to another folder.`,
    cause,
  });
}
