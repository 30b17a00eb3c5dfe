import type { AdapterContext } from '../types/adapter.ts';
import type { Db } from './db.ts';

/** Small durable facts of one channel's adapter, such as a polling offset. The latest value of a key wins. */
export function createChannelState(db: Db, channel: string): AdapterContext['state'] {
  return {
    async get(key) {
      const row = await db.get<{ value: string }>(
        'select value from channel_state where channel = ? and key = ?',
        channel,
        key,
      );
      return row?.value ?? null;
    },
    async set(key, value) {
      await db.run(
        `insert into channel_state (channel, key, value) values (?, ?, ?)
         on conflict (channel, key) do update set value = excluded.value`,
        channel,
        key,
        value,
      );
    },
  };
}
