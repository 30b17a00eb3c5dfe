import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Me, parseUpdate } from '../../../adapters/telegram/parse.ts';

const folder = join(import.meta.dirname, '../../fixtures/telegram');
const me: Me = { id: 900000001, username: 'gate_bot' };
const alice = { id: 100000001, is_bot: false, first_name: 'Alice', username: 'alice', language_code: 'en' };
const aliceAsSender = { id: '100000001', name: 'Alice', kind: 'human', membership: 'full', language: 'en' };
const supergroup = { id: -1001234567890, title: 'Ops', type: 'supergroup' };

const receivedAt = 1767000099123;

function parse(update: unknown, who: Me = me) {
  return parseUpdate(update, who, receivedAt);
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
}

/** The one event of a message in the group with these fields. */
function only(fields: Record<string, unknown>) {
  const message = { message_id: 5, from: alice, chat: supergroup, date: 1767000001, ...fields };
  const events = parse({ update_id: 1, message });
  assert.equal(events.length, 1);
  assert.equal(events[0]!.kind, 'message');
  return events[0] as Extract<(typeof events)[0], { kind: 'message' }>;
}

test('R1: a private message has its key from chat, message id and revision', () => {
  assert.deepEqual(parse(fixture('update-message-private')), [
    {
      kind: 'message',
      key: 'm:100000001:133:0',
      chat: { id: '100000001', kind: 'direct' },
      messageId: '133',
      sender: aliceAsSender,
      text: '@gate_bot hi',
      mentionsBot: true,
      addressedText: 'hi',
      files: [],
      sentAt: 1767000001000,
    },
  ]);
});

test('R19: a topic is a thread, and the service message that opened it is not replied to', () => {
  assert.deepEqual(parse(fixture('update-message-forum-topic')), [
    {
      kind: 'message',
      key: 'm:-1001234567890:21:0',
      chat: { id: '-1001234567890', kind: 'group', title: 'Ops' },
      thread: '7',
      messageId: '21',
      sender: aliceAsSender,
      text: '@gate_bot deploy',
      mentionsBot: true,
      addressedText: 'deploy',
      files: [],
      sentAt: 1767000001000,
    },
  ]);
});

test('R47: an anonymous admin is nobody in particular', () => {
  const [event] = parse(fixture('update-message-anonymous-admin'));
  assert.deepEqual(event?.kind === 'message' && event.sender, {
    id: '-1001234567890',
    name: 'Ops',
    kind: 'anonymous',
    membership: 'full',
  });
});

test('R3: an edit carries its revision in the key', () => {
  assert.deepEqual(parse(fixture('update-edited_message')), [
    {
      kind: 'edit',
      // sha256 of "hi again"
      key: 'm:100000001:133:1767000010:f502f9bf',
      chat: { id: '100000001', kind: 'direct' },
      messageId: '133',
      sender: aliceAsSender,
      text: 'hi again',
      sentAt: 1767000010000,
    },
  ]);
});

test('R3, R1: two edits within one second are two, and the same one again is none', () => {
  const keyOf = (text: string) => {
    const edited_message = { message_id: 5, from: alice, chat: supergroup, date: 1, edit_date: 2, text };
    const [event] = parse({ update_id: 1, edited_message });
    return event?.kind === 'edit' && event.key;
  };
  assert.notEqual(keyOf('once'), keyOf('twice'));
  assert.equal(keyOf('once'), keyOf('once'));
});

test('R3: an edit without words, such as a live location that moved, is none', () => {
  const edited_message = { message_id: 5, from: alice, chat: supergroup, date: 1, edit_date: 2, location: {} };
  assert.deepEqual(parse({ update_id: 1, edited_message }), []);
});

test('R5: a part of an album carries the marker of the album and its largest picture', () => {
  const [event] = parse(fixture('update-photo-album-item'));
  assert.ok(event?.kind === 'message');
  assert.equal(event.partOf, '13700000000000001');
  assert.equal(event.text, 'two pictures');
  assert.deepEqual(event.files, [
    { ref: 'AgACAgUAAxk2', name: 'photo_141.jpg', mime: 'image/jpeg', bytes: 137906, kind: 'image' },
  ]);
});

test('R20: both service messages of a migration are the same event', () => {
  const expected = [
    {
      kind: 'migration',
      key: 'g:-4000001:-1001234567890',
      from: '-4000001',
      to: '-1001234567890',
      sentAt: 1767000001000,
    },
  ];
  assert.deepEqual(parse(fixture('update-migrate')), expected);
  const twin = { message_id: 1, from: alice, chat: supergroup, date: 1767000001, migrate_from_chat_id: -4000001 };
  assert.deepEqual(parse({ update_id: 2, message: twin }), expected);
});

test('R13: who added the bot to a group is told; promotions and blocks in private chats are not', () => {
  const update = fixture('update-my_chat_member') as { my_chat_member: Record<string, unknown> };
  assert.deepEqual(parse(update), [
    {
      kind: 'membership',
      key: 'b:-1001234567890:1767000001:added',
      chat: { id: '-1001234567890', kind: 'group', title: 'Ops' },
      change: 'added',
      by: aliceAsSender,
      sentAt: 1767000001000,
    },
  ]);
  const changed = (before: object, after: object, chat: object = supergroup) =>
    parse(
      {
        update_id: 3,
        my_chat_member: { ...update.my_chat_member, chat, old_chat_member: before, new_chat_member: after },
      },
      me,
    ).map((event) => event.kind === 'membership' && event.change);
  assert.deepEqual(changed({ status: 'member' }, { status: 'kicked' }), ['removed']);
  assert.deepEqual(changed({ status: 'administrator' }, { status: 'left' }), ['removed']);
  assert.deepEqual(changed({ status: 'restricted', is_member: false }, { status: 'member' }), ['added']);
  assert.deepEqual(changed({ status: 'member' }, { status: 'restricted', is_member: false }), ['removed']);
  assert.deepEqual(changed({ status: 'left' }, { status: 'restricted', is_member: true }), ['added']);
  assert.deepEqual(changed({ status: 'member' }, { status: 'restricted', is_member: true }), []);
  assert.deepEqual(changed({ status: 'member' }, { status: 'administrator' }), []);
  assert.deepEqual(changed({ status: 'member' }, { status: 'kicked' }, { id: 100000001, type: 'private' }), []);
});

test('R46: a press names the message that carries the button, its topic, and who pressed', () => {
  assert.deepEqual(parse(fixture('update-callback_query')), [
    {
      kind: 'decision',
      key: 'callback:430000000000000001',
      chat: { id: '-1001234567890', kind: 'group', title: 'Ops' },
      thread: '7',
      ref: '140',
      sender: aliceAsSender,
      data: 'a:7F4K',
      sentAt: 1767000099123,
    },
  ]);
});

/** The events of a press on a message of ours in the group, with these fields changed. */
function pressed(fields: Record<string, unknown>, message: Record<string, unknown> = {}) {
  const { callback_query: query } = fixture('update-callback_query') as { callback_query: Record<string, unknown> };
  const card = { ...(query.message as object), ...message };
  return parse({ update_id: 1, callback_query: { ...query, message: card, ...fields } });
}

test('R46: a press that cannot be on a card of ours is no event', () => {
  assert.equal(pressed({}).length, 1);
  assert.deepEqual(parse(fixture('update-callback_query-inaccessible')), []);
  assert.deepEqual(pressed({ message: undefined, inline_message_id: 'AQ1' }), []);
  assert.deepEqual(pressed({ data: undefined, game_short_name: 'chess' }), []);
  const origin = { type: 'user', date: 1767000001, sender_user: { id: 900000001, is_bot: true, first_name: 'Gate' } };
  assert.deepEqual(pressed({}, { forward_origin: origin }), []);
  assert.deepEqual(pressed({}, { from: alice }), []);
  assert.deepEqual(pressed({}, { from: { id: 900000002, is_bot: true, first_name: 'Other' } }), []);
  assert.deepEqual(pressed({}, { chat: { id: -1001, type: 'channel', title: 'News' }, from: undefined }), []);
});

test('R47: our card as an anonymous admin is ours; who presses anonymously is anonymous', () => {
  const anonymous = { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' };
  assert.equal(pressed({}, { from: anonymous, sender_chat: supergroup }).length, 1);
  const [event] = pressed({ from: anonymous });
  assert.equal(event?.kind === 'decision' && event.sender.kind, 'anonymous');
});

test('a press outside a topic names no thread', () => {
  const [general] = pressed({}, { message_thread_id: 140, is_topic_message: undefined });
  assert.equal(general?.kind === 'decision' && 'thread' in general, false);
});

test('reactions are no events yet', () => {
  assert.deepEqual(parse(fixture('update-message_reaction')), []);
});

test('every recorded update can be read', () => {
  const names = readdirSync(folder).filter((name) => name.startsWith('update-'));
  assert.equal(names.length, 10);
  for (const name of names) assert.ok(Array.isArray(parse(fixture(name.slice(0, -5)))), name);
});

test('R10: mentions are read from entities only, whatever the case', () => {
  const mention = (text: string) => only({ text, entities: [{ type: 'mention', offset: 0, length: 9 }] });
  assert.equal(mention('@GATE_bot hi').mentionsBot, true);
  assert.equal(mention('@gate_bo2 hi').mentionsBot, false);
  assert.equal(only({ text: '@gate_bot hi' }).mentionsBot, false);
  assert.equal(only({ text: '@gate_bot hi', entities: [{ type: 'code', offset: 0, length: 9 }] }).mentionsBot, false);
});

test('R10: a text mention counts by the account it names', () => {
  const named = (id: number) =>
    only({ text: 'Gate, hi', entities: [{ type: 'text_mention', offset: 0, length: 4, user: { id } }] });
  assert.equal(named(900000001).mentionsBot, true);
  assert.equal(named(900000001).addressedText, 'hi');
  assert.equal(named(5).mentionsBot, false);
});

test('R10: offsets are UTF-16 units, and a caption has entities of its own', () => {
  const caption = only({
    photo: [{ file_id: 'p', width: 1, height: 1 }],
    caption: '👩‍🚀 @gate_bot look',
    caption_entities: [{ type: 'mention', offset: 6, length: 9 }],
  });
  assert.equal(caption.mentionsBot, true);
  assert.equal(caption.addressedText, undefined);
  assert.equal(caption.text, '👩‍🚀 @gate_bot look');
});

test('R18: a command is read from its entity, with its arguments', () => {
  const command = (text: string, length: number, offset = 0) =>
    only({ text, entities: [{ type: 'bot_command', offset, length }] });
  assert.deepEqual(command('/new', 4).command, { name: 'new', args: '' });
  assert.equal(command('/new', 4).mentionsBot, false);
  const ours = command('/Ask@Gate_Bot  what is up? ', 13);
  assert.deepEqual(ours.command, { name: 'ask', args: 'what is up?' });
  assert.equal(ours.mentionsBot, true);
  assert.equal(command('please /new', 4, 7).command, undefined);
  assert.equal(only({ text: '/new' }).command, undefined);
});

test('R18: a command behind a leading mention is one as well', () => {
  const entities = [
    { type: 'mention', offset: 0, length: 9 },
    { type: 'bot_command', offset: 11, length: 5 },
  ];
  const event = only({ text: '@gate_bot: /help me', entities });
  assert.deepEqual(event.command, { name: 'help', args: 'me' });
  assert.equal(event.addressedText, '/help me');
});

test('R18: a command for another bot is not ours', () => {
  const other = only({ text: '/new@other_bot', entities: [{ type: 'bot_command', offset: 0, length: 14 }] });
  assert.equal(other.forOtherBot, true);
  assert.equal(other.command, undefined);
  assert.equal(other.mentionsBot, false);
});

test('R10: a reply to the bot is told from a reply to others', () => {
  const reply = (from: object) => only({ text: 'yes', reply_to_message: { message_id: 4, from } }).repliesTo;
  assert.deepEqual(reply({ id: 900000001, is_bot: true }), { messageId: '4', toBot: true });
  assert.deepEqual(reply(alice), { messageId: '4', toBot: false });
});

test('R10: words in a topic that the bot opened are no reply to it', () => {
  const opened = { message_id: 7, from: { id: 900000001 }, forum_topic_created: { name: 'x' } };
  const topic = { is_topic_message: true, message_thread_id: 7 };
  assert.equal(only({ text: 'hi', ...topic, reply_to_message: opened }).repliesTo, undefined);
  assert.equal(
    only({ text: 'hi', ...topic, reply_to_message: { message_id: 7, from: { id: 900000001 } } }).repliesTo,
    undefined,
  );
});

test('R21: General and reply threads are no threads', () => {
  assert.equal(only({ text: 'hi', message_thread_id: 1, is_topic_message: true }).thread, undefined);
  assert.equal(only({ text: 'hi', message_thread_id: 44 }).thread, undefined);
  assert.equal(only({ text: 'hi', message_thread_id: 44, is_topic_message: true }).thread, '44');
});

test('R6: kinds of senders', () => {
  const kind = (fields: object) => only({ text: 'hi', ...fields }).sender.kind;
  assert.equal(kind({}), 'human');
  assert.equal(kind({ from: { id: 3, is_bot: true, first_name: 'B' } }), 'bot');
  assert.equal(kind({ from: { id: 900000001, is_bot: true, first_name: 'Gate' } }), 'self');
  assert.equal(
    kind({ sender_chat: { id: -100555, title: 'News' }, from: { id: 136817688, is_bot: true } }),
    'anonymous',
  );
  assert.equal(kind({ from: { id: 1087968824, is_bot: true, first_name: 'Group' } }), 'anonymous');
  const forward = { is_automatic_forward: true, sender_chat: { id: -100555, title: 'News' }, from: { id: 777000 } };
  assert.equal(kind(forward), 'system');
  assert.equal(kind({ from: { id: 777000, is_bot: false, first_name: 'Telegram' } }), 'system');
});

test('R6: joins, pins, titles and topics are no messages', () => {
  const service = (fields: object) =>
    parse({ update_id: 1, message: { message_id: 5, from: alice, chat: supergroup, date: 1, ...fields } });
  assert.deepEqual(service({ new_chat_members: [alice] }), []);
  assert.deepEqual(service({ left_chat_member: alice }), []);
  assert.deepEqual(service({ pinned_message: { message_id: 4, text: 'x' } }), []);
  assert.deepEqual(service({ new_chat_title: 'Ops 2' }), []);
  assert.deepEqual(service({ forum_topic_created: { name: 'x' } }), []);
  assert.deepEqual(service({ a_kind_of_next_year: { text: 'x' } }), []);
});

test('R82: each kind of file is named, typed and sized', () => {
  const file = (fields: Record<string, unknown>) => only(fields).files;
  const document = { file_id: 'd', file_name: 'plan.pdf', mime_type: 'application/pdf', file_size: 9 };
  assert.deepEqual(file({ document }), [
    { ref: 'd', name: 'plan.pdf', mime: 'application/pdf', bytes: 9, kind: 'document' },
  ]);
  assert.deepEqual(file({ document: { file_id: 'd', mime_type: 'image/png' } }), [
    { ref: 'd', name: 'document_5', mime: 'image/png', kind: 'image' },
  ]);
  assert.deepEqual(file({ voice: { file_id: 'v', mime_type: 'audio/ogg', file_size: 7, duration: 2 } }), [
    { ref: 'v', name: 'voice_5.ogg', mime: 'audio/ogg', bytes: 7, kind: 'voice' },
  ]);
  assert.deepEqual(file({ audio: { file_id: 'a', file_name: 'song.mp3', mime_type: 'audio/mpeg' } }), [
    { ref: 'a', name: 'song.mp3', mime: 'audio/mpeg', kind: 'audio' },
  ]);
  assert.deepEqual(file({ video: { file_id: 'w' } }), [
    { ref: 'w', name: 'video_5.mp4', mime: 'video/mp4', kind: 'video' },
  ]);
  assert.deepEqual(file({ video_note: { file_id: 'n' } }), [
    { ref: 'n', name: 'video_note_5.mp4', mime: 'video/mp4', kind: 'video' },
  ]);
  assert.deepEqual(file({ animation: { file_id: 'g' }, document: { file_id: 'g' } }), [
    { ref: 'g', name: 'animation_5.mp4', mime: 'video/mp4', kind: 'video' },
  ]);
  assert.deepEqual(file({ sticker: { file_id: 's', is_animated: false, is_video: false } }), [
    { ref: 's', name: 'sticker_5.webp', mime: 'image/webp', kind: 'sticker' },
  ]);
  assert.deepEqual(file({ sticker: { file_id: 's', is_animated: true, is_video: false } }), [
    { ref: 's', name: 'sticker_5.tgs', mime: 'application/x-tgsticker', kind: 'sticker' },
  ]);
});

test('content without words becomes a short phrase', () => {
  const text = (fields: Record<string, unknown>) => only(fields).text;
  const location = { latitude: 52.5, longitude: 13.4 };
  assert.equal(text({ location }), '[location 52.5, 13.4]');
  assert.equal(
    text({ location, venue: { location, title: 'Bar', address: 'Main St 1' } }),
    '[venue Bar, Main St 1, 52.5, 13.4]',
  );
  assert.equal(
    text({ contact: { first_name: 'Bob', last_name: 'Low', phone_number: '+49301' } }),
    '[contact Bob Low, +49301]',
  );
  assert.equal(
    text({ poll: { question: 'Tea?', options: [{ text: 'Yes' }, { text: 'No' }] } }),
    '[poll Tea?, Yes, No]',
  );
  assert.equal(text({ dice: { emoji: '🎲', value: 4 } }), '[dice 🎲, 4]');
  assert.equal(text({ story: { id: 1, chat: supergroup } }), '[story]');
});

test('R44: a forwarded message says so', () => {
  assert.equal(only({ text: 'yes', forward_origin: { type: 'user' } }).forwarded, true);
  assert.equal('forwarded' in only({ text: 'yes' }), false);
});

test('channels, business and inline updates are not for us', () => {
  const channel = { message_id: 5, chat: { id: -1009, type: 'channel', title: 'News' }, date: 1, text: 'x' };
  assert.deepEqual(parse({ update_id: 1, channel_post: channel }), []);
  assert.deepEqual(parse({ update_id: 1, message: channel }), []);
  assert.deepEqual(parse({ update_id: 1, business_message: channel }), []);
  assert.deepEqual(parse({ update_id: 1, inline_query: { id: '1' } }), []);
  assert.deepEqual(parse({ update_id: 1, something_new: {} }), []);
});

test('a malformed update is refused by field name, without its content', () => {
  const refused = (update: unknown, message: string) =>
    assert.throws(() => parse(update), { name: 'MalformedUpdate', message });
  refused(null, 'the update is not an object');
  refused([], 'the update is not an object');
  refused({ message: 'secret words' }, 'message is not an object');
  refused({ message: { message_id: 1, date: 1 } }, 'chat is not an object');
  refused({ message: { chat: { id: '5' }, message_id: 1, date: 1 } }, 'chat.id is not an integer');
  refused({ message: { chat: supergroup, message_id: 1.5, date: 1 } }, 'message_id is not an integer');
  refused(
    { message: { chat: supergroup, message_id: 1, from: { id: 'x' }, date: 1, text: 'a' } },
    'from.id is not an integer',
  );
  refused({ my_chat_member: { chat: supergroup, date: 1 } }, 'old_chat_member is not an object');
});

test('fields of a wrong type are treated as missing', () => {
  const event = only({ text: 'hi', entities: [null, { type: 'mention', offset: -1, length: 900 }, 'x'], photo: 'no' });
  assert.deepEqual(event.files, []);
  assert.equal(event.mentionsBot, false);
});
