import pg from 'pg';
import { assert, GatehouseError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { createBells } from './bells.ts';
import type { Bell, CommitHooks, Db, Param, Row, Transaction } from './db.ts';
import { explained, isRetryable } from './postgres_errors.ts';
import { listenForBells } from './postgres_listener.ts';
import { numberPlaceholders, publicName } from './postgres_text.ts';

const clientsMax = 15;
const connectMs = 10_000;
const statementMs = 30_000;
/** A transaction awaits nothing but its queries, so an idle one is one whose process hangs. */
const idleInTransactionMs = 10_000;
const triesMax = 5;
const textsMax = 1_000;

const isOver = 'This transaction is over: its queries must be awaited before its closure returns.';

/**
 * A pool of clients and one more that listens for bells. Isolation is READ COMMITTED: a read-modify-write takes its
 * rows with `forUpdate`, or serialises by `lock`, a unique index or compare-and-set. Serialization failures and
 * deadlocks run the closure again.
 *
 * When the connection breaks during the commit nobody knows whether it happened: `tx` rejects, and the work must be
 * safe to repeat (it is where a unique key decides). NUL, which PostgreSQL cannot hold in text, is stored as U+FFFD.
 */
export async function openPostgres(url: string, options: { hooks?: CommitHooks; log?: Log } = {}): Promise<Db> {
  const database = publicName(url);
  const config = {
    connectionString: url,
    application_name: 'gatehouse',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: { getTypeParser },
  };
  const pool = new pg.Pool({
    ...config,
    max: clientsMax,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  });
  // An idle client that breaks is replaced; the next query tells whether the server is there.
  pool.on('error', (error) => options.log?.warn({ error: messageOf(error) }, 'an idle database connection broke'));
  // A client that breaks while it is in use emits that as well, also in the moment between the pool and its user;
  // without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  const bells = createBells(options.log);
  const texts = new Map<string, string>();
  let closed = false;

  const listener = await listenForBells(() => new pg.Client(config), bells, options.log).catch(async (error) => {
    await pool.end();
    throw explained(database, error);
  });

  /** What the closure of a transaction throws is not the store's: only the store's own errors are explained. */
  async function asked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw explained(database, error);
    }
  }

  function textOf(sql: string): string {
    let text = texts.get(sql);
    if (text === undefined) {
      text = numberPlaceholders(sql);
      if (texts.size >= textsMax) texts.delete(texts.keys().next().value as string);
      texts.set(sql, text);
    }
    return text;
  }

  async function query(on: pg.Pool | pg.PoolClient, sql: string, params: Param[]): Promise<pg.QueryResult<Row>> {
    return asked(on.query(textOf(sql), params.map(storable)));
  }

  async function outside(sql: string, params: Param[]): Promise<pg.QueryResult<Row>> {
    if (closed) throw new GatehouseError('store_unavailable', `The database ${database} is closed.`);
    return query(pool, sql, params);
  }

  async function tx<T>(work: (q: Transaction) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (closed) throw new GatehouseError('store_unavailable', `The database ${database} is closed.`);
      try {
        return await attempt(work);
      } catch (error) {
        if (tries >= triesMax || !isRetryable(error)) throw error;
      }
    }
  }

  async function attempt<T>(work: (q: Transaction) => Promise<T>): Promise<T> {
    const client = await asked(pool.connect());
    let broken: Error | undefined;
    try {
      await asked(client.query('begin'));
      const { q, end } = transactionOn(client);
      let value: T;
      try {
        value = await work(q);
      } finally {
        await end();
      }
      options.hooks?.beforeCommit?.();
      const { command } = await asked(client.query('commit'));
      assert(command === 'COMMIT', 'a transaction with a failed query is not committed');
      options.hooks?.afterCommit?.();
      return value;
    } catch (error) {
      await client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  function transactionOn(client: pg.PoolClient): { q: Transaction; end(): Promise<void> } {
    let over = false;
    let failure: { error: unknown } | null = null;
    const rung = new Set<Bell>();
    const running = new Set<Promise<unknown>>();
    const run = async (sql: string, params: Param[]): Promise<pg.QueryResult<Row>> => {
      if (over) throw new Error(isOver);
      const result = query(client, sql, params);
      running.add(result);
      try {
        return await result;
      } catch (error) {
        failure ??= { error };
        throw error;
      } finally {
        running.delete(result);
      }
    };
    return {
      q: {
        get: async <T>(sql: string, ...params: Param[]) => (await run(sql, params)).rows[0] as T | undefined,
        all: async <T>(sql: string, ...params: Param[]) => (await run(sql, params)).rows as T[],
        run: async (sql, ...params) => (await run(sql, params)).rowCount ?? 0,
        ring(bell) {
          if (over) throw new Error(isOver);
          rung.add(bell);
        },
        lock: async (name) => void (await run('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name])),
        tryLock: async (name) => {
          const sql = 'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as locked';
          return (await run(sql, [name])).rows[0]?.locked === 1;
        },
        forUpdate: ' for update',
        skipLocked: ' for update skip locked',
      },
      /** Nothing may be queued behind this; throws when a query failed, also when the closure caught that. */
      async end() {
        over = true;
        await Promise.allSettled(running);
        if (failure) throw failure.error;
        for (const bell of rung) await asked(client.query(`select pg_notify('gatehouse', $1)`, [bell]));
      },
    };
  }

  return {
    dialect: 'postgres',
    tx,
    get: async <T = Row>(sql: string, ...params: Param[]) => (await outside(sql, params)).rows[0] as T | undefined,
    all: async <T = Row>(sql: string, ...params: Param[]) => (await outside(sql, params)).rows as T[],
    run: async (sql, ...params) => (await outside(sql, params)).rowCount ?? 0,
    onRing: bells.on,
    ping: async () => void (await outside('select 1', [])),
    async close() {
      if (closed) return;
      closed = true;
      await listener.close();
      await pool.end();
    },
  };
}

const nul = String.fromCharCode(0);

function storable(param: Param): Param {
  return typeof param === 'string' && param.includes(nul) ? param.replaceAll(nul, '\uFFFD') : param;
}

const { builtins } = pg.types;

/** The same JavaScript values as SQLite gives: counts and sums are numbers, truth is 0 or 1. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number;
  if (oid === builtins.BOOL) return (text: string) => (text === 't' ? 1 : 0);
  return format === undefined ? pg.types.getTypeParser(oid) : pg.types.getTypeParser(oid, format);
}
