import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import { createJournal } from '../../src/store/journal.ts';
import { eachDatabase } from '../support/databases.ts';

const at = (now: number) => ({ ...systemClock, now: () => now });

eachDatabase('a known key returns the line that is there', async (_t, open) => {
  const db = await open();
  const line = await createJournal(db, at(1_000), 'web').append('chat', 'k', { text: 'first' });
  assert.deepEqual({ ...line, seq: 0 }, { seq: 0, key: 'k', body: { text: 'first' }, createdAt: 1_000 });
  assert.deepEqual(await createJournal(db, at(2_000), 'web').append('chat', 'k', { text: 'second' }), line);
  const other = await createJournal(db, at(3_000), 'web').append('other chat', 'k', { text: 'third' });
  assert.deepEqual(other.body, { text: 'third' });
});

eachDatabase('an update gives a new, larger seq and keeps the time of the line', async (_t, open) => {
  const db = await open();
  const journal = createJournal(db, at(1_000), 'web');
  await journal.append('chat', 'a', { n: 1 });
  const last = await journal.append('chat', 'b', { n: 2 });
  const updated = await createJournal(db, at(5_000), 'web').update('chat', 'a', { n: 3 });
  assert.ok(updated!.seq > last.seq);
  assert.equal(updated!.createdAt, 1_000);
  const next = await journal.append('chat', 'c', { n: 4 });
  assert.ok(next.seq > updated!.seq);
  assert.equal(await journal.update('chat', 'unknown', { n: 5 }), null);
  assert.deepEqual(
    (await journal.read('chat', { limit: 10 })).map((line) => [line.key, line.body.n]),
    [
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ],
  );
});

eachDatabase('lines are read after a seq or from the end, oldest first, of this chat and channel', async (_t, open) => {
  const db = await open();
  const journal = createJournal(db, systemClock, 'web');
  await createJournal(db, systemClock, 'other').append('chat', 'x', {});
  await journal.append('other chat', 'x', {});
  const seqs: number[] = [];
  for (const key of ['a', 'b', 'c', 'd']) seqs.push((await journal.append('chat', key, {})).seq);
  const keys = async (options: Parameters<typeof journal.read>[1]) =>
    (await journal.read('chat', options)).map((line) => line.key);
  assert.deepEqual(await keys({ limit: 2 }), ['a', 'b']);
  assert.deepEqual(await keys({ after: seqs[1]!, limit: 10 }), ['c', 'd']);
  assert.deepEqual(await keys({ latest: true, limit: 2 }), ['c', 'd']);
  assert.deepEqual(await keys({ latest: true, after: seqs[2]!, limit: 9 }), ['d']);
});

eachDatabase('append and update ring the journal bell', async (_t, open) => {
  const db = await open();
  const journal = createJournal(db, systemClock, 'web');
  const ring = () => new Promise<void>((resolve) => void db.onRing('journal', resolve));
  for (const write of [() => journal.append('chat', 'a', {}), () => journal.update('chat', 'a', {})]) {
    const rung = ring();
    await write();
    await rung;
  }
});

eachDatabase('a reader that follows while many write misses no line', async (_t, open) => {
  const [db, other] = [await open(), await open()];
  const journals = [createJournal(db, systemClock, 'web'), createJournal(other, systemClock, 'web')];
  const count = 120;
  let writing = true;
  const writes = Promise.all(
    Array.from({ length: count }, (_, index) => journals[index % 2]!.append('chat', `k${index}`, {})),
  ).then(() => {
    writing = false;
  });
  const seen = new Set<string>();
  let after = 0;
  for (let last = false; !last; ) {
    last = !writing;
    const lines = await journals[0]!.read('chat', { after, limit: 1_000 });
    for (const line of lines) seen.add(line.key);
    after = lines.at(-1)?.seq ?? after;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writes;
  assert.equal(seen.size, count);
});

eachDatabase('the same key appended at once by two processes is one line', async (_t, open) => {
  const [db, other] = [await open(), await open()];
  const lines = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      createJournal(index % 2 ? db : other, systemClock, 'web').append('chat', 'k', { index }),
    ),
  );
  assert.equal(new Set(lines.map((line) => line.seq)).size, 1);
});
