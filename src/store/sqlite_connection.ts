import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { GatehouseError, messageOf } from '../base/errors.ts';
import type { Param, Row } from './db.ts';
import { createPrivate } from './private_file.ts';

/** Statements are kept prepared; texts with a varying number of placeholders must not fill the memory. */
const statementsMax = 500;
const busyMs = 5_000;
/** The WAL file is cut back to this after a checkpoint, so that one large transaction does not keep the disk for good. */
const walBytesKept = 16 * 1024 * 1024;

export type SqliteConnection = ReturnType<typeof openConnection>;

/**
 * Creates the database file and its folder with no rights for group and others; SQLite gives `-wal` and `-shm` the
 * rights of the database file.
 */
export function prepareFile(path: string): void {
  if (path === '' || path.startsWith(':'))
    throw new GatehouseError('config', `"${path}" is not a file: the database needs one`, {
      hint: 'Write storage.url as sqlite:./data/gatehouse.db',
    });
  try {
    const folder = dirname(resolve(path));
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    createPrivate(path);
    for (const file of [`${path}-wal`, `${path}-shm`]) if (existsSync(file)) createPrivate(file);
  } catch (error) {
    throw unavailable(
      path,
      'cannot be opened for writing',
      'make the file and its folder writable for this user',
      error,
    );
  }
}

export function openConnection(path: string, readonly: boolean) {
  const database = guard(path, () => {
    const opened = new Database(path, { readonly, timeout: busyMs });
    try {
      if (!readonly) opened.pragma('journal_mode = wal');
      opened.pragma('synchronous = full');
      opened.pragma('foreign_keys = on');
      opened.pragma(`journal_size_limit = ${walBytesKept}`);
    } catch (error) {
      opened.close();
      throw error;
    }
    return opened;
  });
  const statements = new Map<string, Database.Statement<Param[], Row>>();

  function prepare(sql: string): Database.Statement<Param[], Row> {
    let statement = statements.get(sql);
    if (statement) return statement;
    statement = database.prepare<Param[], Row>(plannedOnce(sql));
    if (statements.size >= statementsMax) statements.delete(statements.keys().next().value as string);
    statements.set(sql, statement);
    return statement;
  }

  return {
    database,
    /** True when the statement changes nothing, so that a read-only connection can answer it. */
    reads(sql: string): boolean {
      try {
        return prepare(sql).readonly;
      } catch (error) {
        throw explained(path, error);
      }
    },
    get(sql: string, params: Param[]): Row | undefined {
      try {
        return prepare(sql).get(...params);
      } catch (error) {
        throw explained(path, error);
      }
    },
    all(sql: string, params: Param[]): Row[] {
      try {
        return prepare(sql).all(...params);
      } catch (error) {
        throw explained(path, error);
      }
    },
    /** Rows changed. Without parameters a script of several statements is accepted, as PostgreSQL does. */
    run(sql: string, params: Param[]): number {
      try {
        let statement: Database.Statement<Param[], Row>;
        try {
          statement = prepare(sql);
        } catch (error) {
          if (!(error instanceof RangeError) || params.length > 0) throw error;
          database.exec(sql);
          return 0;
        }
        return statement.reader ? statement.all(...params).length : statement.run(...params).changes;
      } catch (error) {
        throw explained(path, error);
      }
    },
    /** Of one statement without rows, kept prepared: transactions run a few of them each. */
    exec: (sql: string) => guard(path, () => void prepare(sql).run()),
  };
}

/**
 * SQLite plans a statement anew each time a value is bound that its planner looked at (is it 0 or 1? how many rows?),
 * which costs ten times what the statement does. It looks at plain parameters only, and `+` says nothing else: the value
 * stays what it is. (sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_ENABLE_QPSG, which the driver cannot
 * switch on.)
 */
export function plannedOnce(sql: string): string {
  return sql.replace(/(= ?|\blimit |\bin \()\?/gi, '$1+?');
}

/**
 * Only what the data itself is to blame for stays what it is, and so do mistakes of our own code; everything else that
 * SQLite says is a `store_unavailable`, which is waited for.
 */
export function guard<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(path, error);
  }
}

function explained(path: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  const closed = error instanceof TypeError && /connection is not open|cannot open database/i.test(error.message);
  if (closed) return unavailable(path, 'is not open', 'see the log for what closed it', error);
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return error;
  if (/^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/.test(code)) return error;
  if (code === 'SQLITE_FULL')
    return unavailable(path, 'cannot grow: the disk is full', 'free space on its disk; nothing needs a restart', error);
  if (code.startsWith('SQLITE_READONLY'))
    return unavailable(path, 'is read-only', 'make the file, its folder and its disk writable for this user', error);
  if (code.startsWith('SQLITE_IOERR'))
    return unavailable(path, 'could not be read or written', 'check the disk and its free space', error);
  if (code.startsWith('SQLITE_CANTOPEN'))
    return unavailable(path, 'cannot be opened', 'check that its folder exists and is writable for this user', error);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB')
    return unavailable(
      path,
      'is damaged or not a database',
      'stop the gateway and restore the file from a backup',
      error,
    );
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return unavailable(path, 'is locked by another program', 'close the other program that writes to it', error);
  if (code === 'SQLITE_NOMEM') return unavailable(path, 'has no memory', 'give the gateway more memory', error);
  return unavailable(path, `failed with ${code}`, 'see whether another program changed it', error);
}

function unavailable(path: string, what: string, advice: string, cause: unknown): GatehouseError {
  return new GatehouseError('store_unavailable', `The database ${path} ${what} (${messageOf(cause)}).`, {
    hint: `To go on, ${advice}.`,
    cause,
  });
}
