/**
 * What a failed call means. Told apart by code and text as tdlib's Bot API server words them (Client.cpp,
 * `fail_query_with_error`); only the outcome decides whether a message may be sent again. Errors made here carry
 * neither the token nor the words of a message.
 */
import { GrammyError } from 'grammy';
import { DeliveryError } from '../../src/base/errors.ts';
import { TransportError } from './transport.ts';

/** An answer that is not the Bot API's, such as a proxy's error page. */
export class StrangeAnswer extends Error {
  override readonly name = 'StrangeAnswer';
  readonly status: number;
  constructor(status: number) {
    super(`the answer is not from a Bot API server (HTTP status ${status})`);
    this.status = status;
  }
}

export type Failure =
  | { kind: 'refused'; code: number; description: string; retryAfterMs?: number; migratedTo?: string }
  | { kind: 'unreachable'; description: string; written: boolean };

/** Any error of a call as data; anything that is no failure of a call is a bug and thrown on. */
export function failureOf(error: unknown): Failure {
  if (error instanceof GrammyError) {
    const { retry_after: seconds, migrate_to_chat_id: chat } = error.parameters;
    return {
      kind: 'refused',
      code: error.error_code,
      description: error.description,
      ...(typeof seconds === 'number' ? { retryAfterMs: seconds * 1000 } : {}),
      ...(typeof chat === 'number' ? { migratedTo: String(chat) } : {}),
    };
  }
  if (error instanceof TransportError)
    return { kind: 'unreachable', description: error.message, written: error.written };
  if (error instanceof StrangeAnswer) {
    // A 4xx page was written by something in front that turned the request away.
    const turnedAway = error.status >= 400 && error.status < 500;
    return { kind: 'unreachable', description: error.message, written: !turnedAway };
  }
  throw error;
}

export function deliveryErrorOf(error: unknown): DeliveryError {
  const failure = failureOf(error);
  if (failure.kind === 'unreachable')
    return new DeliveryError(`Telegram: ${failure.description}.`, {
      outcome: failure.written ? 'unknown' : 'not_sent',
    });
  const { code, description, retryAfterMs, migratedTo } = failure;
  const message = `Telegram refused: ${description} (${code}).`;
  if (migratedTo !== undefined) return new DeliveryError(message, { outcome: 'not_sent', migratedTo });
  if (code === 429) return new DeliveryError(message, { outcome: 'not_sent', retryAfterMs: retryAfterMs ?? 1000 });
  if (code >= 500) return new DeliveryError(message, { outcome: 'unknown' });
  // The token was withdrawn or is wrong: an operator's matter, the message stays good.
  if (code === 401 || code === 404) return new DeliveryError(message, { outcome: 'not_sent' });
  return new DeliveryError(message, { outcome: 'not_sent', permanent: true });
}

/** The server did not like our ranges: the same words without them are worth one more try, and nothing else is. */
export function isEntityRefusal(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.code === 400 && /entit/i.test(failure.description);
}

export function isNotModified(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.code === 400 && /message is not modified/i.test(failure.description);
}

/** A press was answered already, or its time is over. */
export function isQueryTooOld(failure: Failure): boolean {
  return (
    failure.kind === 'refused' && failure.code === 400 && /query is too old|QUERY_ID_INVALID/i.test(failure.description)
  );
}

/**
 * The message cannot be changed by anybody any more: deleted, too old, of a group that became a supergroup, or in a
 * chat where the bot may not write.
 */
export function isPastEditing(failure: Failure): boolean {
  if (failure.kind !== 'refused') return false;
  if (failure.code === 403 || failure.migratedTo !== undefined) return true;
  return (
    failure.code === 400 &&
    /message to edit not found|message can't be edited|MESSAGE_EDIT_TIME_EXPIRED|MESSAGE_ID_INVALID|chat not found/i.test(
      failure.description,
    )
  );
}

/** The message or member asked about is not there. */
export function isGone(failure: Failure): boolean {
  return (
    failure.kind === 'refused' &&
    failure.code === 400 &&
    /message to delete not found|user not found|member not found|PARTICIPANT_ID_INVALID/i.test(failure.description)
  );
}
