/** Failures return as these; anything else that is thrown is a bug. The list of codes is closed. */
export type ErrorCode =
  | 'config'
  | 'store_unavailable'
  | 'store_newer'
  | 'in_use'
  | 'limit'
  | 'not_found'
  | 'refused'
  | 'invalid'
  | 'model'
  | 'delivery'
  | 'unavailable';

export class GatehouseError extends Error {
  readonly code: ErrorCode;
  /** What the reader can do about it. */
  readonly hint: string | undefined;
  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }
}

/**
 * A send that did not come back well. `outcome` is the only thing that decides about repeating it:
 * `not_sent` it certainly did not arrive; `unknown` it may have.
 */
export class DeliveryError extends GatehouseError {
  readonly outcome: 'not_sent' | 'unknown';
  /** The platform asked to wait this long before anything else goes to this chat. */
  readonly retryAfterMs: number | undefined;
  /** Repeating cannot help: the chat is gone, the bot was removed, the message is refused as it is. */
  readonly permanent: boolean;
  /** The chat has a new id (Telegram supergroup). */
  readonly migratedTo: string | undefined;
  constructor(
    message: string,
    options: {
      outcome: 'not_sent' | 'unknown';
      retryAfterMs?: number;
      permanent?: boolean;
      migratedTo?: string;
      cause?: unknown;
    },
  ) {
    super('delivery', message, { cause: options.cause });
    this.outcome = options.outcome;
    this.retryAfterMs = options.retryAfterMs;
    this.permanent = options.permanent ?? false;
    this.migratedTo = options.migratedTo;
  }
}

/** A model request that failed after retries and fallbacks. */
export class ModelError extends GatehouseError {
  readonly kind: 'unavailable' | 'refused' | 'too_long' | 'misconfigured';
  constructor(
    kind: 'unavailable' | 'refused' | 'too_long' | 'misconfigured',
    message: string,
    options: { hint?: string; cause?: unknown } = {},
  ) {
    super('model', message, options);
    this.kind = kind;
  }
}

/** A sentence that must hold; a failure is a bug. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${sentence}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
