const secondMs = 1_000;
/** No day of any zone is longer: 24 hours and what a clock is put back by. */
const dayMsMax = 27 * 3_600_000;

/**
 * Epoch milliseconds of the first moment of the day of `now` in an IANA zone. On days when clocks change it is neither
 * what the clock reads nor always midnight, so it is searched for: the first second that has the same date.
 */
export function startOfDay(now: number, timezone: string): number {
  const format = formatOf(timezone);
  const day = format.format(now);
  let before = Math.floor((now - dayMsMax) / secondMs);
  let within = Math.floor(now / secondMs);
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (format.format(middle * secondMs) === day) within = middle;
    else before = middle;
  }
  return within * secondMs;
}

/** Making one costs a hundred times more than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'short' });
    formats.set(timezone, format);
  }
  return format;
}
