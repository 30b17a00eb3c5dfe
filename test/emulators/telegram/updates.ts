import type { Clock } from '../../../src/base/clock.ts';
import type { Changes } from './changes.ts';
import { ApiError, type Update } from './wire.ts';

/** Seconds an undelivered update is kept (telegram-bot-api Client.cpp); all others 24 h from their date. */
const lifetimeSeconds: Record<string, number> = { callback_query: 150, inline_query: 30, pre_checkout_query: 150 };
const lifetimeSecondsDefault = 86_400;
const pollSecondsMax = 50;
const conflictDelayMs = 3_000;
const notByDefault = new Set(['chat_member', 'message_reaction', 'message_reaction_count']);

export interface Queued {
  update: Update;
  kind: string;
  /** Webhook order is kept per queue: the chat, or the person for presses. */
  queue: number;
  expiresAt: number;
  /** An old update pushed again by a test: served whatever the offset is, until it is confirmed once more. */
  again: boolean;
  served: boolean;
}

export interface UpdateQueue {
  readonly pending: Queued[];
  /** Every update made, in order, with whether the bot's settings let it through. */
  readonly log: { update: Update; queued: boolean }[];
  /** Lowest update_id not confirmed yet. */
  readonly confirmed: number;
  readonly pollsOpen: number;
  webhook: boolean;
  allowed: Set<string> | null;
  nextUpdateId(): number;
  /** Adds an update; `date` in epoch seconds is when its life began. Returns its update_id even if it is not delivered. */
  add(kind: string, body: unknown, options: { queue: number; date?: number }): number;
  /** Adds an update as it is, whatever its kind and the bot's settings; its update_id must be set. */
  addRaw(kind: string, update: Update): number;
  /** Serves a known update once more, with its id or a new one. */
  again(update: Update, queue: number, newId: boolean): number;
  remove(entry: Queued): void;
  allow(names: unknown): void;
  poll(
    request: { offset: number; limit: number; timeout: number },
    closed: { onClose(callback: () => void): void },
  ): Promise<Update[]>;
  endPolls(reason: string): void;
  clear(): void;
}

export function createUpdateQueue(options: {
  clock: Clock;
  changes: Changes;
  firstUpdateId: number;
  keepLog: boolean;
  pollThrottle: boolean;
  onAdd: () => void;
}): UpdateQueue {
  const { clock, changes } = options;
  let pending: Queued[] = [];
  const log: UpdateQueue['log'] = [];
  let nextId = options.firstUpdateId;
  let confirmed = options.firstUpdateId;
  let conflictAfter = 0;
  let last = { offset: Number.NaN, at: 0 };
  let open: { finish(error?: ApiError): void; wake(): void } | null = null;

  const expire = () => {
    const now = clock.now();
    if (pending.some((entry) => entry.expiresAt <= now)) pending = pending.filter((entry) => entry.expiresAt > now);
  };

  const take = (offset: number, limit: number): Queued[] => {
    expire();
    if (offset < 0) {
      const cut = Math.max(0, pending.length + offset);
      if (cut > 0) confirmed = Math.max(confirmed, (pending[cut - 1]?.update.update_id ?? 0) + 1);
      pending = pending.slice(cut);
    } else if (offset > 0) {
      let cut = 0;
      while (cut < pending.length && isConfirmed(pending[cut]!, offset)) cut += 1;
      if (cut > 0) pending.splice(0, cut);
      confirmed = Math.max(confirmed, Math.min(offset, nextId));
    }
    return pending.slice(0, limit);
  };
  const isConfirmed = (entry: Queued, offset: number) =>
    entry.update.update_id < offset && (!entry.again || entry.served);

  const queue: UpdateQueue = {
    get pending() {
      expire();
      return pending;
    },
    log,
    get confirmed() {
      return confirmed;
    },
    get pollsOpen() {
      return open ? 1 : 0;
    },
    webhook: false,
    allowed: null,
    nextUpdateId: () => nextId,
    add(kind, body, { queue: key, date }) {
      const update: Update = { update_id: nextId, [kind]: body };
      nextId += 1;
      const wanted = queue.allowed ? queue.allowed.has(kind) : !notByDefault.has(kind);
      const start = date === undefined ? clock.now() : date * 1000;
      const expiresAt = start + (lifetimeSeconds[kind] ?? lifetimeSecondsDefault) * 1000;
      const queued = wanted && expiresAt > clock.now();
      if (options.keepLog) log.push({ update, queued });
      if (queued) {
        pending.push({ update, kind, queue: key, expiresAt, again: false, served: false });
        open?.wake();
        options.onAdd();
      }
      changes.changed();
      return update.update_id;
    },
    addRaw(kind, update) {
      nextId = Math.max(nextId, update.update_id + 1);
      const expiresAt = clock.now() + lifetimeSecondsDefault * 1000;
      if (options.keepLog) log.push({ update, queued: true });
      pending.push({ update, kind, queue: 0, expiresAt, again: false, served: false });
      open?.wake();
      options.onAdd();
      changes.changed();
      return update.update_id;
    },
    again(update, key, newId) {
      const copy: Update = newId ? { ...update, update_id: nextId } : update;
      if (newId) nextId += 1;
      const kind = Object.keys(update).find((name) => name !== 'update_id') ?? 'unknown';
      const expiresAt = clock.now() + lifetimeSecondsDefault * 1000;
      const entry: Queued = { update: copy, kind, queue: key, expiresAt, again: !newId, served: false };
      if (newId) pending.push(entry);
      else pending.unshift(entry);
      open?.wake();
      options.onAdd();
      changes.changed();
      return copy.update_id;
    },
    remove(entry) {
      const at = pending.indexOf(entry);
      if (at >= 0) pending.splice(at, 1);
      confirmed = Math.max(confirmed, entry.update.update_id + 1);
      changes.changed();
    },
    allow(names) {
      if (!Array.isArray(names)) return;
      queue.allowed = names.length === 0 ? null : new Set(names.map(String));
    },
    async poll({ offset, limit, timeout }, connection) {
      if (queue.webhook) {
        throw await delayed(
          new ApiError(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
          ),
        );
      }
      queue.endPolls('terminated by other getUpdates request; make sure that only one bot instance is running');
      let count = Math.min(Math.max(limit, 1), 100);
      let seconds = Math.min(Math.max(timeout, 0), pollSecondsMax);
      const now = clock.now();
      if (options.pollThrottle && offset === last.offset) {
        if (seconds < 3 && now - last.at < 3_000) seconds = 3;
        if (now - last.at < 500) count = 1;
      }
      last = { offset, at: now };
      const entries = take(offset, count);
      changes.changed();
      if (entries.length > 0 || seconds === 0) return serve(entries);
      return serve(await wait(offset, count, seconds * 1000, connection));
    },
    endPolls(reason) {
      const ending = open;
      open = null;
      ending?.finish(new ApiError(409, `Conflict: ${reason}`));
    },
    clear() {
      pending = [];
      changes.changed();
    },
  };

  const serve = (entries: Queued[]): Update[] =>
    entries.map((entry) => {
      entry.served = true;
      return entry.update;
    });

  /** The first 409 comes at once, further ones within 3 s of it are held back by 3 s, so that two pollers do not spin. */
  async function delayed(error: ApiError): Promise<ApiError> {
    const now = clock.now();
    if (now < conflictAfter) await clock.sleep(conflictDelayMs);
    else conflictAfter = now + conflictDelayMs;
    return error;
  }

  function wait(
    offset: number,
    count: number,
    ms: number,
    connection: { onClose(callback: () => void): void },
  ): Promise<Queued[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Queued[]>();
    let woken = false;
    const self = {
      finish(error?: ApiError) {
        cancel();
        if (open === self) open = null;
        if (error) delayed(error).then(reject);
        else resolve(take(offset, count));
        changes.changed();
      },
      /** What arrives within one turn of the event loop is answered together. */
      wake() {
        if (woken) return;
        woken = true;
        setImmediate(() => {
          if (open === self) self.finish();
        });
      },
    };
    const cancel = clock.after(ms, () => self.finish());
    open = self;
    changes.changed();
    connection.onClose(() => {
      if (open === self) {
        open = null;
        cancel();
        resolve([]);
        changes.changed();
      }
    });
    return promise;
  }
  return queue;
}
