export type Granularity = 'minute' | 'hour' | 'day';

/** One line for the model. `now` is epoch milliseconds; a zone that does not exist is told in UTC. Pure. */
export function clockLine(now: number, timezone: string, granularity: Granularity): string {
  const zone = isZone(timezone) ? timezone : 'UTC';
  const part = partsOf(now, zone);
  const day = `It is ${part.weekday}, ${part.year}-${part.month}-${part.day}`;
  const offset = zone === 'UTC' ? '' : `, ${part.timeZoneName?.replace('GMT', 'UTC')}`;
  const place = `(${zone}${offset})`;
  if (granularity === 'day') return `${day} ${place}.`;
  if (granularity === 'minute') return `${day}, ${part.hour}:${part.minute} ${place}.`;
  const nextHour = String(Number(part.hour) + 1).padStart(2, '0');
  return `${day}, between ${part.hour}:00 and ${nextHour}:00 ${place}.`;
}

function partsOf(now: number, timeZone: string): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  return Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
}

function isZone(timezone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: timezone }));
  } catch {
    return false;
  }
}
