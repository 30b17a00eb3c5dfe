/** How what people do is told in the core's words. */
import assert from 'node:assert/strict';
import type { Case } from './adapter_suite.ts';
import { need, type Stage } from './stage.ts';

/** What a case expects of the event of a plain message. */
function plain(stage: Stage, number: number) {
  const { kind, chat, thread, sender, text, mentionsBot, files, forwarded, repliesTo, command, forOtherBot } =
    stage.messages()[number - 1]!;
  return {
    kind,
    chat: { id: chat.id, kind: chat.kind },
    thread,
    sender: { id: sender.id, kind: sender.kind, name: sender.name },
    text,
    mentionsBot,
    files,
    forwarded: forwarded ?? false,
    repliesTo,
    command,
    forOtherBot: forOtherBot ?? false,
  };
}

export const reading = {
  'R10: a direct message is told whole': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      const said = platform.say(spot, alice, 'hello');
      await said.acknowledged();
      assert.deepEqual(plain(stage, 1), {
        kind: 'message',
        chat: { id: spot.chat, kind: 'direct' },
        thread: undefined,
        sender: { id: alice, kind: 'human', name: 'Alice' },
        text: 'hello',
        mentionsBot: false,
        files: [],
        forwarded: false,
        repliesTo: undefined,
        command: undefined,
        forOtherBot: false,
      });
      assert.equal(stage.messages()[0]?.messageId, said.messageId);
      assert.ok(Math.abs((stage.messages()[0]?.sentAt ?? 0) - stage.clock.now()) < 60_000);
    },
  },

  'words arrive unchanged': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const words = [
        'two\n\n  lines\twith *marks* _and_ `code` <b>&amp;</b>',
        'مرحبا שלום 👩‍👩‍👧 ﷽ e\u0301',
        "!new isn't a mention of @nobody",
        'x'.repeat(4_000),
      ];
      for (const text of words) await platform.say(platform.direct(alice), alice, text).acknowledged();
      assert.deepEqual(
        stage.messages().map(({ text }) => text),
        words,
      );
    },
  },

  'R10: in a group a mention of the bot is told, and what follows it': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.group, 'group')([alice]);
      await platform.say(spot, alice, 'just talking').acknowledged();
      await platform.say(spot, alice, 'what time is it?', { mention: true }).acknowledged();
      const [talk, question] = stage.messages();
      assert.deepEqual([talk?.chat.kind, talk?.chat.id, talk?.mentionsBot], ['group', spot.chat, false]);
      assert.deepEqual([question?.mentionsBot, question?.addressedText], [true, 'what time is it?']);
      assert.ok(question?.text.endsWith('what time is it?'));
    },
  },

  'R10: a reply to the bot is told from a reply to a person': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.group, 'group')([alice]);
      const { ref } = await stage.send(spot, 'an answer');
      const first = platform.say(spot, alice, 'and then?', { replyTo: ref });
      await first.acknowledged();
      await platform.say(spot, alice, 'I mean this', { replyTo: first.messageId }).acknowledged();
      assert.deepEqual(
        stage.messages().map(({ repliesTo }) => repliesTo),
        [
          { messageId: ref, toBot: true },
          { messageId: first.messageId, toBot: false },
        ],
      );
    },
  },

  'R19: a message in a thread names the thread': {
    declared: (features) => features.threads !== false,
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = need(platform.thread, 'thread')([alice]);
      assert.ok(spot.thread);
      await platform.say(spot, alice, 'in here').acknowledged();
      const said = stage.messages().find(({ text }) => text === 'in here');
      assert.deepEqual([said?.chat.id, said?.thread], [spot.chat, spot.thread]);
    },
  },

  'R18: a command is told apart, one for another bot as well': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const spot = platform.direct(alice);
      const command = need(platform.command, 'command');
      await command(spot, alice, 'pair', 'ABCD 1234').acknowledged();
      assert.deepEqual(stage.messages()[0]?.command, { name: 'pair', args: 'ABCD 1234' });
      if (!platform.group) return;
      await command(platform.group([alice]), alice, 'new', '', true).acknowledged();
      assert.deepEqual([stage.messages()[1]?.command, stage.messages()[1]?.forOtherBot], [undefined, true]);
    },
  },

  'a forwarded message says so': {
    async run(stage) {
      const { platform } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      await platform.say(platform.direct(alice), alice, 'look at this', { forwarded: true }).acknowledged();
      assert.deepEqual([plain(stage, 1).text, plain(stage, 1).forwarded], ['look at this', true]);
    },
  },

  'R82: a file is announced and can be fetched': {
    declared: (features) => features.files,
    async run(stage) {
      const { platform, adapter } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);
      const file = { name: 'report.pdf', mime: 'application/pdf', bytes };
      await platform.say(platform.direct(alice), alice, 'read this', { file }).acknowledged();
      const message = stage.messages()[0]!;
      const [announced] = message.files;
      assert.equal(message.text, 'read this');
      assert.deepEqual(
        [announced?.name, announced?.mime, announced?.bytes, announced?.kind],
        ['report.pdf', 'application/pdf', 70_000, 'document'],
      );
      const fetched = await need(adapter.download, 'download')(announced!, AbortSignal.timeout(10_000));
      assert.ok(Buffer.from(fetched).equals(bytes));
    },
  },

  'R82: a file over the limit is refused before it is fetched': {
    declared: (features) => features.files,
    async run(stage) {
      const { platform, adapter } = stage;
      await stage.start();
      const alice = platform.person('Alice');
      const bytes = adapter.limits.fileBytesMax + 1;
      await need(platform.sendLarge, 'sendLarge')(platform.direct(alice), alice, bytes).acknowledged();
      const [file] = stage.messages()[0]!.files;
      await assert.rejects(need(adapter.download, 'download')(file!, AbortSignal.timeout(10_000)), {
        name: 'GatehouseError',
        code: 'limit',
      });
    },
  },
} satisfies Record<string, Case>;
