import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../capabilities/clock/index.ts';
import type { RunFacts } from '../../src/types/capability.ts';
import { createRecordingRun } from './recording_run.ts';

/** 2026-11-30T13:05:59.999Z, a Monday. */
const now = 1_796_043_959_999;

function lineFor(facts: Partial<RunFacts>, config = {}): string {
  const { run, tools, instructions, reminders } = createRecordingRun({ now: () => now, ...facts });
  capability.attach(run, config);
  assert.deepEqual(tools, []);
  assert.deepEqual(instructions, [], 'what changes must not be in the stable prefix (M1)');
  assert.equal(reminders.length, 1);
  return reminders[0]!();
}

test('M1: the clock is one reminder in the zone of the run, to the minute', () => {
  assert.equal(lineFor({ timezone: 'Europe/Berlin' }), 'It is Monday, 2026-11-30, 14:05 (Europe/Berlin, UTC+01:00).');
  assert.equal(lineFor({ timezone: 'Asia/Kolkata' }), 'It is Monday, 2026-11-30, 18:35 (Asia/Kolkata, UTC+05:30).');
  assert.equal(
    lineFor({ timezone: 'Pacific/Auckland' }),
    'It is Tuesday, 2026-12-01, 02:05 (Pacific/Auckland, UTC+13:00).',
  );
});

test('M1: a coarser clock changes less often', () => {
  const berlin = { timezone: 'Europe/Berlin' };
  assert.equal(
    lineFor(berlin, { granularity: 'hour' }),
    'It is Monday, 2026-11-30, between 14:00 and 15:00 (Europe/Berlin, UTC+01:00).',
  );
  assert.equal(lineFor(berlin, { granularity: 'day' }), 'It is Monday, 2026-11-30 (Europe/Berlin, UTC+01:00).');
});

test('the last hour of a day ends at 24:00, the first begins at 00:00', () => {
  assert.equal(
    lineFor({ timezone: 'Europe/Berlin', now: () => now + 9 * 3_600_000 }, { granularity: 'hour' }),
    'It is Monday, 2026-11-30, between 23:00 and 24:00 (Europe/Berlin, UTC+01:00).',
  );
  assert.equal(
    lineFor({ timezone: 'Europe/Berlin', now: () => now + 10 * 3_600_000 }),
    'It is Tuesday, 2026-12-01, 00:05 (Europe/Berlin, UTC+01:00).',
  );
});

test('UTC has no offset', () => {
  assert.equal(lineFor({ timezone: 'UTC' }), 'It is Monday, 2026-11-30, 13:05 (UTC).');
});

test('the time is read when the line is asked for', () => {
  let time = now;
  const { run, reminders } = createRecordingRun({ now: () => time, timezone: 'UTC' });
  capability.attach(run, {});
  time += 60_000;
  assert.equal(reminders[0]!(), 'It is Monday, 2026-11-30, 13:06 (UTC).');
});
