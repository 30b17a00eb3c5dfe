import assert from 'node:assert/strict';
import { createChannelState } from '../../src/store/channel_state.ts';
import { eachDatabase } from '../support/databases.ts';

eachDatabase('the latest value of a key is kept for each channel, across restarts', async (_t, open) => {
  const db = await open();
  const state = createChannelState(db, 'telegram');
  assert.equal(await state.get('offset'), null);
  await state.set('offset', '41');
  await state.set('offset', '42');
  await createChannelState(db, 'second bot').set('offset', '7');
  await db.close();
  assert.equal(await createChannelState(await open(), 'telegram').get('offset'), '42');
});
