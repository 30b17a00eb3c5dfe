import type { Clock } from '../base/clock.ts';
import type { Journal, JournalBody, JournalLine } from '../types/adapter.ts';
import type { Db, Transaction } from './db.ts';

/** More lines are never read at once, whatever is asked for. */
const linesMax = 1_000;

interface JournalRow {
  seq: number;
  key: string;
  body: string;
  created_at: number;
}

/**
 * The lines of one channel's chats. Writers of one chat wait for each other, so that its lines become visible in the
 * order of `seq` and a reader that goes on after the last one it saw misses none. Rings `journal`.
 */
export function createJournal(db: Db, clock: Clock, channel: string): Journal {
  const columns = 'seq, key, body, created_at';

  async function insert(q: Transaction, chat: string, key: string, body: JournalBody, createdAt: number) {
    const row = await q.get<JournalRow>(
      `insert into journal (channel, chat, key, body, created_at) values (?, ?, ?, ?, ?) returning ${columns}`,
      channel,
      chat,
      key,
      JSON.stringify(body),
      createdAt,
    );
    q.ring('journal');
    return lineOf(row as JournalRow);
  }

  return {
    append: (chat, key, body) =>
      db.tx(async (q) => {
        await q.lock(`journal ${channel} ${chat}`);
        const known = await q.get<JournalRow>(
          `select ${columns} from journal where channel = ? and chat = ? and key = ?`,
          channel,
          chat,
          key,
        );
        return known ? lineOf(known) : insert(q, chat, key, body, clock.now());
      }),

    update: (chat, key, body) =>
      db.tx(async (q) => {
        await q.lock(`journal ${channel} ${chat}`);
        // Taken out and put back, since that is how both databases give out the next number.
        const known = await q.get<{ created_at: number }>(
          'delete from journal where channel = ? and chat = ? and key = ? returning created_at',
          channel,
          chat,
          key,
        );
        return known ? insert(q, chat, key, body, known.created_at) : null;
      }),

    async read(chat, { after = 0, latest = false, limit }) {
      const rows = await db.all<JournalRow>(
        `select ${columns} from journal where channel = ? and chat = ? and seq > ?
         order by seq ${latest ? 'desc' : 'asc'} limit ?`,
        channel,
        chat,
        after,
        Math.min(limit, linesMax),
      );
      return (latest ? rows.reverse() : rows).map(lineOf);
    },

    onChange: (listener) => db.onRing('journal', listener),
  };
}

function lineOf(row: JournalRow): JournalLine {
  return { seq: row.seq, key: row.key, body: JSON.parse(row.body) as JournalBody, createdAt: row.created_at };
}
