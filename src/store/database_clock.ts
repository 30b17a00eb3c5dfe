import type { Query } from './db.ts';

/** What time it is where the database runs, in epoch milliseconds; also within a transaction that began earlier. PostgreSQL only. */
export async function readDatabaseClock(q: Query): Promise<number> {
  const row = await q.get<{ now: number }>(
    'select cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint) as now',
  );
  return Number(row?.now);
}
