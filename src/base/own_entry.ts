/** The entry of a record from outside, whose keys may be `constructor` or `__proto__`; undefined when it has none. */
export function ownEntry<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
