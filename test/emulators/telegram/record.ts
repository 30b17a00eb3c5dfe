import type { Clock } from '../../../src/base/clock.ts';
import type { Changes } from './changes.ts';
import type { Arguments } from './wire.ts';

/** One request of the client, kept in the order of arrival. */
export interface Call {
  /** Counts from 1 over all calls. */
  id: number;
  /** As Telegram spells it: `sendMessage`; file downloads are `download`. */
  method: string;
  args: Arguments;
  /** Names of uploaded files by field. */
  uploads: string[];
  /** Epoch ms on the emulator's clock. */
  at: number;
  /** When the answer was written; absent while it is open or when the answer was never given. */
  answeredAt?: number;
  /** The chat's state was changed (or the answer computed), whatever the client got to know of it. */
  committed: boolean;
  /** HTTP status written; 0 for a closed or hanging socket and for a client that has gone. */
  status?: number;
  result?: unknown;
  /** `description` of an answer that is not ok. */
  error?: string;
  retryAfter?: number;
  /** The fault that hit this call. */
  fault?: string;
}

export type CallMatch = string | ((call: Call) => boolean);

export interface Recorder {
  readonly calls: Call[];
  /** Number of calls by method, kept under `record: 'counts'` too. */
  readonly counts: Map<string, number>;
  begin(method: string, args: Arguments, uploads: string[]): Call;
  end(call: Call): void;
  /** Calls that have not been answered, getUpdates aside. */
  readonly open: number;
}

export function createRecorder(options: { clock: Clock; changes: Changes; mode: 'all' | 'counts' }): Recorder {
  const calls: Call[] = [];
  const counts = new Map<string, number>();
  const open = new Set<Call>();
  let serial = 0;
  return {
    calls,
    counts,
    get open() {
      return open.size;
    },
    begin(method, args, uploads) {
      const call: Call = { id: ++serial, method, args, uploads, at: options.clock.now(), committed: false };
      counts.set(method, (counts.get(method) ?? 0) + 1);
      if (options.mode === 'all') calls.push(call);
      if (method !== 'getUpdates') open.add(call);
      options.changes.changed();
      return call;
    },
    end(call) {
      open.delete(call);
      options.changes.changed();
    },
  };
}

export function matches(match: CallMatch, call: Call): boolean {
  if (typeof match === 'function') return match(call);
  return match === '*' || match === call.method;
}
