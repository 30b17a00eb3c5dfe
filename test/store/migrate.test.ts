import assert from 'node:assert/strict';
import type { Db } from '../../src/store/db.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/open.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { eachDatabase } from '../support/databases.ts';

const later = { name: '9998_later', sql: 'create table later (id text primary key)', sha256: 'b' };

eachDatabase('a database newer than the program is refused, with what to do', async (_t, open, { url }) => {
  const db = await open();
  await db.run('insert into schema_migrations (name, sha256, at) values (?, ?, ?)', '9999_future', 'f', 1);
  await assert.rejects(openStore(url), {
    code: 'store_newer',
    message: 'The database is newer than this program: it holds migration 9999_future.',
    hint: /Start the version of Gatehouse that was used last/,
  });
});

eachDatabase('a migration that was changed after it ran is refused', async (_t, open, { url }) => {
  const db = await open();
  await db.run('update schema_migrations set sha256 = ? where name = ?', 'other', '0001_core');
  await assert.rejects(openStore(url), {
    code: 'store_newer',
    message: 'Migration 0001_core was changed after it ran on this database.',
  });
});

eachDatabase('migrating again changes nothing, and what is new runs once', async (_t, open) => {
  const db = await open();
  const before = await db.all('select * from schema_migrations order by name');
  await migrate(db);
  assert.deepEqual(await db.all('select * from schema_migrations order by name'), before);
  assert.equal(before.length, readMigrations(db.dialect).length);

  await migrate(db, [...readMigrations(db.dialect), later]);
  await migrate(db, [...readMigrations(db.dialect), later]);
  assert.deepEqual(await db.all('select id from later'), []);
});

eachDatabase('two processes that start together migrate once', async (t, _open, { url, dialect }) => {
  const bare = () => (dialect === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url));
  const both = await Promise.all([bare(), bare()]);
  t.after(() => Promise.all(both.map((db) => db.close())));
  await Promise.all(both.map((db) => migrate(db)));
  const rows = await both[0].all('select name from schema_migrations');
  assert.equal(rows.length, readMigrations(dialect).length);
});

eachDatabase('a migration that fails leaves nothing of itself', async (_t, open) => {
  const db = await open();
  const sql = 'create table half (id text primary key); create table half (id text primary key);';
  await assert.rejects(migrate(db, [...readMigrations(db.dialect), { name: '9999_bad', sql, sha256: 'c' }]), /half/);
  await db.run('create table half (id text primary key)');
  assert.equal((await db.all('select name from schema_migrations where name like ?', '9999%')).length, 0);
});

/** `table.column type null?` of every column and `table.index`, in the words of SQLite. */
async function shapeOf(db: Db): Promise<string[]> {
  const lines =
    db.dialect === 'sqlite'
      ? await db.all<{ line: string }>(
          `select t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || (c."notnull" or c.pk > 0) as line
           from sqlite_schema t join pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite%'
           union all select tbl_name || '.' || name from sqlite_schema where type = 'index' and sql is not null`,
        )
      : await db.all<{ line: string }>(
          `select table_name || '.' || column_name || ' ' || data_type || ' ' || (is_nullable = 'NO')::int as line
           from information_schema.columns where table_schema = 'public'
           union all select tablename || '.' || indexname from pg_indexes
           where schemaname = 'public' and indexname !~ '_(key|pkey)$'`,
        );
  const types: Record<string, string> = { bigint: 'integer', 'double precision': 'real' };
  return lines.map(({ line }) => line.replace(/bigint|double precision/, (type) => types[type]!)).sort();
}

const shapes: string[][] = [];
eachDatabase('both migration sets describe the same tables, columns and indexes', async (_t, open) => {
  const shape = await shapeOf(await open());
  assert.ok(shape.includes('people.id text 1'), shape.join('\n'));
  assert.ok(shape.includes('people.language text 0'));
  assert.ok(shape.includes('accounts.accounts_admin'));
  shapes.push(shape);
  if (shapes.length === 2) assert.deepEqual(shapes[1], shapes[0]);
});
