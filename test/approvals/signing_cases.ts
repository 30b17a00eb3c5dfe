/** Two people must approve (rule 57). */
import assert from 'node:assert/strict';
import { codeOf, isUntouched, resultsOf, states, whatRan } from './asking.ts';
import type { Scene, SceneOptions, Shown, Who } from './stage.ts';
import { both, type Cases, room } from './suite.ts';

const dual = (approvers?: unknown): SceneOptions => ({
  config: { agent: { permission_mode: 'dual-sign-required' } },
  ...(approvers === undefined ? {} : { approvals: { approvers } }),
});

/** By an admin's word, once the requester has talked to the bot. */
async function pair(scene: Scene, ...people: Who[]): Promise<void> {
  scene.ask('hello');
  await scene.sees('Chat:');
  for (const who of people) scene.say('admin', `/pair ${scene.account(who)}`, { own: true });
  await scene.quiet();
}

async function askToWipe(scene: Scene): Promise<Shown> {
  scene.model.script({ calls: [{ name: 'wipe', input: { what: 'all' } }] });
  scene.ask('wipe it');
  return scene.card('Tool wipe of acts');
}

/** As if both had confirmed it, at that moment. */
async function link(scene: Scene, left: Who, right: Who): Promise<void> {
  const people = [left, right].map(
    (who) => `(select person_id from accounts where channel || ':' || user_id = '${scene.account(who)}')`,
  );
  for (const person of people)
    await scene.change(`insert into links (person_id, group_id, linked_at) values (${person}, 'g', ${Date.now()})`);
}

export const signingCases: Cases = {
  'R57: requester and admin together are enough; the card shows who has signed': {
    where: both,
    options: dual(),
    async run(scene) {
      await pair(scene, 'requester');
      const card = await askToWipe(scene);
      assert.match(card.text, /Two people must approve, one of them an admin\./);
      assert.ok(!card.buttons.some((label) => label.startsWith('Always')));
      assert.match(await scene.press('requester', card, 'Approve'), /^Your approval is noted; another person must/);
      const signed = await scene.becomes(card, /Approved so far: Rita\./);
      assert.deepEqual(signed.buttons.slice(0, 2), ['Approve', 'Deny']);
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      // In a direct chat the admin has a card of their own.
      const copy = scene.where === 'room' ? signed : await scene.card('wipe', { of: 'admin' });
      assert.equal(await scene.press('admin', copy, 'Approve'), '');
      await scene.sees('Done with all.');
      assert.deepEqual(whatRan(scene), ['wipe all']);
      assert.match((await scene.closed(card)).text, /approved by .*Rita.*Ada/);
    },
  },

  'R57: the same person twice is one person': {
    where: room,
    options: dual(),
    async run(scene) {
      await pair(scene, 'requester');
      const card = await askToWipe(scene);
      await scene.press('admin', card, 'Approve');
      const signed = await scene.becomes(card, /Approved so far: Ada\./);
      assert.match(await scene.press('admin', signed, 'Approve'), /^You have approved already; another person must/);
      scene.say('admin', `yes ${codeOf(card)}`);
      await scene.quiet();
      assert.deepEqual([scene.ran, await states(scene), scene.now(card).edits], [[], ['pending'], 1]);
    },
  },

  'R57: two members without an admin are not enough': {
    where: room,
    options: dual('members'),
    async run(scene) {
      await pair(scene, 'requester', 'member');
      const card = await askToWipe(scene);
      await scene.press('requester', card, 'Approve');
      assert.match(await scene.press('member', card, 'Approve'), /another person must/);
      await scene.quiet();
      assert.deepEqual(await states(scene), ['pending']);
      assert.equal(scene.ran.length, 0);
      assert.equal(await scene.press('admin', scene.now(card), 'Approve'), '');
      await scene.sees('Done with all.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R57, R15: linked accounts are one person, also when one of them is an admin': {
    where: room,
    options: dual(),
    async run(scene) {
      await pair(scene, 'requester', 'member');
      await scene.reload({ admins: [scene.account('admin'), scene.account('member')] });
      await link(scene, 'member', 'admin');
      const card = await askToWipe(scene);
      await scene.press('member', card, 'Approve');
      assert.match(await scene.press('admin', card, 'Approve'), /another person must/);
      await scene.quiet();
      assert.deepEqual(await states(scene), ['pending']);
      assert.equal(await scene.press('requester', scene.now(card), 'Approve'), '');
      await scene.sees('Done with all.');
    },
  },

  'R57, R15: an admin who is linked to the requester is no second person': {
    where: room,
    options: dual('members'),
    async run(scene) {
      await pair(scene, 'requester');
      await link(scene, 'requester', 'admin');
      const card = await askToWipe(scene);
      await scene.press('requester', card, 'Approve');
      await scene.press('admin', card, 'Approve');
      await scene.quiet();
      assert.deepEqual([scene.ran, await states(scene)], [[], ['pending']]);
    },
  },

  'R57: who is neither paired nor a full member signs nothing': {
    where: room,
    options: dual('members'),
    async run(scene) {
      const card = await askToWipe(scene);
      assert.match(await scene.press('requester', card, 'Approve'), /not yours to decide/);
      assert.match(await scene.press('member', card, 'Approve'), /not yours to decide/);
      await isUntouched(scene, card);
    },
  },

  'R57: one no is enough': {
    where: room,
    options: dual(),
    async run(scene) {
      await pair(scene, 'requester');
      const card = await askToWipe(scene);
      await scene.press('admin', card, 'Deny');
      await scene.sees('Done with all.');
      assert.deepEqual(await states(scene), ['denied']);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R57: signatures outlive a restart': {
    where: room,
    options: dual(),
    async run(scene) {
      await pair(scene, 'requester');
      const card = await askToWipe(scene);
      await scene.press('admin', card, 'Approve');
      await scene.restart();
      assert.equal(await scene.press('requester', scene.now(card), 'Approve'), '');
      await scene.sees('Done with all.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R40, R57: with fewer people than it needs the call is refused at once': {
    options: { ...dual(), noAdmin: true },
    async run(scene) {
      scene.model.script({ calls: [{ name: 'wipe', input: { what: 'all' } }] });
      scene.ask('wipe it');
      await scene.sees('Done with all.');
      assert.match(resultsOf(scene.model.requests.at(-1))[0] ?? '', /fewer than that\. This is final/);
      assert.deepEqual(await states(scene), []);
    },
  },

  'R40, R57: a requester who could not sign is not one of two': {
    options: dual(),
    async run(scene) {
      scene.model.script({ calls: [{ name: 'wipe', input: { what: 'all' } }] });
      scene.ask('wipe it');
      await scene.sees('Done with all.');
      assert.match(resultsOf(scene.model.requests.at(-1))[0] ?? '', /fewer than that\. This is final/);
      assert.deepEqual(await states(scene), []);
    },
  },
};
