/** What a run is handed by its dispatch is what it would read of itself. */
import assert from 'node:assert/strict';
import { createDispatch, type Dispatched } from '../../src/inbox/dispatch.ts';
import { readConversation } from '../../src/store/conversations.ts';
import { messagesOfRun } from '../../src/store/inbox.ts';
import type { Run } from '../../src/store/runs.ts';
import { eachDatabase } from '../support/databases.ts';
import { createInboxWorld } from '../support/inbox_world.ts';
import { silentLog } from '../support/silent_log.ts';

eachDatabase('D2: a run begins with the same words, whether they are handed to it or read', async (_t, open) => {
  const db = await open();
  const { clock, settings, say } = createInboxWorld(db);
  await say('ana', 'first');
  await say('ana', 'second');
  // The second became due before the first: a lane goes by that, a run by the order of arrival.
  await db.run(`update inbox set not_before = received_at + 1 where payload like '%first%'`);
  await clock.advance(5);
  const begun: { run: Run; known: Dispatched | undefined }[] = [];
  const worker = {
    owner: 'here',
    free: () => 9,
    begin: (run: Run, known?: Dispatched) => void begun.push({ run, known }),
  };
  const stage = createDispatch({ db, clock, log: silentLog, settings: () => settings, worker });
  stage.start();
  await stage.stop();
  assert.equal(begun.length, 1);
  const { run, known } = begun[0]!;
  const read = await messagesOfRun(db, run.id);
  assert.deepEqual(
    read.map((row) => row.payload?.text),
    ['first', 'second'],
  );
  // Several processes may share PostgreSQL, so there a run reads for itself.
  if (db.dialect === 'postgres') return assert.equal(known, undefined);
  assert.deepEqual(
    known?.messages.map(({ id, payload }) => ({ id, payload })),
    read.map(({ id, payload }) => ({ id, payload })),
  );
  assert.deepEqual(known?.conversation, await readConversation(db, run.conversationId));
});
