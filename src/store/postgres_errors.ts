import { GatehouseError, messageOf } from '../base/errors.ts';

/** Serialization failure and deadlock: nothing was changed, and the same work succeeds when it is run again. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * What an operator can act on becomes a `store_unavailable`; every other error is a bug and stays what it is.
 * Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function explained(database: string, error: unknown): unknown {
  if (error instanceof GatehouseError) return error;
  const advice = adviceFor(codeOf(error), messageOf(error));
  if (!advice) return error;
  return new GatehouseError('store_unavailable', `The database ${database} is not available (${messageOf(error)}).`, {
    hint: `To go on, ${advice}.`,
    cause: error,
  });
}

function adviceFor(code: string, message: string): string | null {
  if (code === '53100') return 'free space on the disk of the database server; nothing needs a restart';
  if (code === '25006') return 'point storage.url to the primary server: this one is read-only';
  if (code === '53300') return 'raise max_connections of the database server or close other clients';
  if (code.startsWith('53')) return 'give the database server more memory or disk';
  if (code.startsWith('28')) return 'check user and password in storage.url';
  if (code === '3D000') return 'create the database that storage.url names';
  if (code === '42501') return 'let the user of storage.url own the database';
  if (code === '58030') return 'check the disk of the database server';
  if (code === '57014') return 'find out why a statement took so long: it was cancelled by statement_timeout';
  if (code.startsWith('08') || code.startsWith('57P') || code === '25P03' || /^E[A-Z]+$/.test(code))
    return 'start the database server and check host and port in storage.url; the gateway reconnects by itself';
  if (
    /connection terminated|timeout exceeded when trying to connect|client has encountered a connection/i.test(message)
  )
    return 'start the database server and check host and port in storage.url; the gateway reconnects by itself';
  return null;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
