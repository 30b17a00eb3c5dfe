import { GatehouseError, messageOf } from '../base/errors.ts';

/** Serialization failure and deadlock: nothing was changed, and the same work succeeds when it is run again. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error instanceof GatehouseError ? error.cause : error);
  return code === '40001' || code === '40P01';
}

/**
 * An error of the server, the driver or the way between them. Only what the data itself is to blame for stays what it
 * is, and so do mistakes of our own code; everything else is a `store_unavailable`, which is waited for, also when
 * nobody has heard of it yet: a message that is given up is lost, one that is tried again costs a line in the log.
 * Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function explained(database: string, error: unknown): unknown {
  if (error instanceof GatehouseError || error instanceof TypeError || error instanceof RangeError) return error;
  const code = codeOf(error);
  if (isOfData(code)) return error;
  return new GatehouseError('store_unavailable', `The database ${database} is not available (${messageOf(error)}).`, {
    hint: `To go on, ${adviceFor(code, messageOf(error))}.`,
    cause: error,
  });
}

/** A value that does not fit its type, a constraint, and what is larger than a row or an index takes. */
function isOfData(code: string): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(code);
}

function adviceFor(code: string, message: string): string {
  if (code === '53100') return 'free space on the disk of the database server; nothing needs a restart';
  if (code === '25006') return 'point storage.url to the primary server: this one is read-only';
  if (code === '53300') return 'raise max_connections of the database server or close other clients';
  if (code.startsWith('53')) return 'give the database server more memory or disk';
  if (code.startsWith('28')) return 'check user and password in storage.url';
  if (code === '3D000') return 'create the database that storage.url names';
  if (code === '42501') return 'let the user of storage.url own the database';
  if (code === '58030') return 'check the disk of the database server';
  if (code === '57014') return 'find out why a statement took so long: it was cancelled by statement_timeout';
  if (code.startsWith('42')) return 'see whether another program changed the tables of the gateway';
  if (/certificate|TLS|SSL/.test(`${code} ${message}`))
    return 'check the certificate of the server and sslmode in storage.url';
  return 'start the database server and check host and port in storage.url; the gateway reconnects by itself';
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
