/** The whole way of a message over PostgreSQL; the other files of this folder go it over SQLite. */
import assert from 'node:assert/strict';
import { eachDatabase } from '../support/databases.ts';
import { createGate } from '../support/gate.ts';
import { startTestGateway } from '../support/gateway.ts';

eachDatabase(
  'a conversation with tools, a stop and a restart over PostgreSQL: each answered once, nothing forgotten',
  async (t, _open, { url }) => {
    const world = await startTestGateway(t, { config: { storage: { url } } });
    try {
      const { telegram, model } = world;
      const alice = telegram.user({ name: 'Alice' });
      const chat = telegram.privateChat(alice);
      const never = createGate();
      model.script(
        { calls: [{ name: 'store_set', input: { key: 'colour', value: 'green' } }] },
        { text: 'Noted.' },
        { text: 'never said', gate: () => never.opened },
        { calls: [{ name: 'store_get', input: { key: 'colour' } }] },
        { text: 'It is green.' },
      );
      telegram.say(chat, alice, 'my colour is green');
      await telegram.waitForMessage(chat, 'Noted.');

      telegram.say(chat, alice, 'tell me a long story');
      const story = await model.request(3);
      telegram.say(chat, alice, '/stop');
      assert.equal(await story.ended, 'client');
      await telegram.waitForMessage(chat, 'Stopping.');

      await world.restart();
      telegram.say(chat, alice, 'which colour?');
      await telegram.waitForMessage(chat, 'It is green.');
      await telegram.idle();
      const said = telegram.visible(chat, { fromBot: true }).map(({ text }) => text);
      assert.deepEqual(said, ['Noted.', 'Stopping.', 'It is green.']);
      const last = model.requests.at(-1)?.messages ?? [];
      assert.deepEqual(
        last.filter(({ role }) => role === 'user').map(({ text }) => text),
        ['my colour is green', 'tell me a long story', 'which colour?'],
      );
      assert.equal(last.at(-1)?.results[0]?.text, 'green');
      const rows = await world.gateway.db.all<{ state: string }>('select state from runs order by id');
      assert.deepEqual(
        rows.map(({ state }) => state),
        ['completed', 'cancelled', 'completed'],
      );
    } finally {
      // Before the database goes.
      await world.stop();
    }
  },
  { only: 'postgres', timeoutMs: 60_000 },
);
