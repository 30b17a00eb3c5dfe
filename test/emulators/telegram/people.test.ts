/** What people do, and which of it a bot gets to see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from 'grammy';
import { type EmulatorOptions, startTelegramEmulator } from './index.ts';

async function start(options: EmulatorOptions = {}) {
  const emulator = await startTelegramEmulator({ pollThrottle: false, ...options });
  const api = new Api(emulator.token, { apiRoot: emulator.url });
  const alice = emulator.user({ name: 'Alice', username: 'alice' });
  /** Everything that has come since the last time. */
  let offset = 0;
  const updates = async () => {
    const batch = await api.getUpdates({ offset, timeout: 0 });
    offset = (batch.at(-1)?.update_id ?? offset - 1) + 1;
    return batch;
  };
  const texts = async () => (await updates()).map((update) => update.message?.text ?? update.message?.caption ?? '');
  return { emulator, api, alice, updates, texts };
}

test('entities of what people write are found: mentions, commands, links', async (t) => {
  const { emulator, alice, updates } = await start();
  t.after(emulator.close);
  emulator.say(emulator.privateChat(alice), alice, '/ask@gate_bot 👍 @bob https://example.org');
  const [update] = await updates();
  assert.deepEqual(update?.message?.entities, [
    { type: 'bot_command', offset: 0, length: 13 },
    { type: 'mention', offset: 17, length: 4 },
    { type: 'url', offset: 22, length: 19 },
  ]);
  assert.deepEqual(update?.message?.from, {
    id: alice.id,
    is_bot: false,
    first_name: 'Alice',
    username: 'alice',
    language_code: 'en',
  });
});

test('privacy on: commands, replies, mentions and service messages pass, talk does not', async (t) => {
  const { emulator, api, alice, texts, updates } = await start();
  t.after(emulator.close);
  const group = emulator.group({ members: [alice] });
  const question = await api.sendMessage(group.id, 'question');
  emulator.say(group, alice, 'talk');
  emulator.say(group, alice, '@other_bot talk');
  emulator.say(group, alice, '/cmd@other_bot');
  emulator.say(group, alice, '/cmd');
  emulator.say(group, alice, '/cmd@gate_bot');
  emulator.say(group, alice, 'hey @GATE_bot');
  emulator.say(group, alice, 'answer', { replyTo: question });
  emulator.say(group, alice, 'you', { entities: [{ type: 'text_mention', offset: 0, length: 3, user: emulator.bot }] });
  assert.deepEqual(await texts(), ['/cmd', '/cmd@gate_bot', 'hey @GATE_bot', 'answer', 'you']);
  const other = emulator.user({ name: 'Other', username: 'other_bot', bot: true });
  emulator.say(group, other, '@gate_bot hello from a bot');
  emulator.say(group, alice, '/cmd');
  assert.deepEqual(await texts(), []);
  emulator.service(group, alice, { new_chat_title: 'Renamed' });
  assert.equal((await updates())[0]?.message?.new_chat_title, 'Renamed');
  emulator.setMember(group, emulator.bot, 'administrator');
  emulator.say(group, alice, 'talk');
  assert.deepEqual(await texts(), ['talk']);
  assert.equal((await api.getMe()).can_read_all_group_messages, false);
});

test('privacy off: everything of people passes, nothing of bots', async (t) => {
  const { emulator, api, alice, texts } = await start({ privacy: false });
  t.after(emulator.close);
  const group = emulator.group({ members: [alice] });
  emulator.say(group, alice, 'talk');
  emulator.say(group, emulator.user({ bot: true }), 'bot');
  assert.deepEqual(await texts(), ['talk']);
  assert.equal((await api.getMe()).can_read_all_group_messages, true);
});

test('privacy on may also withhold plain mentions', async (t) => {
  const { emulator, alice, texts } = await start({ privacyMentions: false });
  t.after(emulator.close);
  emulator.say(emulator.group({ members: [alice] }), alice, '@gate_bot hello');
  assert.deepEqual(await texts(), []);
});

test('topics: talk quotes the creation; a reply in General and in a plain supergroup is no topic', async (t) => {
  const { emulator, alice, updates } = await start({ privacy: false });
  t.after(emulator.close);
  const forum = emulator.group({ forum: true, members: [alice] });
  const topic = emulator.topic(forum, alice, 'deploys');
  emulator.say(forum, alice, 'in the topic', { thread: topic });
  const general = emulator.say(forum, alice, 'in General');
  emulator.say(forum, alice, 'reply in General', { replyTo: general });
  const [created, inTopic, inGeneral, reply] = (await updates()).map((update) => update.message);
  assert.equal(created?.forum_topic_created?.name, 'deploys');
  assert.deepEqual(
    [inTopic?.message_thread_id, inTopic?.is_topic_message, inTopic?.reply_to_message?.message_id],
    [topic, true, topic],
  );
  assert.equal(inGeneral?.message_thread_id, undefined);
  assert.deepEqual([reply?.message_thread_id, reply?.is_topic_message], [general.message_id, undefined]);
});

test('an album is one update per item, the caption on the first', async (t) => {
  const { emulator, alice, updates } = await start();
  t.after(emulator.close);
  emulator.album(emulator.privateChat(alice), alice, [{ bytes: 'a' }, { bytes: 'b' }, { bytes: 'c' }], {
    caption: 'three',
  });
  const messages = (await updates()).map((update) => update.message);
  assert.deepEqual(
    messages.map((message) => message?.caption),
    ['three', undefined, undefined],
  );
  assert.equal(new Set(messages.map((message) => message?.media_group_id)).size, 1);
  assert.equal(messages[2]?.photo?.length, 2);
});

test('voice, sticker, forwarded, anonymous, channel and linked posts look as on Telegram', async (t) => {
  const { emulator, alice, updates } = await start({ privacy: false });
  t.after(emulator.close);
  const group = emulator.group({ type: 'supergroup', members: [alice] });
  const channel = emulator.channel({ title: 'News' });
  emulator.say(group, alice, '', { voice: { bytes: 'ogg', duration: 7 } });
  emulator.say(group, alice, '', { sticker: { emoji: '👍' } });
  emulator.say(group, alice, 'said', { forwarded: 'Hidden' });
  emulator.say(group, alice, 'approve', { as: 'anonymous_admin' });
  emulator.say(group, alice, 'as a channel', { as: channel });
  emulator.say(group, alice, 'a post', { automaticForward: channel });
  const seen = (await updates()).map((update) => update.message);
  assert.equal(seen[0]?.voice?.duration, 7);
  assert.equal(seen[1]?.sticker?.emoji, '👍');
  assert.deepEqual(seen[2]?.forward_origin?.type, 'hidden_user');
  assert.deepEqual([seen[3]?.from?.id, seen[3]?.sender_chat?.id], [1087968824, group.id]);
  assert.deepEqual([seen[4]?.from?.id, seen[4]?.sender_chat?.id], [136817688, channel.id]);
  assert.deepEqual([seen[5]?.from?.id, seen[5]?.is_automatic_forward], [777000, true]);
});

test('edits: a real one has new words, a preview has the old ones', async (t) => {
  const { emulator, alice, updates } = await start();
  t.after(emulator.close);
  const said = emulator.say(emulator.privateChat(alice), alice, 'helo');
  emulator.unfurl(said);
  emulator.editMessage(said, 'hello');
  const edits = (await updates()).map((update) => update.edited_message?.text);
  assert.deepEqual(edits, [undefined, 'helo', 'hello']);
});

test('presses: by anyone, forged, from another chat, on a message that is gone', async (t) => {
  const { emulator, api, alice, updates } = await start();
  t.after(emulator.close);
  const group = emulator.group({ members: [alice] });
  const card = await api.sendMessage(group.id, 'Approve?', {
    reply_markup: { inline_keyboard: [[{ text: 'Y', callback_data: 'y' }]] },
  });
  const mallory = emulator.user({ name: 'Mallory' });
  emulator.press(mallory, card, 'y');
  emulator.pressStale(mallory, card, 'forged');
  emulator.pressStale(mallory, card, 'y', { chat: emulator.privateChat(mallory) });
  emulator.deleteMessage(card);
  emulator.pressStale(alice, card, 'y');
  emulator.pressStale(alice, card, 'y', { noMessage: true });
  const presses = (await updates()).map((update) => update.callback_query);
  assert.deepEqual(
    presses.map((press) => [press?.from.id, press?.data, press?.message?.chat.id, press?.message?.date === 0]),
    [
      [mallory.id, 'y', group.id, false],
      [mallory.id, 'forged', group.id, false],
      [mallory.id, 'y', mallory.id, false],
      [alice.id, 'y', group.id, true],
      [alice.id, 'y', undefined, false],
    ],
  );
  assert.ok(presses[4]?.inline_message_id);
});

test('reactions reach only an admin, and anonymous ones only as a count', async (t) => {
  const { emulator, api, alice, updates } = await start();
  t.after(emulator.close);
  await api.getUpdates({ allowed_updates: ['message_reaction', 'message_reaction_count'] });
  const group = emulator.group({ members: [alice] });
  const card = await api.sendMessage(group.id, 'x');
  emulator.react(alice, card, ['👍']);
  assert.deepEqual(await updates(), []);
  emulator.setMember(group, emulator.bot, 'administrator');
  emulator.react(alice, card, []);
  emulator.react(alice, card, ['🔥'], { anonymous: true });
  const [named, counted] = await updates();
  assert.deepEqual(named?.message_reaction?.old_reaction, [{ type: 'emoji', emoji: '👍' }]);
  assert.deepEqual(counted?.message_reaction_count?.reactions, [
    { type: { type: 'emoji', emoji: '🔥' }, total_count: 1 },
  ]);
});

test('membership: added, removed, blocked; administrators and members can be asked', async (t) => {
  const { emulator, api, alice, updates } = await start();
  t.after(emulator.close);
  const bob = emulator.user({ name: 'Bob' });
  const group = emulator.group({ bot: 'left', admins: [alice], members: [bob] });
  emulator.addBot(group, alice);
  const [standing, joined] = await updates();
  assert.deepEqual(
    [
      standing?.my_chat_member?.from.id,
      standing?.my_chat_member?.old_chat_member.status,
      standing?.my_chat_member?.new_chat_member.status,
    ],
    [alice.id, 'left', 'member'],
  );
  assert.deepEqual(
    joined?.message?.new_chat_members?.map((member) => member.id),
    [emulator.bot.id],
  );
  assert.deepEqual(
    (await api.getChatAdministrators(group.id)).map((member) => [member.user.id, member.status]),
    [[alice.id, 'creator']],
  );
  assert.equal((await api.getChatMember(group.id, bob.id)).status, 'member');
  emulator.leave(group, bob);
  assert.equal((await api.getChatMember(group.id, bob.id)).status, 'left');
  emulator.removeBot(group, alice);
  emulator.privateChat(bob);
  emulator.block(bob);
  const statuses = (await updates()).map((update) => update.my_chat_member?.new_chat_member.status);
  assert.deepEqual(statuses, [undefined, 'kicked', 'kicked']);
});

for (const [announce, expected] of [
  ['to_then_from', ['to', 'from']],
  ['from_then_to', ['from', 'to']],
  ['none', []],
] as const) {
  test(`migration, announced ${announce}`, async (t) => {
    const { emulator, api, alice, updates } = await start();
    t.after(emulator.close);
    const group = emulator.group({ title: 'Ops', members: [alice] });
    const next = emulator.migrate(group, alice, { announce });
    const messages = (await updates()).map((update) => update.message);
    assert.deepEqual(
      messages.map((message) =>
        message?.migrate_to_chat_id === next.id && message.chat.id === group.id
          ? 'to'
          : message?.migrate_from_chat_id === group.id && message.chat.id === next.id
            ? 'from'
            : 'other',
      ),
      expected,
    );
    await assert.rejects(api.sendMessage(group.id, 'x'), (error: { description: string; parameters: unknown }) => {
      assert.equal(error.description, 'Bad Request: group chat was upgraded to a supergroup chat');
      assert.deepEqual(error.parameters, { migrate_to_chat_id: next.id });
      return true;
    });
    assert.equal((await api.sendMessage(next.id, 'x')).chat.type, 'supergroup');
    assert.ok(String(next.id).startsWith('-100'));
  });
}
