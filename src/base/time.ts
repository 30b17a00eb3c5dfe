/** Epoch milliseconds of the first moment of the day of `now` in an IANA zone (on a DST day: as the clock reads). */
export function startOfDay(now: number, timezone: string): number {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(now)
      .map((part) => [part.type, part.value]),
  );
  const sinceMidnight = (Number(parts.hour) * 3600 + Number(parts.minute) * 60 + Number(parts.second)) * 1000;
  return now - sinceMidnight - (now % 1000);
}

/** Making one costs a hundred times more than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timezone, format);
  }
  return format;
}
