import { type Call, type CallMatch, matches } from './record.ts';
import { ApiError } from './wire.ts';

/**
 * What happens to a call, decided when it arrives: a long poll that is open already is not hit. `*_before`: nothing is changed. `*_after`: the change is made, the client does not learn it.
 * `status` answers that HTTP status with a proxy's HTML page; `error` is an answer of Telegram itself; `hang` never
 * answers (the socket stays open until the client or `close()` ends it).
 */
export type FaultKind =
  | { do: 'close_before' | 'close_after' | 'hang_before' | 'hang_after' }
  | { do: 'status_before' | 'status_after'; status?: number }
  | { do: 'flood'; retryAfter: number }
  | { do: 'error'; code: number; description: string; parameters?: Record<string, unknown> };

export type FaultRule = FaultKind & {
  /** `*` is every method except getUpdates. */
  method: string;
  /** Only calls for which this holds. */
  when?: (call: Call) => boolean;
  chat?: number;
  /** Counting from 1 over the calls that match from now on; default the next one. */
  nth?: number;
  /** How many matching calls from the nth on; default 1. Infinity until removed. */
  times?: number;
};

export interface Fault {
  /** How many calls it hit so far. */
  readonly hits: number;
  remove(): void;
}

/** `drop` in `before`: the request never reached the server; the socket is closed and nothing is changed. */
export type BeforeHook = (call: Call) => undefined | 'drop' | Promise<undefined | 'drop'> | void | Promise<void>;
export type AfterHook = (call: Call) => void | Promise<void>;

export interface Faults {
  add(rule: FaultRule): Fault;
  take(call: Call): FaultKind | null;
  before(match: CallMatch, hook: BeforeHook): () => void;
  after(match: CallMatch, hook: AfterHook): () => void;
  runBefore(call: Call): Promise<boolean> | true;
  runAfter(call: Call): Promise<void> | null;
}

export function createFaults(): Faults {
  const rules = new Set<{ rule: FaultRule; seen: number; hits: number }>();
  const beforeHooks = new Set<{ match: CallMatch; hook: BeforeHook }>();
  const afterHooks = new Set<{ match: CallMatch; hook: AfterHook }>();
  const hook = <T>(set: Set<T>, entry: T) => {
    set.add(entry);
    return () => {
      set.delete(entry);
    };
  };
  return {
    add(rule) {
      const entry = { rule, seen: 0, hits: 0 };
      rules.add(entry);
      return {
        get hits() {
          return entry.hits;
        },
        remove: () => {
          rules.delete(entry);
        },
      };
    },
    take(call) {
      let taken: FaultKind | null = null;
      for (const entry of rules) {
        if (!applies(entry.rule, call)) continue;
        entry.seen += 1;
        const first = entry.rule.nth ?? 1;
        const afterLast = first + (entry.rule.times ?? 1);
        if (entry.seen >= afterLast - 1) rules.delete(entry);
        if (taken || entry.seen < first || entry.seen >= afterLast) continue;
        entry.hits += 1;
        call.fault = entry.rule.do;
        taken = entry.rule;
      }
      return taken;
    },
    before: (match, call) => hook(beforeHooks, { match, hook: call }),
    after: (match, call) => hook(afterHooks, { match, hook: call }),
    runBefore: (call) => (beforeHooks.size === 0 ? true : askBefore(beforeHooks, call)),
    runAfter: (call) => (afterHooks.size === 0 ? null : tellAfter(afterHooks, call)),
  };
}

function applies(rule: FaultRule, call: Call): boolean {
  if (rule.method === '*' ? call.method === 'getUpdates' : rule.method !== call.method) return false;
  if (rule.chat !== undefined && Number(call.args.chat_id) !== rule.chat) return false;
  return rule.when ? rule.when(call) : true;
}

async function askBefore(hooks: Set<{ match: CallMatch; hook: BeforeHook }>, call: Call): Promise<boolean> {
  for (const { match, hook } of [...hooks]) if (matches(match, call) && (await hook(call)) === 'drop') return false;
  return true;
}

async function tellAfter(hooks: Set<{ match: CallMatch; hook: AfterHook }>, call: Call): Promise<void> {
  for (const { match, hook } of [...hooks]) if (matches(match, call)) await hook(call);
}

/** The answer a fault puts in the place of the method's, or null when it only concerns the transport. */
export function answerOf(fault: FaultKind): ApiError | null {
  if (fault.do === 'flood') return tooMany(fault.retryAfter);
  if (fault.do === 'error') return new ApiError(fault.code, fault.description, fault.parameters);
  return null;
}

export function tooMany(seconds: number): ApiError {
  return new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}
