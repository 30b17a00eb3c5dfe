export type Granularity = 'minute' | 'hour' | 'day';

/** One line for the model. `now` is epoch milliseconds, `zone` an IANA name that exists. Pure. */
export function clockLine(now: number, zone: string, granularity: Granularity): string {
  const part = partsOf(now, zone);
  const day = `It is ${part.weekday}, ${part.year}-${part.month}-${part.day}`;
  const offset = zone === 'UTC' ? '' : `, ${part.timeZoneName?.replace('GMT', 'UTC')}`;
  const place = `(${zone}${offset})`;
  if (granularity === 'day') return `${day} ${place}.`;
  if (granularity === 'minute') return `${day}, ${part.hour}:${part.minute} ${place}.`;
  const nextHour = String(Number(part.hour) + 1).padStart(2, '0');
  return `${day}, between ${part.hour}:00 and ${nextHour}:00 ${place}.`;
}

/** A format takes far longer to make than to use; there are as many as there are zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(now: number, zone: string): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  const format = formats.get(zone) ?? createFormat(zone);
  formats.set(zone, format);
  return Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
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
}
