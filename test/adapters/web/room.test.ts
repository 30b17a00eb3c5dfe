import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoom } from '../../../adapters/web/room.ts';
import { createFakeClock } from '../../support/fake_clock.ts';

test('R85: a growing answer is shown 20 times a second at most, and its newest piece always', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  const shown: string[] = [];
  room.listen(() => shown.push(room.live?.html ?? ''));
  for (let i = 1; i <= 100; i++) {
    room.preview('a', 'x'.repeat(i));
    await clock.advance(10);
  }
  assert.ok(shown.length >= 18 && shown.length <= 20, `${shown.length} in one second`);
  assert.equal(shown[0], '<p>x</p>');
  await clock.advance(100);
  assert.equal(shown.at(-1), `<p>${'x'.repeat(100)}</p>`);
});

test('R85: a long answer is rendered less often', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  let shown = 0;
  room.listen(() => shown++);
  for (let i = 0; i < 100; i++) {
    room.preview('a', 'word '.repeat(6_000) + i);
    await clock.advance(10);
  }
  assert.equal(shown, 5);
});

test('R85: nothing of an answer is shown after its line', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  room.preview('a', 'one');
  room.preview('a', 'one two');
  room.finish('a');
  assert.equal(room.live, null);
  await clock.advance(1_000);
  assert.equal(room.live, null);
});

test('R85: the line of another answer leaves this one growing', () => {
  const room = createRoom(createFakeClock());
  room.preview('a', 'one');
  room.finish('b');
  assert.equal(room.live?.html, '<p>one</p>');
});

test('R85: an answer is placed where its first piece was seen', async () => {
  const clock = createFakeClock(1_000);
  const room = createRoom(clock);
  room.preview('a', 'one');
  await clock.advance(5_000);
  room.preview('a', 'one two');
  assert.equal(room.startedAt('a'), 1_000);
  assert.equal(room.startedAt('b'), null);
});

test('a preview that was taken away or is not continued is over', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  const growing = () => room.live?.answerId ?? null;
  room.preview('a', 'one');
  room.preview('a', '');
  assert.equal(growing(), null);
  await clock.advance(100);
  room.preview('b', 'two');
  await clock.advance(59_999);
  assert.equal(growing(), 'b');
  await clock.advance(1);
  assert.equal(growing(), null);
});

test('R85: a status lasts while it is repeated', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  let told = 0;
  room.listen(() => told++);
  for (let i = 0; i < 5; i++) {
    room.setStatus('thinking');
    await clock.advance(10_000);
  }
  assert.equal(room.status, 'thinking');
  assert.equal(told, 1);
  await clock.advance(5_000);
  assert.equal(room.status, null);
  assert.equal(told, 2);
});

test('a room nobody looks at, where nothing goes on, can be forgotten', async () => {
  const clock = createFakeClock();
  const room = createRoom(clock);
  assert.equal(room.idle(), true);
  const leave = room.listen(() => {});
  assert.equal(room.idle(), false);
  leave();
  room.setStatus('thinking');
  assert.equal(room.idle(), false);
  await clock.advance(15_000);
  assert.equal(room.idle(), true);
});
