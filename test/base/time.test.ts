import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOfDay } from '../../src/base/time.ts';

const days = [
  ['an ordinary day', 'Europe/Berlin', '2026-07-01T10:00:00.5Z', '2026-06-30T22:00:00Z'],
  ['the first second of a day', 'Europe/Berlin', '2026-06-30T22:00:00Z', '2026-06-30T22:00:00Z'],
  ['a day of 23 hours', 'Europe/Berlin', '2026-03-29T10:00:00Z', '2026-03-28T23:00:00Z'],
  ['a day of 25 hours', 'Europe/Berlin', '2026-10-25T10:00:00Z', '2026-10-24T22:00:00Z'],
  ['the last second of a day of 25 hours', 'Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-24T22:00:00Z'],
  ['a day without a midnight', 'Africa/Cairo', '2026-04-24T10:00:00Z', '2026-04-23T22:00:00Z'],
  ['a day with two midnights', 'America/Havana', '2026-11-01T05:30:00Z', '2026-11-01T04:00:00Z'],
  ['before 1970', 'UTC', '1969-12-31T23:59:59.5Z', '1969-12-31T00:00:00Z'],
] as const;

for (const [name, zone, now, start] of days)
  test(`R73: the day of a cap begins at its first moment: ${name}`, () => {
    assert.equal(new Date(startOfDay(Date.parse(now), zone)).toISOString(), new Date(start).toISOString());
  });
