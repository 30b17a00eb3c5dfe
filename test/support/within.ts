/** Rejects when `work` takes longer; `describe` says how things stand then. */
export async function within<T>(
  ms: number,
  what: string,
  work: Promise<T>,
  describe: () => string = () => '',
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${what} did not happen within ${ms} ms. ${describe()}`.trim())),
    ms,
  );
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
