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

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
}

/** The one event of a message in the group with these fields. */
function only(fields: Record<string, unknown>) {
  const message = { message_id: 5, from: alice, chat: supergroup, date: 1767000001, ...fields };
  const events = parseUpdate({ update_id: 1, message }, me);
  assert.equal(events.length, 1);
  assert.equal(events[0]!.kind, 'message');
  return events[0] as Extract<(typeof events)[0], { kind: 'message' }>;
}

test('R1: a private message has its key from chat, message id and revision', () => {
  assert.deepEqual(parseUpdate(fixture('update-message-private'), me), [
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
  assert.deepEqual(parseUpdate(fixture('update-message-forum-topic'), me), [
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
  const [event] = parseUpdate(fixture('update-message-anonymous-admin'), me);
  assert.deepEqual(event?.kind === 'message' && event.sender, {
    id: '-1001234567890',
    name: 'Ops',
    kind: 'anonymous',
    membership: 'full',
  });
});

test('R3: an edit carries its revision in the key', () => {
  assert.deepEqual(parseUpdate(fixture('update-edited_message'), me), [
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
    const [event] = parseUpdate({ update_id: 1, edited_message }, me);
    return event?.kind === 'edit' && event.key;
  };
  assert.notEqual(keyOf('once'), keyOf('twice'));
  assert.equal(keyOf('once'), keyOf('once'));
});

test('R3: an edit without words, such as a live location that moved, is none', () => {
  const edited_message = { message_id: 5, from: alice, chat: supergroup, date: 1, edit_date: 2, location: {} };
  assert.deepEqual(parseUpdate({ update_id: 1, edited_message }, me), []);
});

test('R5: a part of an album carries the marker of the album and its largest picture', () => {
  const [event] = parseUpdate(fixture('update-photo-album-item'), me);
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
  assert.deepEqual(parseUpdate(fixture('update-migrate'), me), expected);
  const twin = { message_id: 1, from: alice, chat: supergroup, date: 1767000001, migrate_from_chat_id: -4000001 };
  assert.deepEqual(parseUpdate({ update_id: 2, message: twin }, me), expected);
});

test('R13: who added the bot to a group is told; promotions and blocks in private chats are not', () => {
  const update = fixture('update-my_chat_member') as { my_chat_member: Record<string, unknown> };
  assert.deepEqual(parseUpdate(update, me), [
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
    parseUpdate(
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

test('presses and reactions are no events yet', () => {
  assert.deepEqual(parseUpdate(fixture('update-callback_query'), me), []);
  assert.deepEqual(parseUpdate(fixture('update-callback_query-inaccessible'), me), []);
  assert.deepEqual(parseUpdate(fixture('update-message_reaction'), me), []);
});

test('every recorded update can be read', () => {
  const names = readdirSync(folder).filter((name) => name.startsWith('update-'));
  assert.equal(names.length, 10);
  for (const name of names) assert.ok(Array.isArray(parseUpdate(fixture(name.slice(0, -5)), me)), name);
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
    parseUpdate({ update_id: 1, message: { message_id: 5, from: alice, chat: supergroup, date: 1, ...fields } }, me);
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
  assert.deepEqual(parseUpdate({ update_id: 1, channel_post: channel }, me), []);
  assert.deepEqual(parseUpdate({ update_id: 1, message: channel }, me), []);
  assert.deepEqual(parseUpdate({ update_id: 1, business_message: channel }, me), []);
  assert.deepEqual(parseUpdate({ update_id: 1, inline_query: { id: '1' } }, me), []);
  assert.deepEqual(parseUpdate({ update_id: 1, something_new: {} }, me), []);
});

test('a malformed update is refused by field name, without its content', () => {
  const refused = (update: unknown, message: string) =>
    assert.throws(() => parseUpdate(update, me), { name: 'MalformedUpdate', message });
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
