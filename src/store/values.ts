import type { Clock } from '../base/clock.ts';
import { GatehouseError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { ToolContext, ValueStore } from '../types/tool.ts';
import type { Db, Query } from './db.ts';
import { linkedWith } from './links.ts';

const keyOf = (owner: NonNullable<ToolContext['owner']>) => `${owner.kind}:${owner.id}`;

/** What a group stored stays its own under its new id (rule 20); what was stored under that already wins. */
export async function moveChatValues(q: Query, channel: string, from: string, to: string): Promise<void> {
  const [old, next] = [from, to].map((chat) => keyOf({ kind: 'chat', id: `${channel}:${chat}` })) as [string, string];
  await q.run(
    `update stored_values set owner = ? where owner = ? and not exists (
       select 1 from stored_values n where n.agent = stored_values.agent and n.owner = ? and n.key = stored_values.key)`,
    next,
    old,
    next,
  );
  await q.run('delete from stored_values where owner = ?', old);
}

/**
 * The values of one agent and one owner (rules 26 and 32). A person reads those of all accounts linked to the own one
 * too (rule 15), of equal keys the newest, and writes and deletes the own ones only; limits hold for each store by
 * itself. Errors are written for the model: `limit` says what to do instead, `refused` that this run has nobody whose
 * store it could be, or that a value is another account's. Sizes are bytes of UTF-8; keys count too.
 */
export function createValueStore(db: Db, clock: Clock, agent: string, owner: ToolContext['owner']): ValueStore {
  const ownerKey = (): string => {
    if (!owner)
      throw new GatehouseError(
        'refused',
        'There is no store in this conversation: values belong to a person or a group, and nobody is known here.',
      );
    return keyOf(owner);
  };

  /** Only a direct chat has a person as its owner, so that nothing of a person is read in a group (P2). */
  const readable = async (): Promise<string[]> => {
    const own = ownerKey();
    if (owner?.kind !== 'person') return [own];
    return [own, ...(await linkedWith(db, owner.id)).map((id) => keyOf({ kind: 'person', id }))];
  };

  const read = async (key: string): Promise<string | null> => {
    const owners = await readable();
    const row = await db.get<{ value: string }>(
      `select value from stored_values where agent = ? and owner in (${marks(owners)}) and key = ? ${newestFirst} limit 1`,
      agent,
      ...owners,
      key,
      owners[0]!,
    );
    return row?.value ?? null;
  };

  return {
    async get(key) {
      checkKey(key);
      return read(key);
    },

    async set(key, value) {
      checkKey(key);
      const owned = ownerKey();
      checkValue(value);
      await db.tx(async (q) => {
        await q.lock(`stored_values ${agent} ${owned}`);
        const others = await q.get<{ keys: number; bytes: number }>(
          `select count(*) as keys, coalesce(sum(octet_length(key) + octet_length(value)), 0) as bytes
           from stored_values where agent = ? and owner = ? and key <> ?`,
          agent,
          owned,
          key,
        );
        checkStore((others?.keys ?? 0) + 1, (others?.bytes ?? 0) + bytesOf(key) + bytesOf(value));
        await q.run(
          `insert into stored_values (agent, owner, key, value, updated_at) values (?, ?, ?, ?, ?)
           on conflict (agent, owner, key) do update set value = excluded.value, updated_at = excluded.updated_at`,
          agent,
          owned,
          key,
          value,
          clock.now(),
        );
      });
    },

    async delete(key) {
      checkKey(key);
      const removed = await db.run(
        'delete from stored_values where agent = ? and owner = ? and key = ?',
        agent,
        ownerKey(),
        key,
      );
      if (removed === 0 && (await read(key)) !== null)
        throw new GatehouseError(
          'refused',
          'This value was stored from another linked account of this person, and only from that account it can be deleted.',
        );
      return removed > 0;
    },

    async list() {
      const owners = await readable();
      const rows = await db.all<{ key: string; value: string }>(
        `select key, value from stored_values where agent = ? and owner in (${marks(owners)}) ${newestFirst}`,
        agent,
        ...owners,
        owners[0]!,
      );
      const newest = new Map<string, string>();
      for (const { key, value } of rows) if (!newest.has(key)) newest.set(key, value);
      return Object.fromEntries([...newest].sort(([left], [right]) => (left < right ? -1 : 1)));
    },
  };
}

const marks = (values: readonly string[]): string => values.map(() => '?').join(', ');
/** Of two of the same moment the own one. */
const newestFirst = 'order by updated_at desc, case when owner = ? then 0 else 1 end';

function checkKey(key: string): void {
  const length = [...key].length;
  if (length === 0) throw new GatehouseError('limit', 'The key is empty: give the value a short name.');
  if (length > limits.valueKeyCharsMax)
    throw new GatehouseError(
      'limit',
      `The key has ${length} characters and may have ${limits.valueKeyCharsMax}: use a shorter one.`,
    );
}

function checkValue(value: string): void {
  const bytes = bytesOf(value);
  if (bytes > limits.valueBytesMax)
    throw new GatehouseError(
      'limit',
      `The value has ${bytes} bytes and may have ${limits.valueBytesMax}: shorten it or split it over several keys.`,
    );
}

function checkStore(keys: number, bytes: number): void {
  if (keys > limits.valueKeysMax)
    throw new GatehouseError(
      'limit',
      `The store is full: it holds ${limits.valueKeysMax} keys at most. Delete keys that are not needed any more.`,
    );
  if (bytes > limits.valueStoreBytesMax)
    throw new GatehouseError(
      'limit',
      `The store would hold ${bytes} bytes of ${limits.valueStoreBytesMax}. Delete or shorten values first.`,
    );
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
