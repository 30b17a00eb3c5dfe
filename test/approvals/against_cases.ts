/** What must not get round a decision, or make one impossible (rules 44, 47, 49, 53). */
import assert from 'node:assert/strict';
import { actTool } from './acts.ts';
import { askFor, askToSend, resultsOf, states, whatRan } from './asking.ts';
import { type Cases, room } from './suite.ts';

export const againstCases: Cases = {
  'R53: a denied call stays denied when another call of its tool is allowed for always': {
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'a' }], ['send', { what: 'b' }]);
      await scene.press('requester', card, 'Always allow 1');
      await scene.press('requester', card, 'Deny 2');
      await scene.sees('All done.');
      assert.deepEqual(whatRan(scene), ['send a']);
      const [, second] = resultsOf(await scene.model.request(2));
      assert.match(second ?? '', /^send was not run: denied by Rita/);
    },
  },

  'R53: a denied call stays denied when its tool would not ask any more': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('requester', '/policy send allow');
      await scene.quiet();
      await scene.press('requester', card, 'Deny');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, []);
      assert.match(resultsOf(await scene.model.request(2))[0] ?? '', /^send was not run: denied by Rita/);
    },
  },

  'R47: with the rule "members" who is alone with the bot decides': {
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene);
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      await scene.sees('Done with one.');
      assert.deepEqual(whatRan(scene), ['send one']);
    },
  },

  'R44: a number is no code': {
    async run(scene) {
      for (const text of ['no 42', 'ja 2025']) {
        scene.say('requester', text);
        await scene.sees(`Chat: ${text}`);
      }
    },
  },

  'R49: what is nested deep can be read and does not become millions of characters': {
    async run(scene) {
      const deep = `${'['.repeat(200)}${'1,'.repeat(5_000)}1${']'.repeat(200)}`;
      scene.model.script({ calls: [{ name: 'send', rawArguments: `{"what":"x","deep":${deep}}` }] });
      scene.ask('send it');
      const card = await scene.card('send of acts');
      const [row] = await scene.rows<{ input: string }>('select input from approvals');
      assert.ok(row && row.input.length < 64_000, `${row?.input.length} characters`);
      assert.deepEqual(JSON.parse(row.input), JSON.parse(`{"what":"x","deep":${deep}}`));
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with x.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R49, M2: arguments nested deeper than anything can be shown are refused, and the run goes on': {
    async run(scene) {
      const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
      scene.model.script({ calls: [{ name: 'send', rawArguments: `{"what":"x","deep":${deep}}` }] });
      scene.ask('send it');
      await scene.sees('All done.');
      assert.match(
        resultsOf(await scene.model.request(2))[0] ?? '',
        /^send was not run: the arguments are not a JSON object/,
      );
      assert.deepEqual(scene.ran, []);
    },
  },

  'R47, A7: who tries and may not is in the audit once for each question': {
    where: room,
    async run(scene) {
      const card = await askToSend(scene);
      for (const label of ['Approve', 'Approve', 'Deny']) await scene.press('member', card, label);
      scene.say('member', 'yes', { to: card });
      await scene.quiet();
      const audited = () =>
        scene.rows<{ actor: string; action: string }>(
          `select actor, action from audit where action like 'approval.%' order by id`,
        );
      const refused = { actor: scene.account('member'), action: 'approval.refused' };
      assert.deepEqual(
        (await audited()).map((row) => ({ ...row })),
        [refused],
      );
      await scene.press('requester', card, 'Deny');
      await scene.quiet();
      assert.deepEqual(
        (await audited()).map((row) => ({ ...row })),
        [refused, { actor: scene.account('requester'), action: 'approval.denied' }],
      );
    },
  },

  'R57, A1: one yes is not enough for what takes two people by the time it would run': {
    options: { config: { policies: { acts: { send: 'ask' } } } },
    async run(scene) {
      const card = await askToSend(scene);
      // An admin has let everybody in, or the requester could not be one of two.
      await scene.change(`update accounts set paired_at = 1, paired_by = 'cli'`);
      scene.setTools((ran) => [actTool(ran, 'send', { effect: 'dangerous' })]);
      await scene.restart();
      await scene.press('requester', card, 'Approve');
      const again = await scene.card((text) => /Two people must/.test(text));
      assert.deepEqual(scene.ran, []);
      assert.deepEqual(await states(scene), ['withdrawn', 'pending']);
      await scene.press('requester', again, 'Approve');
      await scene.quiet();
      assert.deepEqual(scene.ran, []);
      await scene.press('admin', await scene.card(/Two people must/, { of: 'admin' }), 'Approve');
      await scene.sees('Done with one.');
      assert.deepEqual(whatRan(scene), ['send one']);
    },
  },

  'R56: each call gets its own answers, however many are asked together': {
    async run(scene) {
      const names = ['a', 'b', 'c'].map((call) => [1, 2, 3, 4].map((number) => `${call}${number}?`));
      scene.model.script({
        calls: names.map((own) => ({
          name: 'ask_user',
          input: { questions: own.map((question) => ({ question, options: [`yes ${question}`] })) },
        })),
      });
      scene.ask('ask me');
      for (const own of [names.slice(0, 2).flat(), names.slice(2).flat()]) {
        const card = await scene.card(own[0]);
        for (const question of own) await scene.press('requester', card, `yes ${question}`);
      }
      await scene.sees('All done.');
      assert.deepEqual(
        resultsOf(await scene.model.request(2)),
        names.map((own) => own.map((question) => `${question}: yes ${question}`).join('\n')),
      );
    },
  },

  'R40, R56: approvers elsewhere are not shown what the agent asks its person': {
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      scene.say('admin', 'hello', { own: true });
      await scene.quiet();
      await askFor(
        scene,
        ['ask_user', { questions: [{ question: 'How is your health?' }] }],
        ['send', { what: 'flowers' }],
      );
      const told = await scene.card(/flowers/, { of: 'admin' });
      assert.match(told.text, /An admin decides/);
      await scene.quiet();
      assert.doesNotMatch(scene.texts({ of: 'admin' }).join(), /health/);
      assert.match(scene.texts().join(), /health/);
    },
  },

  'R49: a card of calls and a question of the agent says who decides': {
    async run(scene) {
      const card = await askFor(
        scene,
        ['ask_user', { questions: [{ question: 'Which?' }] }],
        ['send', { what: 'flowers' }],
      );
      assert.match(card.text, /Rita decides\./);
    },
  },
};
