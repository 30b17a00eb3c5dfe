/** Which people are linked to which (rule 15): those whose rows share a group and are not unlinked. */
import type { Query } from './db.ts';

/** The others that are linked with this person now, in the order they came; without itself. */
export async function linkedWith(q: Query, personId: string): Promise<string[]> {
  const rows = await q.all<{ person_id: string }>(
    `select other.person_id from links own join links other on other.group_id = own.group_id
     where own.person_id = ? and own.unlinked_at is null and other.unlinked_at is null and other.person_id <> ?
     order by other.linked_at, other.person_id`,
    personId,
    personId,
  );
  return rows.map((row) => row.person_id);
}

/** Whether both were in one group at some time since `since`, as far as their latest rows tell. */
export async function sharedGroupSince(q: Query, left: string, right: string, since: number): Promise<boolean> {
  const row = await q.get(
    `select 1 as one from links l join links r on r.group_id = l.group_id
     where l.person_id = ? and r.person_id = ?
       and coalesce(l.unlinked_at, ?) >= ? and coalesce(r.unlinked_at, ?) >= ?
       and coalesce(l.unlinked_at, r.linked_at) >= r.linked_at and coalesce(r.unlinked_at, l.linked_at) >= l.linked_at`,
    left,
    right,
    since,
    since,
    since,
    since,
  );
  return row !== undefined;
}

/** The group this person is in now. */
export async function groupOf(q: Query, personId: string): Promise<string | null> {
  const row = await q.get<{ group_id: string }>(
    'select group_id from links where person_id = ? and unlinked_at is null',
    personId,
  );
  return row?.group_id ?? null;
}

/** A person has one row: what it was in before is forgotten here and stands in the audit. */
export async function joinGroup(q: Query, personId: string, groupId: string, now: number): Promise<void> {
  await q.run(
    `insert into links (person_id, group_id, linked_at, unlinked_at) values (?, ?, ?, null)
     on conflict (person_id) do update set group_id = excluded.group_id, linked_at = excluded.linked_at, unlinked_at = null`,
    personId,
    groupId,
    now,
  );
}

/** Makes one group of two, with those who have left it. */
export async function mergeGroups(q: Query, from: string, to: string): Promise<void> {
  await q.run('update links set group_id = ? where group_id = ?', to, from);
}

export async function leaveGroup(q: Query, personId: string, now: number): Promise<void> {
  await q.run('update links set unlinked_at = ? where person_id = ? and unlinked_at is null', now, personId);
}
