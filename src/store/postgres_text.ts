/** Rewrites `?` to `$1`, `$2`, … outside quotes and comments. Pure. */
export function numberPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(quotedOrPlaceholder, (part) => (part === '?' ? `$${++count}` : part));
}
const quotedOrPlaceholder = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** The url of a database as it may be logged: without user, password and options. */
export function publicName(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return 'PostgreSQL';
  }
}
