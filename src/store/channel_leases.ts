import type { Query } from './db.ts';

/** Takes or renews the lease of a channel; false while another process holds it. */
export async function takeChannelLease(
  q: Query,
  channel: string,
  owner: string,
  now: number,
  until: number,
): Promise<boolean> {
  const changed = await q.run(
    `insert into channel_leases (channel, owner, lease_until) values (?, ?, ?)
     on conflict (channel) do update set owner = excluded.owner, lease_until = excluded.lease_until
       where channel_leases.owner = excluded.owner or channel_leases.lease_until < ?`,
    channel,
    owner,
    until,
    now,
  );
  return changed > 0;
}

/** The next process that asks gets it at once. */
export async function freeChannelLease(q: Query, channel: string, owner: string): Promise<void> {
  await q.run('delete from channel_leases where channel = ? and owner = ?', channel, owner);
}
