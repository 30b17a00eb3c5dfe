/**
 * One small interface over SQLite and PostgreSQL. All SQL of the product is in `src/store`, in the subset both
 * speak: `?` placeholders, `returning`, `on conflict`, epoch milliseconds as integers, JSON as text, booleans as 0/1.
 */
export type Param = string | number | null;
export type Row = Record<string, unknown>;

export interface Query {
  get<T = Row>(sql: string, ...params: Param[]): Promise<T | undefined>;
  all<T = Row>(sql: string, ...params: Param[]): Promise<T[]>;
  /** Rows changed. */
  run(sql: string, ...params: Param[]): Promise<number>;
}

export interface Transaction extends Query {
  /** Rings after the commit, in every process that shares the database; nothing rings after a rollback. */
  ring(bell: Bell): void;
  /** Waits for every other transaction that locked the same name, in any process, and holds it until this one ends. */
  lock(name: string): Promise<void>;
  /** As `lock`, without waiting: false when another transaction holds the name. */
  tryLock(name: string): Promise<boolean>;
  /** Appended to a select: ` for update` on PostgreSQL, empty on SQLite, which has one writer. */
  readonly forUpdate: string;
  /** ` for update skip locked` on PostgreSQL, empty on SQLite. */
  readonly skipLocked: string;
}

/** What may be waiting: one bell a stage, and `policy` when what people said about tools has changed. A lost ring costs latency only, since every stage also polls slowly. */
export type Bell = 'dispatch' | 'run' | 'stop' | 'outbox' | 'journal' | 'policy' | 'skill';

export interface Db extends Query {
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Runs `work` in a transaction and resolves after the commit. Closures that arrive in one tick of the event loop share
   * one commit on SQLite, each in its own savepoint: one that throws is rolled back alone. `work` must not await
   * anything but its own queries; on SQLite a closure that does is rolled back with an error. Read-modify-write is
   * safe: transactions are serialised (SQLite: one writer; PostgreSQL: row locks by `forUpdate`, unique indexes and
   * compare-and-set; serialization failures and deadlocks are retried, so `work` may run more than once).
   */
  tx<T>(work: (q: Transaction) => Promise<T>): Promise<T>;
  /** Subscribes to a bell; the returned function ends it. */
  onRing(bell: Bell, listener: () => void): () => void;
  /** Throws when the database does not answer; for /readyz. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Crash tests stand at these points; nothing else uses them. */
export interface CommitHooks {
  beforeCommit?(): void;
  afterCommit?(): void;
}
