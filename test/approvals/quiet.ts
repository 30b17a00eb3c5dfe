/** When a gateway has nothing to do any more: its rows say so. */
import type { Db } from '../../src/store/db.ts';

const pauseMs = 5;
const quietMsMax = 20_000;

/** Asks again until nothing waits; `platform` resolves when nothing is on its way from there. */
export async function quietRows(db: () => Db, platform: () => Promise<void> = async () => {}): Promise<void> {
  const until = performance.now() + quietMsMax;
  for (let calm = 0; calm < 2; ) {
    await platform();
    const row = await db().get<{ n: number }>(
      `select (select count(*) from runs where state in ('queued', 'running') or resume_at is not null)
         + (select count(*) from inbox where state = 'waiting')
         + (select count(*) from outbox where state = 'sending' or (state = 'pending' and attempts = 0)) as n`,
    );
    calm = row?.n === 0 ? calm + 1 : 0;
    if (performance.now() > until) throw new Error('the gateway does not come to rest');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
