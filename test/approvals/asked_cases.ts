/** Questions of the agent to its person (rule 56). */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/types/json.ts';
import { codeOf, codesOf, isUntouched, resultsOf, states } from './asking.ts';
import type { Scene, Shown } from './stage.ts';
import { both, type Cases, room } from './suite.ts';

interface Asked extends JsonObject {
  question: string;
}

/** The agent asks these, and says `All done.` when it has the answers. */
async function askPerson(scene: Scene, ...questions: Asked[]): Promise<Shown> {
  scene.model.script({ calls: [{ name: 'ask_user', input: { questions } }] });
  scene.ask('help me');
  return scene.card();
}

async function answersOf(scene: Scene): Promise<string> {
  await scene.sees('All done.');
  return resultsOf(scene.model.requests.at(-1)).join('\n');
}

const colour = { question: 'Which colour?', options: ['red', 'blue'] };

export const askedCases: Cases = {
  'R56: an option is chosen by its button': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour);
      assert.match(card.text, /^Question [A-Z0-9]{3}\n\nWhich colour\?\n\nAsked for by Rita\. Open until/);
      assert.deepEqual(card.buttons, ['red', 'blue', 'Skip']);
      assert.equal(await scene.press('requester', card, 'blue'), '');
      assert.equal(await answersOf(scene), 'Which colour?: blue');
      const shown = await scene.closed(card);
      assert.match(shown.text, /Answer: blue\n\nanswered by Rita/);
      assert.equal(shown.edits, 1);
    },
  },

  'R56: a reply to the card is a free answer, whatever it says': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour);
      scene.say('requester', 'yes, a *dark* green @mo', { to: card });
      assert.equal(await answersOf(scene), 'Which colour?: yes, a *dark* green @mo');
      assert.deepEqual(await states(scene), ['approved']);
    },
  },

  'R56: the code and an answer behind it answer': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour);
      scene.say('requester', `${codeOf(card)} a dark green`);
      assert.equal(await answersOf(scene), 'Which colour?: a dark green');
    },
  },

  'R56: a question is skipped, and the model is told': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour);
      assert.equal(await scene.press('requester', card, 'Skip'), '');
      assert.equal(await answersOf(scene), 'Which colour?: (skipped, no answer)');
      assert.match((await scene.closed(card)).text, /skipped by Rita/);
    },
  },

  'R56: nobody but the person who is asked answers, by button, reply or code': {
    where: room,
    // The rule for tools says nothing about questions of the agent.
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askPerson(scene, colour);
      for (const who of ['member', 'admin'] as const) {
        assert.match(await scene.press(who, card, 'red'), /not yours to/);
        assert.match(await scene.press(who, card, 'Skip'), /not yours to/);
        scene.say(who, 'red', { to: card });
        scene.say(who, `${codeOf(card)} red`);
      }
      assert.match(await scene.pressData('stranger', card, card.data('red')), /not yours to/);
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
      await scene.press('requester', card, 'red');
      assert.equal(await answersOf(scene), 'Which colour?: red');
    },
  },

  'R56: several questions stand on one card, and the run waits for all answers': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour, { question: 'For whom?' }, { question: 'When?', options: ['now'] });
      assert.match(card.text, /^3 questions\n/);
      assert.deepEqual(card.buttons, ['red', 'blue', 'Skip 1', 'Skip 2', 'now', 'Skip 3']);
      const [, second = ''] = codesOf(card);
      await scene.press('requester', card, 'now');
      await scene.becomes(card, /Answer: now/);
      await scene.quiet();
      assert.equal(scene.model.requests.length, 1);
      scene.say('requester', `${second} for Bob:\nand Eve`);
      await scene.becomes(card, /Answer: for Bob: and Eve/);
      assert.equal(scene.model.requests.length, 1);
      await scene.press('requester', scene.now(card), 'Skip 1');
      assert.equal(
        await answersOf(scene),
        'Which colour?: (skipped, no answer)\nFor whom?: for Bob:\nand Eve\nWhen?: now',
      );
    },
  },

  'R56: a reply to a card with several open questions answers none and lists their codes': {
    async run(scene) {
      const card = await askPerson(scene, colour, { question: 'For whom?' });
      scene.say('requester', 'green', { to: card });
      const listed = await scene.sees('Several questions are open');
      for (const code of codesOf(card)) assert.ok(listed.text.includes(code));
      assert.match(listed.text, /Which colour\?[\s\S]*For whom\?/);
      await isUntouched(scene, card);
    },
  },

  'R56: answered twice, the first answer counts': {
    where: both,
    async run(scene) {
      const card = await askPerson(scene, colour);
      const data = card.data('red');
      await scene.press('requester', card, 'blue');
      assert.match(await scene.pressData('requester', card, data), /^Already answered by Rita/);
      assert.equal(await answersOf(scene), 'Which colour?: blue');
    },
  },

  'R56, R54: nobody answers in time, the run ends without another model request': {
    options: { timed: true, approvals: { expires: '1h' } },
    async run(scene) {
      const card = await askPerson(scene, colour);
      await scene.later(3_601_000);
      assert.match((await scene.closed(card)).text, /expired/);
      await scene.quiet();
      assert.equal(scene.model.requests.length, 1);
    },
  },

  'R56, R54: what was answered is handed over when the rest expires': {
    options: { timed: true, approvals: { expires: '1h' } },
    async run(scene) {
      const card = await askPerson(scene, colour, { question: 'For whom?' });
      await scene.press('requester', card, 'red');
      await scene.later(3_601_000);
      assert.equal(await answersOf(scene), 'Which colour?: red\nFor whom?: (skipped, no answer)');
    },
  },

  'R56, R52: a question outlives a restart': {
    async run(scene) {
      const card = await askPerson(scene, colour);
      await scene.restart();
      scene.say('requester', 'green', { to: card });
      assert.equal(await answersOf(scene), 'Which colour?: green');
    },
  },

  'R56, R45: a bare yes answers no question of the agent, and approves no call beside one': {
    async run(scene) {
      scene.model.script({
        calls: [
          { name: 'ask_user', input: { questions: [{ question: 'Which colour?' }] } },
          { name: 'send', input: { what: 'one' } },
        ],
      });
      scene.ask('help me');
      const card = await scene.card();
      scene.say('requester', 'yes');
      await scene.sees('Several questions are open');
      await isUntouched(scene, card);
    },
  },

  'R56: questions of the agent and calls that ask stand on one card, each decided by itself': {
    async run(scene) {
      scene.model.script({
        calls: [
          { name: 'ask_user', input: { questions: [colour] } },
          { name: 'send', input: { what: 'one' } },
        ],
      });
      scene.ask('help me');
      const card = await scene.card();
      assert.match(card.text, /^Approval needed, Question\n/);
      assert.deepEqual(card.buttons, ['red', 'blue', 'Skip 1', 'Approve 2', 'Deny 2', 'Always allow 2']);
      await scene.press('requester', card, 'red');
      await scene.becomes(card, /Answer: red/);
      await scene.press('requester', scene.now(card), 'Approve 2');
      await scene.sees('All done.');
      assert.deepEqual(resultsOf(scene.model.requests.at(-1)), ['Which colour?: red', 'send done']);
    },
  },

  'R56: a question of wrong form is a retry prompt, and nobody is asked': {
    async run(scene) {
      scene.model.script({ calls: [{ name: 'ask_user', input: { questions: [] } }] });
      scene.ask('help me');
      await scene.sees('All done.');
      assert.match(resultsOf(scene.model.requests.at(-1))[0] ?? '', /^ask_user was not run: .*fewer than 1 items/);
      assert.deepEqual(await states(scene), []);
    },
  },
};
