/** What comes in: stored first, acknowledged after, and nothing lost. */
import assert from 'node:assert/strict';
import type { Case } from './adapter_suite.ts';
import { holdMessage, need } from './stage.ts';

const chatsAtOnce = 50;
const perChat = 4;

export const receiving = {
  'D1: an event is acknowledged only after it is stored': {
    async run(stage) {
      const { platform } = stage;
      const { said, release } = await holdMessage(stage);
      // Meanwhile the adapter works on: whatever it does at once, it has done when this message is there.
      const bob = platform.direct(platform.person('Bob'));
      await stage.send(bob, 'something else');
      assert.equal((await platform.seen(bob)).length, 1);
      assert.equal(said.isAcknowledged(), false);
      release();
      await said.acknowledged();
      assert.equal(stage.stored.length, 1);
    },
  },

  'D1: an event that could not be stored comes again until it is': {
    fast: true,
    async run(stage) {
      const { platform } = stage;
      let failures = 3;
      let first = '';
      const keys = new Set<string>();
      stage.onAccept = (event) => {
        keys.add(event.key);
        first ||= event.key;
        if (failures-- > 0) throw new Error('the disk is full');
      };
      await stage.start();
      const alice = platform.person('Alice');
      const said = platform.say(platform.direct(alice), alice, 'hello');
      await said.acknowledged();
      assert.equal(failures, -1);
      assert.deepEqual([...keys], [first]);
      assert.deepEqual(
        stage.messages().map(({ text }) => text),
        ['hello'],
      );
    },
  },

  'D1: an event that was being stored at the end of one process comes to the next': {
    fast: true,
    async run(stage) {
      const { said, release } = await holdMessage(stage);
      const stopped = stage.adapter.stop();
      release(new Error('killed'));
      await stopped;
      assert.equal(said.isAcknowledged(), false);
      stage.onAccept = () => {};
      await stage.replace();
      await stage.start();
      assert.equal((await stage.message(1)).text, 'hello');
      await said.acknowledged();
    },
  },

  'R1: the same event has the same key, another message another': {
    fast: true,
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      const said = platform.say(spot, alice, 'hello');
      await said.acknowledged();
      platform.redeliver(said);
      await stage.message(2);
      await platform.say(spot, alice, 'hello').acknowledged();
      const bob = platform.person('Bob');
      await platform.say(platform.direct(bob), bob, 'hello').acknowledged();
      const [one, again, other, elsewhere] = stage.messages();
      assert.equal(again?.key, one?.key);
      assert.deepEqual(again, one);
      assert.equal(new Set([one, other, elsewhere].map((event) => event?.key)).size, 3);
    },
  },

  'R1, R3: an edit has a key of its own and the new words': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const said = platform.say(platform.direct(alice), alice, 'hello');
      await said.acknowledged();
      need(platform.edit, 'edit')(said, 'good morning');
      const edit = await stage.until('the edit', () => stage.stored.find((event) => event.kind === 'edit'));
      assert.equal(edit.text, 'good morning');
      assert.equal(edit.messageId, said.messageId);
      assert.equal(edit.sender.id, alice);
      assert.notEqual(edit.key, stage.messages()[0]?.key);
    },
  },

  'R4: a deleted message is told': {
    declared: (features) => features.deletions,
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const said = platform.say(platform.direct(alice), alice, 'hello');
      await said.acknowledged();
      need(platform.remove, 'remove')(said);
      const deletion = await stage.until('the deletion', () => stage.stored.find(({ kind }) => kind === 'deletion'));
      assert.equal(deletion.kind === 'deletion' && deletion.messageId, said.messageId);
    },
  },

  'D5: our own words are marked as ours, those of another bot as a bot’s': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.group, 'group')([alice]);
      const sayAs = need(platform.sayAs, 'sayAs');
      sayAs('self', spot, 'my own words');
      sayAs('bot', spot, 'words of another bot');
      await stage.message(2);
      await platform.say(spot, alice, 'words of a person', { mention: true }).acknowledged();
      assert.deepEqual(
        stage.messages().map(({ sender }) => sender.kind),
        ['self', 'bot', 'human'],
      );
    },
  },

  'a malformed event stops nothing': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      await platform.say(spot, alice, 'before').acknowledged();
      platform.disturb(spot, alice);
      await platform.say(spot, alice, 'after').acknowledged();
      assert.deepEqual(
        stage.messages().map(({ text }) => text),
        ['before', 'after'],
      );
    },
  },

  'fifty chats at once lose nothing and each keeps its order': {
    async run(stage) {
      const { platform } = stage;
      let turn = 0;
      // Storing takes a different time for each.
      stage.onAccept = async () => {
        for (let left = (turn++ * 7) % 11; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
      };
      await stage.start();
      const people = Array.from({ length: chatsAtOnce }, (_, index) => platform.person(`Person ${index}`));
      const said = Array.from({ length: perChat }, (_, number) =>
        people.map((person) => platform.say(platform.direct(person), person, `${number}`)),
      ).flat();
      await Promise.all(said.map((one) => one.acknowledged()));
      const byChat = Map.groupBy(stage.messages(), ({ chat }) => chat.id);
      assert.equal(byChat.size, 50);
      for (const events of byChat.values())
        assert.deepEqual(
          events.map(({ text }) => text),
          ['0', '1', '2', '3'],
        );
    },
  },
} satisfies Record<string, Case>;
