/** Several calls of a step, expiry, and what else happens to a run that waits (rules 3, 22, 38, 40, 53, 54; C26). */
import assert from 'node:assert/strict';
import { actTool } from './acts.ts';
import { allResultsOf, askFor, askToSend, codeOf, codesOf, isUntouched, resultsOf, states, whatRan } from './asking.ts';
import { both, type Cases, room } from './suite.ts';

const hourMs = 3_600_000;

export const stepsCases: Cases = {
  'R53: the questions of a step are decided one by one, and the run goes on after the last': {
    where: both,
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['post', { what: 'b' }], ['send', { what: 'c' }]);
      assert.match(card.text, /^3 calls need approval/);
      assert.deepEqual(
        card.buttons.filter((label) => !label.startsWith('Always')),
        ['Approve 1', 'Deny 1', 'Approve 2', 'Deny 2', 'Approve 3', 'Deny 3', 'Approve all', 'Deny all'],
      );
      await scene.press('requester', card, 'Approve 3');
      const left = await scene.becomes(card, /2 calls need approval/);
      assert.ok(!left.buttons.includes('Approve 3'));
      await scene.press('requester', left, 'Deny 2');
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      assert.equal(scene.model.requests.length, 1);
      scene.say('requester', `yes ${codesOf(card)[0]}`);
      await scene.sees('All done.');
      assert.deepEqual(whatRan(scene), ['send a', 'send c']);
      const [first, second, third] = resultsOf(await scene.model.request(2));
      assert.equal(first, 'send done');
      assert.match(second ?? '', /^post was not run: denied by Rita/);
      assert.equal(third, 'send done');
    },
  },

  'R53: Approve all runs every call in its order, and edits the card once': {
    where: both,
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['post', { what: 'b' }], ['send', { what: 'c' }]);
      assert.equal(await scene.press('requester', card, 'Approve all'), '');
      await scene.sees('All done.');
      await scene.quiet();
      assert.deepEqual(whatRan(scene), ['send a', 'post b', 'send c']);
      const { edits, buttons } = scene.now(card);
      assert.deepEqual([edits, buttons], [1, []]);
    },
  },

  'R53: Deny all denies what is still open': {
    where: both,
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['post', { what: 'b' }], ['send', { what: 'c' }]);
      await scene.press('requester', card, 'Approve 2');
      const left = await scene.becomes(card, /2 calls need/);
      await scene.press('requester', left, 'Deny all');
      await scene.sees('All done.');
      assert.deepEqual(scene.ran, [{ tool: 'post', input: { what: 'b' } }]);
      assert.deepEqual(await states(scene), ['denied', 'approved', 'denied']);
    },
  },

  'R53: Approve all of somebody who may not changes nothing': {
    where: room,
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['post', { what: 'b' }]);
      assert.match(await scene.press('member', card, 'Approve all'), /^That is not yours to decide\. Rita decides\.$/);
      await isUntouched(scene, card);
    },
  },

  'R53: a call that is allowed runs once, before people are asked, also over a restart': {
    async run(scene) {
      const card = await askFor(scene, ['look', { what: 'a' }], ['send', { what: 'b' }], ['look', { what: 'c' }]);
      assert.match(card.text, /^Approval needed/);
      assert.deepEqual(whatRan(scene), ['look a', 'look c']);
      await scene.restart();
      await scene.press('requester', card, 'Approve');
      await scene.sees('All done.');
      assert.deepEqual(whatRan(scene), ['look a', 'look c', 'send b']);
      assert.deepEqual(resultsOf(await scene.model.request(2)), ['look done', 'send done', 'look done']);
    },
  },

  'R53: more questions than fit a card stand on several': {
    async run(scene) {
      const calls = Array.from({ length: 12 }, (_, index): [string, { what: string }] => [
        'send',
        { what: `n${index}` },
      ]);
      const first = await askFor(scene, ...calls);
      const second = await scene.card(/^2 calls need approval/);
      assert.match(first.text, /^10 calls need approval/);
      await scene.press('requester', first, 'Approve all');
      await scene.closed(first);
      await scene.quiet();
      assert.equal(scene.ran.length, 0);
      await scene.press('requester', second, 'Deny all');
      await scene.sees('All done.');
      assert.equal(scene.ran.length, 10);
    },
  },

  'R54, A2: expired, the card has no buttons and says so, nothing runs, the model is not asked, a late press is told': {
    options: { timed: true, approvals: { expires: '1h' } },
    async run(scene) {
      const card = await askToSend(scene);
      const data = card.data('Approve');
      await scene.later(hourMs + 1_000);
      const shown = await scene.closed(card);
      assert.match(shown.text, /expired, 2026-01-01 01:00 UTC/);
      assert.equal(await scene.pressData('requester', card, data), 'This question is over: expired.');
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      assert.equal(scene.model.requests.length, 1);
      const runs = await scene.rows<{ state: string }>('select state from runs');
      assert.deepEqual(runs, [{ state: 'cancelled' }]);
      const [row] = await scene.rows('select state, decided_by from approvals');
      assert.deepEqual(row, { state: 'expired', decided_by: null });
      // The conversation goes on, and knows that nothing was done.
      scene.ask('hello');
      await scene.sees('Chat: hello');
      assert.match(JSON.stringify(scene.model.requests.at(-1)?.messages), /nobody decided about it in time/);
    },
  },

  'R54: a question is open for 72 hours where nothing else is said': {
    options: { timed: true },
    async run(scene) {
      assert.match((await askToSend(scene)).text, /Open until 2026-01-04 00:00 UTC\.$/);
    },
  },

  'R54, C26: expired beside a decided one, the run goes on and the result says expired': {
    options: { timed: true, approvals: { expires: '1h' } },
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['post', { what: 'b' }]);
      await scene.press('requester', card, 'Approve 1');
      await scene.later(hourMs + 1_000);
      await scene.sees('All done.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'a' } }]);
      const [first, second] = resultsOf(await scene.model.request(2));
      assert.equal(first, 'send done');
      assert.match(second ?? '', /^post was not run: the request for approval expired/);
    },
  },

  'R52: what expired while the gateway was down is expired after its start': {
    options: { timed: true, approvals: { expires: '1h' } },
    async run(scene) {
      const card = await askToSend(scene);
      await scene.restart(undefined, 2 * hourMs);
      await scene.closed(card);
      await scene.quiet();
      assert.deepEqual(await states(scene), ['expired']);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R40: where nobody could ever decide, the call is refused at once': {
    options: { approvals: { approvers: 'admins' }, noAdmin: true },
    async run(scene) {
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      scene.ask('send');
      await scene.sees('Done with one.');
      assert.match(
        resultsOf(await scene.model.request(2))[0] ?? '',
        /^send was not run: .*nobody here could ever give it\. This is final; do not call it again\.$/,
      );
      assert.deepEqual(await states(scene), []);
    },
  },

  'R40: a question to approvers who are not in the chat goes to them, the requester is told and may withdraw': {
    where: both,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      scene.setMember('admin', false);
      const card = await askToSend(scene);
      assert.match(card.text, /This question and its arguments are also shown to: Ada\./);
      assert.ok(card.buttons.includes('Withdraw'));
      const copy = await scene.card('"what": "one"', { of: 'admin' });
      assert.equal(await scene.press('requester', card, 'Withdraw'), '');
      for (const shown of [card, copy]) assert.match((await scene.closed(shown)).text, /withdrawn by Rita/);
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, []);
      assert.match(resultsOf(await scene.model.request(2))[0] ?? '', /withdrawn/);
    },
  },

  'R40: approvers who stand in the chat are asked there alone': {
    where: room,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      const card = await askToSend(scene);
      assert.doesNotMatch(card.text, /also shown to/);
      await scene.quiet();
      assert.equal(scene.texts({ of: 'admin' }).length, 1);
    },
  },

  'R40: nobody but requester and admin withdraws': {
    where: room,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      scene.setMember('admin', false);
      const card = await askToSend(scene);
      assert.match(await scene.press('member', card, 'Withdraw'), /not yours|withdraw/);
      await isUntouched(scene, card);
    },
  },

  'R3: editing the message withdraws the question, and the run goes on with the new words': {
    where: both,
    async run(scene) {
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      const written = scene.ask('send one');
      const card = await scene.card();
      scene.model.script({ calls: [{ name: 'send', input: { what: 'two' } }] });
      scene.edit(written, scene.where === 'room' ? '@gate_bot send two' : 'send two');
      const anew = await scene.card('"what": "two"');
      assert.match((await scene.closed(card)).text, /withdrawn.*\n\nReason: The message behind it was edited\./);
      const request = await scene.model.request(2);
      assert.match(resultsOf(request)[0] ?? '', /withdrawn, since the person changed their message/);
      assert.match(request.messages.at(-1)?.text ?? '', /send two/);
      await scene.press('requester', anew, 'Approve');
      await scene.sees('Done with two.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'two' } }]);
    },
  },

  'R75: stop takes back what waits, and nothing runs': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', '/stop');
      await scene.sees('What waited for a decision is taken back.');
      assert.match((await scene.closed(card)).text, /withdrawn.*\n\nReason: The run was stopped\./);
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      assert.equal(scene.model.requests.length, 1);
      assert.deepEqual(await scene.rows('select state from runs'), [{ state: 'cancelled' }]);
    },
  },

  "R75: stop of another member does not take back somebody's question": {
    where: room,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('member', '/stop');
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R22: new leaves a parked run decidable, and it ends in its own conversation': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', '/new');
      await scene.quiet();
      scene.ask('hello');
      await scene.sees(/Chat: .*hello/);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.equal(scene.ran.length, 1);
      scene.ask('and now?');
      await scene.sees(/Chat: .*and now\?/);
      assert.doesNotMatch(scene.model.requests.at(-1)?.body ?? '', /send one|Done with one/);
    },
  },

  'R17, M1: a message while a run is parked runs at once and sees one note; the parked run keeps its transcript': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.ask('and the weather?');
      await scene.sees(/Chat: .*weather/);
      const second = await scene.model.request(2);
      assert.match(
        JSON.stringify(second.messages),
        new RegExp(`waits for a person to decide about send .${codeOf(card)}`),
      );
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      const first = await scene.model.request(1);
      const third = await scene.model.request(3);
      assert.deepEqual(third.messages.slice(0, first.messages.length), first.messages);
      assert.doesNotMatch(third.body, /weather/);
      assert.equal(allResultsOf(third).length, 1);
    },
  },

  'R17: a sixth request that would wait is refused': {
    async run(scene) {
      for (const what of ['a', 'b', 'c', 'd', 'e']) await askToSend(scene, what);
      scene.model.script({ calls: [{ name: 'send', input: { what: 'f' } }] });
      scene.ask('send f');
      await scene.sees('Done with f.');
      assert.match(
        resultsOf(scene.model.requests.at(-1))[0] ?? '',
        /^send was not run: .*5 requests of this conversation wait/,
      );
      assert.deepEqual(await states(scene), Array(5).fill('pending'));
      assert.deepEqual(scene.ran, []);
    },
  },

  'R38: a block that was set while the run waited wins over the yes': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', '/policy send block');
      await scene.quiet();
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.match(resultsOf(scene.model.requests.at(-1))[0] ?? '', /^send was not run: it is blocked here/);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R62, M2: a tool that fails after the yes is a result, and the run goes on': {
    options: {
      tools: (ran) => [
        actTool(ran, 'send', {
          call: async () => {
            throw new Error('the mail server is down');
          },
        }),
      ],
    },
    async run(scene) {
      const card = await askToSend(scene);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.match(resultsOf(await scene.model.request(2))[0] ?? '', /send failed: the mail server is down/);
    },
  },
};
