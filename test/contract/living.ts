/** Start, trouble and end of a channel. */
import assert from 'node:assert/strict';
import type { Case } from './adapter_suite.ts';
import { holdMessage, need, type Stage } from './stage.ts';

const states = (stage: Stage) => stage.reports.map(({ state }) => state);
const isUp = (stage: Stage) => states(stage).at(-1) === 'up';

export const living = {
  'a start reports that the channel is up': {
    async run(stage) {
      await stage.start();
      assert.deepEqual(stage.reports, [{ state: 'up', reason: '' }]);
    },
  },

  'R8: a platform that is down at the start is told, and taken up when it comes': {
    fast: true,
    async run(stage) {
      const { platform } = stage;
      await need(platform.down, 'down')();
      await stage.start();
      assert.deepEqual(states(stage), ['down']);
      assert.notEqual(stage.reports[0]?.reason, '');
      const alice = platform.person('Alice');
      const said = platform.say(platform.direct(alice), alice, 'hello');
      await need(platform.up, 'up')();
      await stage.until('the channel to be up', () => isUp(stage));
      await said.acknowledged();
      assert.equal(stage.messages()[0]?.text, 'hello');
    },
  },

  'R8: after a cut connection nothing is missing': {
    fast: true,
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      await platform.say(spot, alice, 'before').acknowledged();
      need(platform.cut, 'cut')();
      await platform.say(spot, alice, 'after').acknowledged();
      await platform.down?.();
      const meanwhile = platform.say(spot, alice, 'while it was down');
      await platform.up?.();
      await meanwhile.acknowledged();
      const texts = [...new Map(stage.messages().map(({ key, text }) => [key, text])).values()];
      assert.deepEqual(texts, ['before', 'after', 'while it was down']);
      await stage.until('the channel to be up', () => isUp(stage));
    },
  },

  'R8: a configuration that cannot work is told once, with what to do': {
    fast: true,
    async run(stage) {
      const wrong = need(stage.platform.wrong, 'wrong');
      await stage.adapter.stop();
      await stage.replace(wrong.config);
      await stage.start();
      assert.deepEqual(states(stage), ['failed']);
      assert.match(stage.reports[0]?.reason ?? '', wrong.reason);
      await stage.adapter.stop();
      assert.deepEqual(states(stage), ['failed']);
    },
  },

  'R88: after stop nothing is accepted any more, and sending still works': {
    fast: true,
    async run(stage) {
      const { platform, adapter } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      await platform.say(spot, alice, 'before').acknowledged();
      await adapter.stop();
      let late = 0;
      stage.onAccept = () => {
        late += 1;
      };
      const said = platform.say(spot, alice, 'after');
      await stage.send(spot, 'still here');
      assert.deepEqual(
        (await platform.seen(spot)).map(({ text }) => text.trim()),
        ['still here'],
      );
      assert.deepEqual([late, said.isAcknowledged()], [0, false]);
      await stage.replace();
      await stage.start();
      await said.acknowledged();
      const texts = [...new Map(stage.messages().map(({ key, text }) => [key, text])).values()];
      assert.deepEqual(texts, ['before', 'after']);
    },
  },

  'R88: stop waits for what is being stored': {
    async run(stage) {
      const { platform } = stage;
      const { release } = await holdMessage(stage);
      let stopped = false;
      const stopping = stage.adapter.stop().then(() => {
        stopped = true;
      });
      await stage.send(platform.direct(platform.person('Bob')), 'something else');
      assert.equal(stopped, false);
      release();
      await stopping;
      assert.equal(stage.stored.length, 1);
    },
  },

  'after stop a further start receives again': {
    fast: true,
    async run(stage) {
      const { platform, adapter } = stage;
      await stage.start();
      await adapter.stop();
      const alice = platform.person('Alice');
      const said = platform.say(platform.direct(alice), alice, 'hello');
      await stage.start();
      await said.acknowledged();
      assert.equal(stage.messages()[0]?.text, 'hello');
      assert.ok(isUp(stage));
    },
  },

  'stop before a start, and twice, resolves': {
    async run(stage) {
      await stage.adapter.stop();
      await stage.adapter.stop();
      await stage.replace();
      await stage.start();
      await stage.adapter.stop();
      await stage.adapter.stop();
      assert.deepEqual(states(stage), ['up']);
    },
  },
} satisfies Record<string, Case>;
