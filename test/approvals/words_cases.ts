/** Decisions in words: what counts as a yes or a no, and where (rules 44 and 45). */
import assert from 'node:assert/strict';
import { askFor, askToSend, codeOf, codesOf, isUntouched, resultsOf, states } from './asking.ts';
import { both, type Cases, room } from './suite.ts';

export const wordsCases: Cases = {
  'R44: a button approves, and the call that was shown runs': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      assert.deepEqual(scene.ran, []);
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R44: a button denies, nothing runs, and the model is told by whom': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      await scene.press('requester', card, 'Deny');
      await scene.sees('Done with one.');
      const shown = await scene.closed(card);
      assert.match(shown.text, /denied by Rita/);
      assert.deepEqual(scene.ran, []);
      const [result] = resultsOf(await scene.model.request(2));
      assert.match(result ?? '', /^send was not run: denied by Rita/);
    },
  },

  'R44: yes with the code approves, and so it does in a command': {
    where: both,
    async run(scene) {
      const first = await askToSend(scene, 'one');
      scene.say('requester', `yes ${codeOf(first)}`);
      await scene.sees('Done with one.');
      const second = await askToSend(scene, 'two');
      scene.say('requester', `!approve ${codeOf(second).toLowerCase()}`);
      await scene.sees('Done with two.');
      const third = await askToSend(scene, 'three');
      scene.say('requester', `/approve ${codeOf(third)}`);
      await scene.sees('Done with three.');
      assert.deepEqual(
        scene.ran.map(({ input }) => input.what),
        ['one', 'two', 'three'],
      );
    },
  },

  'R44: no with the code denies, and the reason behind it reaches the model': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', `no ${codeOf(card)} because "Bob" is on leave`);
      await scene.sees('Done with one.');
      const [result] = resultsOf(await scene.model.request(2));
      assert.match(result ?? '', /denied by Rita.*They gave this reason: "\\"Bob\\" is on leave"/);
      assert.match((await scene.closed(card)).text, /Reason: "Bob" is on leave/);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R44: "no, because" without a code hands over the reason': {
    async run(scene) {
      await askToSend(scene);
      scene.say('requester', 'No, because it is late.');
      await scene.sees('Done with one.');
      assert.match(resultsOf(await scene.model.request(2))[0] ?? '', /They gave this reason: "it is late\."/);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R44: any other text is chat and goes to the model': {
    async run(scene) {
      const card = await askToSend(scene);
      const others = ['yes please', 'ok', 'yes, do it', 'yesterday', 'sure', 'I say yes', '👍', '> yes'];
      for (const text of others) {
        scene.say('requester', text);
        await scene.sees(`Chat: ${text}`);
        await isUntouched(scene, card);
      }
    },
  },

  'R44: a reply to the card that is no yes or no is chat': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', 'what would it send?', { to: card });
      await scene.sees(/Chat: .*what would it send\?/);
      await isUntouched(scene, card);
    },
  },

  'R44: a forwarded yes decides nothing': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', `yes ${codeOf(card)}`, { forwarded: true });
      scene.say('requester', 'yes', { forwarded: true, to: card });
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R44: a message that is edited into a yes decides nothing': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      const written = scene.say('requester', 'hello there');
      scene.edit(written, `yes ${codeOf(card)}`);
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R44: a yes from before the card, by the time of the platform, is chat': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', `yes ${codeOf(card)}`, { agoMs: 60_000 });
      await isUntouched(scene, card);
      if (scene.where === 'direct') {
        scene.say('requester', 'yes', { agoMs: 60_000 });
        await isUntouched(scene, card);
      }
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R45: a bare yes counts in a direct chat while the card is our last message': {
    async run(scene) {
      await askToSend(scene);
      scene.say('requester', 'Yes!');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R45: a bare yes is chat when something of ours stands below the card': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', '/whoami');
      await scene.sees('Rita', {});
      await scene.quiet();
      scene.say('requester', 'yes');
      await scene.sees('Chat: yes');
      await isUntouched(scene, card);
    },
  },

  'R45: a bare yes with several questions open approves none and lists their codes': {
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'one' }], ['post', { what: 'two' }]);
      const [first = '', second = ''] = codesOf(card);
      assert.notEqual(first, second);
      scene.say('requester', 'yes');
      const listed = await scene.sees('Several questions are open');
      assert.match(listed.text, new RegExp(`${first}: Tool send of acts[\\s\\S]*${second}: Tool post of acts`));
      await isUntouched(scene, card);
      if (scene.replies) {
        scene.say('requester', 'yes', { to: card });
        await scene.quiet();
        assert.equal(scene.texts().filter((text) => text.includes('Several questions')).length, 2);
        await isUntouched(scene, card);
      }
      scene.say('requester', `yes ${second}`);
      scene.say('requester', `no ${first}`);
      await scene.sees('All done.');
      assert.deepEqual(scene.ran, [{ tool: 'post', input: { what: 'two' } }]);
    },
  },

  'R44: approve without a code, or with what can be none, lists the question or says so, and never reaches the model': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.ask('hello');
      await scene.sees(/Chat: .*hello/);
      const { length } = scene.model.requests;
      scene.say('requester', '/approve');
      const listed = await scene.sees('Answer with the code of the question');
      assert.ok(listed.text.includes(codeOf(card)));
      scene.say('requester', '/approve 999');
      await scene.sees('No open question here has the code 999.');
      await isUntouched(scene, card);
      assert.equal(scene.model.requests.length, length);
    },
  },

  'R45: a bare yes with questions of two runs open approves none': {
    async run(scene) {
      const first = await askToSend(scene, 'one');
      const second = await askToSend(scene, 'two');
      scene.say('requester', 'yes');
      const listed = await scene.sees('Several questions are open');
      for (const card of [first, second]) assert.ok(listed.text.includes(codeOf(card)));
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      assert.deepEqual(await states(scene), ['pending', 'pending']);
    },
  },

  'R45: in a room a bare yes counts as a reply to the card alone': {
    where: room,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', 'yes');
      await isUntouched(scene, card);
      scene.say('requester', 'yes', { to: card });
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R45: a code of another chat means nothing here': {
    where: room,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', `yes ${codeOf(card)}`, { own: true });
      await scene.sees('No open question here has the code', { of: 'requester' });
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R48: words after the decision are told who decided': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      scene.say('requester', `no ${codeOf(card)}`);
      await scene.sees(/Already approved by Rita/);
      scene.say('requester', 'no', scene.replies ? { to: card } : {});
      await scene.quiet();
      const told = scene.texts().filter((text) => text.includes('Already approved')).length;
      assert.equal(told, scene.replies ? 2 : 1, 'a bare no after the decision is chat');
      assert.equal(scene.ran.length, 1);
    },
  },
};
