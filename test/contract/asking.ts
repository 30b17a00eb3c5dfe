/** Questions: a message with buttons, what a press is told as, and what the presser is told. */
import assert from 'node:assert/strict';
import type { Button, OutgoingMessage, Question } from '../../src/types/message.ts';
import type { Case } from './adapter_suite.ts';
import { need, type Stage } from './stage.ts';

const editMs = 10_000;

const button = (data: string, label: string, style: Button['style']): Button => ({ data, label, style });
/** As long as the core makes them. */
const approve = button('01JABCDEFGHJKMNPQRSTVWXYZ0.0.a', 'Approve', 'approve');
const deny = button('01JABCDEFGHJKMNPQRSTVWXYZ0.0.d', 'Deny', 'deny');
const details = button('01JABCDEFGHJKMNPQRSTVWXYZ0.0.i', 'Details', 'plain');

const card = '01JABCDEFGHJKMNPQRSTVWXYZ0';
const open: Question = { card, buttons: [[approve, deny], [details]] };
const closed: Question = { card, buttons: [] };

/** The platform with Alice and, where it has groups, Bob beside her; a question stands in their chat. */
async function ask(stage: Stage, words: string, question = open) {
  const { platform } = stage;
  await stage.start();
  const [alice, bob] = [platform.person('Alice'), platform.person('Bob')];
  const spot = platform.group?.([alice, bob]) ?? platform.direct(alice);
  const { ref } = await stage.send(spot, words, { question });
  return { spot, ref, alice, bob };
}

const press = (stage: Stage) => need(stage.platform.press, 'press');
const buttons = (stage: Stage) => need(stage.platform.buttons, 'buttons');

async function edit(stage: Stage, ref: string, message: OutgoingMessage): Promise<void> {
  await need(stage.adapter.edit, 'edit')(ref, message, AbortSignal.timeout(editMs));
}

async function texts(stage: Stage, spot: { chat: string }): Promise<string[]> {
  return (await stage.platform.seen(spot)).map(({ text }) => text.trim());
}

export const asking = {
  'R49: a question shows its words and its buttons': {
    about: 'buttons',
    declared: (features) => features.buttons,
    async run(stage) {
      const { spot, ref } = await ask(stage, 'Run **cleanup**?\n\n```\n{"path": "@alice"}\n```');
      const [seen] = await stage.platform.seen(spot);
      assert.match(seen?.text ?? '', /^Run cleanup\?/);
      assert.deepEqual(seen?.bold, ['cleanup']);
      assert.deepEqual(seen?.blocks, ['{"path": "@alice"}']);
      assert.deepEqual(seen?.pings, []);
      assert.deepEqual(await buttons(stage)(spot, ref), ['Approve', 'Deny', 'Details']);
    },
  },

  'R49: a question as long as a message can be goes through with its buttons': {
    about: 'buttons',
    declared: (features) => features.buttons,
    async run(stage) {
      const words = 'x'.repeat(stage.adapter.limits.textLength);
      assert.equal(stage.adapter.limits.measure(words), stage.adapter.limits.textLength);
      const { spot, ref } = await ask(stage, words);
      assert.deepEqual(await texts(stage, spot), [words]);
      assert.equal((await buttons(stage)(spot, ref)).length, 3);
    },
  },

  'R49: as many buttons as the limits name go through, and data as long': {
    about: 'buttons',
    declared: (features) => features.buttons,
    async run(stage) {
      const { buttonsPerMessage, buttonsPerRow, buttonDataBytes } = stage.adapter.limits;
      const dataOf = (number: number) => String(number).padStart(approve.data.length, '0');
      const many = Array.from({ length: buttonsPerMessage - 1 }, (_, number) =>
        button(dataOf(number), `${number} ${'a long label '.repeat(10)}`, 'plain'),
      );
      many.push(button('x'.repeat(buttonDataBytes), 'the last', 'plain'));
      const rows = Array.from({ length: Math.ceil(many.length / buttonsPerRow) }, (_, row) =>
        many.slice(row * buttonsPerRow, (row + 1) * buttonsPerRow),
      );
      const { spot, ref, alice } = await ask(stage, 'Which?', { card, buttons: rows });
      const labels = await buttons(stage)(spot, ref);
      assert.equal(labels.length, buttonsPerMessage);
      press(stage)(spot, alice, ref, labels.at(-1)!);
      const decision = await stage.until('the press', () => stage.decisions()[0]);
      assert.equal(decision.data, 'x'.repeat(buttonDataBytes));
    },
  },

  'R46: a press is told with who pressed what on which message': {
    about: 'buttons',
    declared: (features) => features.buttons,
    async run(stage) {
      const { spot, ref, alice } = await ask(stage, 'Run it?');
      press(stage)(spot, alice, ref, 'Deny');
      const {
        kind,
        chat,
        thread,
        ref: on,
        sender,
        data,
        sentAt,
      } = await stage.until('the press', () => stage.decisions()[0]);
      assert.deepEqual(
        { kind, chat: chat.id, thread, on, sender: { id: sender.id, kind: sender.kind }, data },
        {
          kind: 'decision',
          chat: spot.chat,
          thread: undefined,
          on: ref,
          sender: { id: alice, kind: 'human' },
          data: deny.data,
        },
      );
      assert.ok(Math.abs(sentAt - stage.clock.now()) < 60_000);
    },
  },

  'R46: a press in a thread names the thread': {
    about: 'buttons',
    declared: (features) => features.buttons && features.threads !== false,
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.thread, 'thread')([alice]);
      const { ref } = await stage.send(spot, 'Run it?', { question: open });
      press(stage)(spot, alice, ref, 'Approve');
      const decision = await stage.until('the press', () => stage.decisions()[0]);
      assert.deepEqual([decision.chat.id, decision.thread, decision.ref], [spot.chat, spot.thread, ref]);
    },
  },

  'R1: the same press has the same key, another press another': {
    about: 'buttons',
    declared: (features) => features.buttons,
    async run(stage) {
      const { spot, ref, alice } = await ask(stage, 'Run it?');
      const pressed = press(stage)(spot, alice, ref, 'Approve');
      await pressed.told();
      pressed.again();
      await stage.until('the press again', () => stage.decisions()[1]);
      await press(stage)(spot, alice, ref, 'Approve').told();
      await press(stage)(spot, alice, ref, 'Deny').told();
      await stage.until('four presses', () => stage.decisions()[3]);
      const [one, again, other, deny] = stage.decisions();
      assert.deepEqual({ ...again, sentAt: 0 }, { ...one, sentAt: 0 });
      assert.equal(new Set([one, other, deny].map((event) => event?.key)).size, 3);
    },
  },

  'D1: a press is answered only after it is stored': {
    about: 'ephemeral',
    declared: (features) => features.ephemeral,
    async run(stage) {
      const { spot, ref, alice, bob } = await ask(stage, 'Run it?');
      const { promise: storing, resolve: reached } = Promise.withResolvers<void>();
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      stage.onAccept = () => {
        reached();
        return held;
      };
      stage.tell = () => ({ notice: 'Approved.' });
      let told: string | null | undefined;
      const telling = press(stage)(spot, alice, ref, 'Approve')
        .told()
        .then((notice) => {
          told = notice;
        });
      await storing;
      // Meanwhile the adapter works on: whatever it does at once, it has done when this message is there.
      await stage.send(stage.platform.direct(bob), 'something else');
      assert.equal(told, undefined);
      release();
      await telling;
      assert.equal(told, 'Approved.');
      assert.equal(stage.decisions().length, 1);
    },
  },

  'D1: a press that could not be stored comes again until it is': {
    about: 'buttons',
    declared: (features) => features.buttons,
    fast: true,
    async run(stage) {
      const { spot, ref, alice } = await ask(stage, 'Run it?');
      let failures = 2;
      const keys = new Set<string>();
      stage.onAccept = (event) => {
        keys.add(event.key);
        if (failures-- > 0) throw new Error('the disk is full');
      };
      stage.tell = () => ({ notice: 'Approved.' });
      const pressed = press(stage)(spot, alice, ref, 'Approve');
      if (stage.adapter.features.ephemeral) assert.equal(await pressed.told(), 'Approved.');
      await stage.until('the press', () => stage.decisions()[0]);
      assert.deepEqual([failures, keys.size, stage.decisions().length], [-1, 1, 1]);
    },
  },

  'R46: what the presser is told is shown to nobody else': {
    about: 'ephemeral',
    declared: (features) => features.ephemeral,
    async run(stage) {
      const { platform } = stage;
      const { spot, ref, alice, bob } = await ask(stage, 'Run it?');
      stage.tell = (event) =>
        event.kind === 'decision' && event.sender.id === alice ? { notice: 'Only Bob may decide this.' } : undefined;
      const first = press(stage)(spot, alice, ref, 'Approve');
      assert.equal(await first.told(), 'Only Bob may decide this.');
      if (platform.group) assert.equal(await press(stage)(spot, bob, ref, 'Approve').told(), null);
      assert.deepEqual(await texts(stage, spot), ['Run it?']);
      assert.deepEqual(await texts(stage, platform.direct(bob)), []);
      assert.deepEqual(await buttons(stage)(spot, ref), ['Approve', 'Deny', 'Details']);
    },
  },

  'R52: an edit changes words and buttons, buttons alone, and closes a question': {
    about: 'buttons',
    declared: (features) => features.buttons && features.edits,
    async run(stage) {
      const { spot, ref } = await ask(stage, 'Run it?');
      const shown = async () => [await texts(stage, spot), await buttons(stage)(spot, ref)];
      const rest: Question = { card, buttons: [[details]] };
      await edit(stage, ref, stage.outgoing(spot, 'Run it? Alice has signed.', { question: open }));
      assert.deepEqual(await shown(), [['Run it? Alice has signed.'], ['Approve', 'Deny', 'Details']]);
      for (const question of [rest, rest]) {
        await edit(stage, ref, stage.outgoing(spot, 'Run it? Alice has signed.', { question }));
        assert.deepEqual(await shown(), [['Run it? Alice has signed.'], ['Details']]);
      }
      for (const question of [closed, closed]) {
        await edit(stage, ref, stage.outgoing(spot, 'Run it? Alice has signed.', { question }));
        assert.deepEqual(await shown(), [['Run it? Alice has signed.'], []]);
      }
    },
  },
} satisfies Record<string, Case>;
