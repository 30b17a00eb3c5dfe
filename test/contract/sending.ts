/** What goes out: messages, their changes, and what is shown while there is none yet. */
import assert from 'node:assert/strict';
import type { Case } from './adapter_suite.ts';
import { deliveryError, need, type Stage } from './stage.ts';

const chatsAtOnce = 50;

function alone(stage: Stage) {
  return stage.platform.direct(stage.platform.person('Alice'));
}

async function texts(stage: Stage, spot: { chat: string; thread?: string }): Promise<string[]> {
  return (await stage.platform.seen(spot)).map(({ text }) => text.trim());
}

export const sending = {
  'a message is visible once, where it belongs': {
    async run(stage) {
      const { platform } = stage;
      const [alice, bob] = [platform.person('Alice'), platform.person('Bob')];
      const spots = [platform.direct(alice), platform.direct(bob)];
      if (platform.group) spots.push(platform.group([alice, bob]));
      const refs = [];
      for (const [index, spot] of spots.entries()) refs.push((await stage.send(spot, `message ${index}`)).ref);
      for (const [index, spot] of spots.entries()) assert.deepEqual(await texts(stage, spot), [`message ${index}`]);
      assert.ok(refs.every((ref) => ref !== ''));
    },
  },

  'R21: a message for a thread stands in the thread and nowhere else': {
    declared: (features) => features.threads !== false,
    async run(stage) {
      const { platform } = stage;
      const spot = need(platform.thread, 'thread')([platform.person('Alice')]);
      await stage.send(spot, 'in the thread');
      assert.deepEqual(await texts(stage, spot), ['in the thread']);
      assert.deepEqual(await texts(stage, { chat: spot.chat }), []);
    },
  },

  'an answer names the message it answers, and goes out without it': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.group, 'group')([alice]);
      const said = platform.say(spot, alice, 'a question', { mention: true });
      await said.acknowledged();
      await stage.send(spot, 'an answer', { replyTo: said.messageId });
      need(platform.remove, 'remove')(said);
      await stage.send(spot, 'another answer', { replyTo: said.messageId });
      assert.deepEqual(
        (await platform.seen(spot)).map(({ text, replyTo }) => [text, replyTo]),
        [
          ['an answer', said.messageId],
          ['another answer', null],
        ],
      );
    },
  },

  'an edit replaces the words, also by the same ones': {
    declared: (features) => features.edits,
    async run(stage) {
      const spot = alone(stage);
      const edit = need(stage.adapter.edit, 'edit');
      const { ref } = await stage.send(spot, 'first *words*');
      for (const words of ['other **words**', 'other **words**', 'last words', 'last words'])
        await edit(ref, stage.outgoing(spot, words), AbortSignal.timeout(10_000));
      assert.deepEqual(await texts(stage, spot), ['last words']);
    },
  },

  'an edit of what is gone says that repeating cannot help': {
    declared: (features) => features.edits,
    async run(stage) {
      const { platform } = stage;
      const spot = alone(stage);
      const { ref } = await stage.send(spot, 'words');
      await need(platform.takeAway, 'takeAway')(spot, ref);
      const editing = need(stage.adapter.edit, 'edit')(
        ref,
        stage.outgoing(spot, 'other words'),
        AbortSignal.timeout(10_000),
      );
      const error = await deliveryError(editing);
      assert.deepEqual([error.outcome, error.permanent], ['not_sent', true]);
      assert.deepEqual(await texts(stage, spot), []);
    },
  },

  'R85: an unfinished answer is shown, and the message takes its place': {
    declared: (features) => features.streaming === 'live',
    async run(stage) {
      const { platform, adapter } = stage;
      const spot = alone(stage);
      const preview = need(adapter.preview, 'preview');
      const shows = need(platform.preview, 'preview');
      const { place } = stage.outgoing(spot, '');
      assert.equal(await preview(place, 'answer-1', 'The answer'), true);
      await shows(spot, 'The answer');
      assert.equal(await preview(place, 'answer-1', 'The answer is **forty-two**'), true);
      await shows(spot, 'The answer is forty-two');
      assert.deepEqual(await texts(stage, spot), []);
      await stage.send(spot, 'The answer is forty-two.', { answerId: 'answer-1' });
      await shows(spot, null);
      assert.deepEqual(await texts(stage, spot), ['The answer is forty-two.']);
    },
  },

  'R85: people see that the bot is at work, and when it is no more': {
    declared: (features) => features.typing,
    async run(stage) {
      const { platform, adapter } = stage;
      const spot = alone(stage);
      const setStatus = need(adapter.setStatus, 'setStatus');
      const shows = need(platform.status, 'status');
      const { place } = stage.outgoing(spot, '');
      await setStatus(place, { text: 'looking something up' });
      await shows(spot, true);
      await stage.send(spot, 'Here it is.');
      await setStatus(place, null);
      await shows(spot, false);
    },
  },

  'a reaction is put and taken back': {
    declared: (features) => features.reactions,
    async run(stage) {
      const { platform, adapter } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      const said = platform.say(spot, alice, 'a question');
      await said.acknowledged();
      const react = need(adapter.react, 'react');
      const reactions = need(platform.reactions, 'reactions');
      const { place } = stage.outgoing(spot, '');
      await react(said.messageId, place, '👀');
      assert.deepEqual(reactions(spot, said.messageId), ['👀']);
      await react(said.messageId, place, null);
      assert.deepEqual(reactions(spot, said.messageId), []);
    },
  },

  'D4: messages to fifty chats at once all arrive, in the order of each': {
    async run(stage) {
      const { platform } = stage;
      const spots = Array.from({ length: chatsAtOnce }, (_, index) =>
        platform.direct(platform.person(`Person ${index}`)),
      );
      const refs = await Promise.all(
        spots.map(async (spot) => [
          (await stage.send(spot, 'one')).ref,
          (await stage.send(spot, 'two')).ref,
          (await stage.send(spot, 'three')).ref,
        ]),
      );
      for (const spot of spots) assert.deepEqual(await texts(stage, spot), ['one', 'two', 'three']);
      for (const ofChat of refs) assert.equal(new Set(ofChat).size, 3);
    },
  },
} satisfies Record<string, Case>;
