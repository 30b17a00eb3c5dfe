/** A file of its own: ids carry their time, and here all of them are made by the clock of the test. */
import assert from 'node:assert/strict';
import { createCleaner } from '../../src/gateway/cleaner.ts';
import { appendTurns, openConversation, setSummary } from '../../src/store/conversations.ts';
import { eachDatabase } from '../support/databases.ts';
import { createInboxWorld } from '../support/inbox_world.ts';
import { silentLog } from '../support/silent_log.ts';

eachDatabase(
  'retention removes what is past its time and keeps the dedupe keys of 30 days',
  async (_t, open, { folder }) => {
    const db = await open();
    const world = createInboxWorld(db);
    const day = 24 * 3_600_000;
    await world.say('ana', 'old');
    const [run] = await world.dispatch();
    await db.tx(async (q) => {
      await q.run(`update runs set state = 'completed', finished_at = ?`, world.clock.now());
      await q.run(`update inbox set state = 'done'`);
      const other = await openConversation(
        q,
        {
          id: 'c',
          key: 'k',
          binding: 'main',
          place: { channel: 'tg', chat: 'x' },
          audience: 'direct',
        },
        world.clock.now(),
      );
      for (const id of [run!.conversation, other.id]) {
        await appendTurns(q, { id, turns: 0 }, run!.id, [{ role: 'user', text: 'old' }], world.clock.now());
        await setSummary(q, id, 'They said old.', 1);
      }
    });
    const cleaner = createCleaner({
      db,
      clock: world.clock,
      log: silentLog,
      dataDir: folder,
      retention: () => ({ messagesMs: 10 * day, runsMs: 5 * day, uploadsMs: day }),
    });
    const left = async () => {
      const counts: Record<string, number> = {};
      for (const table of ['inbox', 'runs', 'turns', 'conversations'])
        counts[table] = (await db.get<{ n: number }>(`select count(*) as n from ${table}`))?.n ?? -1;
      return counts;
    };
    const summaries = () => db.all('select summary from conversations');
    await cleaner.clean();
    assert.deepEqual(await left(), { inbox: 1, runs: 1, turns: 2, conversations: 2 });
    await world.clock.advance(6 * day);
    await cleaner.clean();
    assert.deepEqual(await left(), { inbox: 1, runs: 0, turns: 2, conversations: 2 });
    assert.deepEqual(await summaries(), [{ summary: 'They said old.' }, { summary: 'They said old.' }]);
    await world.clock.advance(5 * day);
    await cleaner.clean();
    assert.deepEqual(await left(), { inbox: 1, runs: 0, turns: 0, conversations: 1 });
    assert.deepEqual(await summaries(), [{ summary: null }], 'one waits for its last key, without a word');
    assert.deepEqual(await db.get('select payload from inbox'), { payload: null }, 'the key stays, the words go');
    await world.clock.advance(20 * day);
    await cleaner.clean();
    assert.deepEqual(await left(), { inbox: 0, runs: 0, turns: 0, conversations: 0 });
  },
);
