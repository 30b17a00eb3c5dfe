import { GatehouseError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { createBells } from './bells.ts';
import type { Bell, CommitHooks, Db, Param, Row, Transaction } from './db.ts';
import { openConnection, prepareFile } from './sqlite_connection.ts';

const closuresPerCommitMax = 256;
/** A batch holds the event loop no longer than this, give or take one closure and the commit. */
const batchMsMax = 8;

const awaitedIo =
  'A transaction awaited something other than its own queries. It was rolled back: do the waiting before or after it.';
const isOver = 'This transaction is over: its queries must be awaited before its closure returns.';

interface Closure {
  work(q: Transaction): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { value: unknown; rung: Set<Bell> } | { error: unknown };

/**
 * One writing connection, and a read-only one for what is read outside transactions, so that nobody acts on rows that
 * are not committed. Closures that wait at the same moment share one `begin immediate … commit`, each in a savepoint
 * of its own; a commit costs one fsync for all of them. When SQLite itself gives up the whole transaction (disk full,
 * I/O error), every closure of the batch rejects and the next batch begins anew.
 *
 * As on PostgreSQL a query that fails fails its transaction, also when the closure catches the error.
 */
export async function openSqlite(path: string, options: { hooks?: CommitHooks; log?: Log } = {}): Promise<Db> {
  prepareFile(path);
  const writer = openConnection(path, false);
  const reader = openConnection(path, true);
  const bells = createBells(options.log);
  const queue: Closure[] = [];
  let draining: Promise<void> | null = null;
  let closed = false;

  function tx<T>(work: (q: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (closed) return reject(new GatehouseError('store_unavailable', `The database ${path} is closed.`));
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      draining ??= drain();
    });
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      await runBatch();
    }
    draining = null;
  }

  async function runBatch(): Promise<void> {
    const began = performance.now();
    const taken: Closure[] = [];
    const values = new Map<Closure, unknown>();
    const rung = new Set<Bell>();
    try {
      writer.exec('begin immediate');
      while (queue.length > 0 && taken.length < closuresPerCommitMax) {
        if (taken.length > 0 && performance.now() - began >= batchMsMax) break;
        const closure = queue.shift() as Closure;
        // Until something is to be kept, the transaction itself is what a closure can be rolled back to.
        const alone = values.size === 0;
        taken.push(closure);
        if (!alone) writer.exec('savepoint closure');
        const outcome = await runClosure(closure);
        if ('value' in outcome) {
          values.set(closure, outcome.value);
          for (const bell of outcome.rung) rung.add(bell);
        } else {
          if (!writer.database.inTransaction) throw outcome.error;
          writer.exec(alone ? 'rollback' : 'rollback to closure');
          if (alone) writer.exec('begin immediate');
          closure.reject(outcome.error);
        }
        if (!alone) writer.exec('release closure');
      }
      options.hooks?.beforeCommit?.();
      writer.exec('commit');
    } catch (error) {
      if (writer.database.inTransaction) writer.exec('rollback');
      if (taken.length === 0) taken.push(...queue.splice(0, closuresPerCommitMax));
      // Those that were rejected above stay as they are.
      for (const closure of taken) closure.reject(error);
      return;
    }
    options.hooks?.afterCommit?.();
    for (const [closure, value] of values) closure.resolve(value);
    bells.ring(rung);
  }

  /**
   * Resolves in the same turn of the event loop. Queries answer in microtasks, so a closure that is unsettled when the
   * microtasks have run out waits for something else, which nothing may do while it holds the only writer.
   */
  function runClosure(closure: Closure): Promise<Outcome> {
    const rung = new Set<Bell>();
    let over: string | null = null;
    let failure: { error: unknown } | null = null;
    /** A promise by hand: there are some thirty of these a message. */
    const query = <T>(ask: (sql: string, params: Param[]) => T, sql: string, params: Param[]): Promise<T> => {
      if (over) return Promise.reject(new Error(over));
      if (failure) return Promise.reject(failure.error);
      try {
        return Promise.resolve(ask(sql, params));
      } catch (error) {
        failure = { error };
        return Promise.reject(error);
      }
    };
    const q: Transaction = {
      get: <T>(sql: string, ...params: Param[]) => query(writer.get, sql, params) as Promise<T | undefined>,
      all: <T>(sql: string, ...params: Param[]) => query(writer.all, sql, params) as Promise<T[]>,
      run: (sql, ...params) => query(writer.run, sql, params),
      ring: (bell) => {
        if (over) throw new Error(over);
        rung.add(bell);
      },
      lock: () => query(nothing, '', []),
      // There is one writer.
      tryLock: () => query(() => true, '', []),
      forUpdate: '',
      skipLocked: '',
    };
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        over ??= isOver;
        resolve(failure ?? outcome);
      };
      callClosure(closure, q).then(
        (value) => settle({ value, rung }),
        (error) => settle({ error }),
      );
      queueMicrotask(() =>
        process.nextTick(() => {
          if (over) return;
          over = awaitedIo;
          resolve({ error: new Error(awaitedIo) });
        }),
      );
    });
  }

  /**
   * Between two transactions the writing connection sees what is committed, and it has the pages at hand; every commit
   * makes the other connection read them anew. Within one it is the other that must answer.
   */
  function read<T>(method: 'get' | 'all', sql: string, params: Param[]): Promise<T> {
    if (closed) return Promise.reject(new GatehouseError('store_unavailable', `The database ${path} is closed.`));
    const connection = writer.database.inTransaction ? reader : writer;
    try {
      if (connection.reads(sql)) return Promise.resolve(connection[method](sql, params) as T);
    } catch (error) {
      return Promise.reject(error);
    }
    return tx((q) => q[method](sql, ...params) as Promise<T>);
  }

  const db: Db = {
    dialect: 'sqlite',
    tx,
    get: <T = Row>(sql: string, ...params: Param[]) => read<T | undefined>('get', sql, params),
    all: <T = Row>(sql: string, ...params: Param[]) => read<T[]>('all', sql, params),
    run: (sql, ...params) => tx((q) => q.run(sql, ...params)),
    onRing: bells.on,
    async ping() {
      await db.get('select name from sqlite_schema limit 1');
    },
    async close() {
      if (closed) return;
      closed = true;
      await draining;
      reader.database.close();
      writer.database.close();
    },
  };
  return db;
}

const nothing = () => undefined;

/** A closure that throws before its first await rejects like any other. */
async function callClosure(closure: Closure, q: Transaction): Promise<unknown> {
  return closure.work(q);
}
