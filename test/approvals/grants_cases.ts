/** "Always allow", and conversations that ask about everything or nothing (rules 43 and 95). */
import assert from 'node:assert/strict';
import { actTool } from './acts.ts';
import { askFor, askToSend, states, whatRan } from './asking.ts';
import type { Scene } from './stage.ts';
import { both, type Cases, room } from './suite.ts';

/** The agent makes the call, and nobody is asked. */
async function sendsUnasked(scene: Scene, what: string): Promise<void> {
  scene.model.script({ calls: [{ name: 'send', input: { what } }] });
  scene.ask(`send ${what}`);
  await scene.sees(`Done with ${what}.`);
  assert.equal(whatRan(scene).at(-1), `send ${what}`);
}

export const grantsCases: Cases = {
  'R43: in a direct chat "always allow" spares the next question, whatever the arguments': {
    async run(scene) {
      const card = await askToSend(scene, 'one');
      assert.deepEqual(card.buttons, ['Approve', 'Deny', 'Always allow']);
      assert.equal(await scene.press('requester', card, 'Always allow'), '');
      await scene.sees('Done with one.');
      await sendsUnasked(scene, 'two');
      assert.deepEqual(await states(scene), ['approved']);
      // Another tool of the same capability is another tool.
      const other = await askFor(scene, ['post', { what: 'three' }]);
      assert.match(other.text, /Tool post of acts/);
    },
  },

  'R43: in a room only exactly these arguments are allowed for always': {
    where: room,
    async run(scene) {
      const card = await askToSend(scene, 'one');
      assert.deepEqual(card.buttons, ['Approve', 'Deny', 'Always allow exactly this']);
      await scene.press('requester', card, 'Always allow exactly this');
      await scene.sees('Done with one.');
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one', _approval_message: 'Again.' } }] });
      scene.ask('again');
      await scene.quiet();
      assert.deepEqual(whatRan(scene), ['send one', 'send one']);
      await askToSend(scene, 'two');
      assert.deepEqual(await states(scene), ['approved', 'pending']);
    },
  },

  'R43: nobody gives "always allow" for somebody else': {
    where: room,
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene, 'one');
      assert.match(await scene.press('member', card, 'Always allow exactly this'), /cannot be allowed for always/);
      assert.deepEqual(await states(scene), ['pending']);
      assert.deepEqual(await scene.rows('select id from grants'), []);
    },
  },

  'R43: where others decide there is no "always allow"': {
    where: both,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      const card = await askToSend(scene, 'one');
      assert.ok(!card.buttons.some((label) => label.startsWith('Always')));
    },
  },

  'R43: what an admin has set to ask has no "always allow", nor has what the agent requires': {
    options: { config: { policies: { acts: { send: 'ask' } } } },
    async run(scene) {
      const card = await askToSend(scene, 'one');
      assert.deepEqual(card.buttons, ['Approve', 'Deny']);
      const data = card.data('Approve').replace(/a$/, 'w');
      assert.match(await scene.pressData('requester', card, data), /cannot be allowed for always/);
      assert.deepEqual(await states(scene), ['pending']);
      assert.deepEqual(await scene.rows('select id from grants'), []);
    },
  },

  'R43: it lapses when the tool changes': {
    async run(scene) {
      await scene.press('requester', await askToSend(scene, 'one'), 'Always allow');
      await scene.sees('Done with one.');
      scene.setTools((ran) => [actTool(ran, 'send', { description: 'Sends to everybody.' })]);
      await scene.restart();
      await askToSend(scene, 'two');
      scene.say('requester', '/policy');
      await scene.sees(/lapsed|has changed/);
      assert.deepEqual(whatRan(scene), ['send one']);
    },
  },

  'R43: it is seen with policy, and withdrawn with policy forget': {
    async run(scene) {
      await scene.press('requester', await askToSend(scene, 'one'), 'Always allow');
      await scene.sees('Done with one.');
      await sendsUnasked(scene, 'two');
      scene.say('requester', '/policy');
      await scene.sees(/1\. .*acts\/send/);
      scene.say('requester', '/policy forget 1');
      await scene.quiet();
      await askToSend(scene, 'three');
      assert.deepEqual(whatRan(scene), ['send one', 'send two']);
    },
  },

  'R43: it is of that person alone': {
    where: room,
    async run(scene) {
      await scene.press('requester', await askToSend(scene, 'one'), 'Always allow exactly this');
      await scene.sees('Done with one.');
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      scene.say('member', '@gate_bot send one');
      await scene.card('Mo decides.');
      assert.deepEqual(whatRan(scene), ['send one']);
    },
  },

  'R95: with mode ask every tool asks, also one that is allowed': {
    where: both,
    async run(scene) {
      scene.say('requester', '/mode ask');
      await scene.quiet();
      const card = await askFor(scene, ['look', { what: 'one' }]);
      assert.match(card.text, /Tool look of acts/);
      assert.deepEqual(card.buttons, ['Approve', 'Deny']);
      assert.deepEqual(scene.ran, []);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.deepEqual(whatRan(scene), ['look one']);
    },
  },

  'R95: mode waive asks nothing where an admin has allowed it, and each call is recorded so': {
    options: { approvals: { waive: true } },
    async run(scene) {
      scene.say('requester', '/mode waive');
      await scene.quiet();
      await sendsUnasked(scene, 'one');
      assert.deepEqual(await scene.rows('select verdict, rule from tool_calls'), [
        { verdict: 'allow', rule: 'waived' },
      ]);
      assert.deepEqual(await states(scene), []);
    },
  },

  'R95: mode waive does not exist in a room, nor where no admin has allowed it': {
    where: both,
    options: (where) => (where === 'room' ? { approvals: { waive: true } } : {}),
    async run(scene) {
      scene.say('requester', '/mode waive');
      await scene.quiet();
      await askToSend(scene, 'one');
      assert.deepEqual(scene.ran, []);
    },
  },
};
