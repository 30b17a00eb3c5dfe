import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { sha256 } from '../base/digest.ts';
import { GatehouseError } from '../base/errors.ts';
import { programFolder } from '../base/program.ts';
import type { Db, Transaction } from './db.ts';

export interface Migration {
  name: string;
  sql: string;
  sha256: string;
}

/**
 * Brings the database to the schema of this program: forward only, each migration in a transaction of its own, safe
 * when several processes start at once. Throws `store_newer` when the database knows a migration that this program
 * does not have, or one that was changed after it ran.
 */
export async function migrate(
  db: Db,
  migrations: Migration[] = readMigrations(db.dialect),
  clock: Clock = systemClock,
): Promise<void> {
  await db.tx(async (q) => {
    await alone(q, db);
    await q.run(
      `create table if not exists schema_migrations (name text primary key, sha256 text not null, at bigint not null)`,
    );
  });
  let pending = migrations;
  while (pending.length > 0) {
    pending = await db.tx(async (q) => {
      await alone(q, db);
      const left = notYetRun(migrations, await recorded(q));
      const [next, ...rest] = left;
      if (!next) return [];
      await q.run(next.sql);
      await q.run(
        'insert into schema_migrations (name, sha256, at) values (?, ?, ?)',
        next.name,
        next.sha256,
        clock.now(),
      );
      return rest;
    });
  }
  notYetRun(migrations, await recorded(db));
}

/** `migrations/<dialect>/NNNN_name.sql` */
export function readMigrations(dialect: Db['dialect']): Migration[] {
  const folder = join(programFolder, 'migrations', dialect);
  return readdirSync(folder)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(join(folder, file), 'utf8');
      return { name: file.slice(0, -'.sql'.length), sql, sha256: sha256(sql) };
    });
}

/** A large table may take longer to change than any other statement may run. */
async function alone(q: Transaction, db: Db): Promise<void> {
  if (db.dialect === 'postgres') await q.run('set local statement_timeout = 0');
  await q.lock('schema_migrations');
}

function recorded(q: Pick<Db, 'all'>): Promise<{ name: string; sha256: string }[]> {
  return q.all('select name, sha256 from schema_migrations order by name');
}

function notYetRun(migrations: Migration[], done: { name: string; sha256: string }[]): Migration[] {
  for (const { name, sha256 } of done) {
    const known = migrations.find((migration) => migration.name === name);
    if (!known)
      throw new GatehouseError('store_newer', `The database is newer than this program: it holds migration ${name}.`, {
        hint: 'Start the version of Gatehouse that was used last, or a later one; or restore an older backup.',
      });
    if (known.sha256 !== sha256)
      throw new GatehouseError('store_newer', `Migration ${name} was changed after it ran on this database.`, {
        hint: 'Restore the file as it was released; changes belong into a new migration.',
      });
  }
  return migrations.filter((migration) => !done.some(({ name }) => name === migration.name));
}
