/** Messages, places, files and the server itself: limits and error texts of the Bot API emulator, asked by the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Api, InputFile } from 'grammy';
import { createFakeClock } from '../support/fake_clock.ts';
import { type Chat, startTelegramEmulator, type TelegramEmulator, type User } from './telegram/index.ts';
import { refused } from './telegram/refused.ts';

let emulator: TelegramEmulator;
let api: Api;
let alice: User;
let chat: Chat;
const clock = createFakeClock();

before(async () => {
  emulator = await startTelegramEmulator({ clock });
  api = new Api(emulator.token, { apiRoot: emulator.url });
  alice = emulator.user({ name: 'Alice', username: 'alice' });
  chat = emulator.privateChat(alice);
});
after(() => emulator.close());

const button = (data: string) => ({ inline_keyboard: [[{ text: 'Go', callback_data: data }]] });

describe('edits and deletions', () => {
  test('the same content again is not modified; a keyboard left out goes away', async () => {
    const sent = await api.sendMessage(chat.id, 'x', { reply_markup: button('a') });
    await refused(
      api.editMessageText(chat.id, sent.message_id, 'x', { reply_markup: button('a') }),
      400,
      'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
    await api.editMessageText(chat.id, sent.message_id, 'y');
    const seen = emulator.message(sent);
    assert.deepEqual(seen?.buttons, []);
    assert.deepEqual(seen?.versions, ['x', 'y']);
    assert.equal(sent.text, 'x');
  });

  test('a change of formatting alone is a change', async () => {
    const sent = await api.sendMessage(chat.id, 'x');
    const edited = await api.editMessageText(chat.id, sent.message_id, '<b>x</b>', { parse_mode: 'HTML' });
    assert.deepEqual(edited, { ...sent, edit_date: sent.date, entities: [{ type: 'bold', offset: 0, length: 1 }] });
  });

  test('only own texts that exist can be edited', async () => {
    const said = emulator.say(chat, alice, 'hello');
    await refused(api.editMessageText(chat.id, 99_999, 'x'), 400, 'Bad Request: message to edit not found');
    await refused(api.editMessageText(chat.id, said.message_id, 'x'), 400, "Bad Request: message can't be edited");
    const document = await api.sendDocument(chat.id, new InputFile(Buffer.from('x'), 'x.txt'));
    await refused(
      api.editMessageText(chat.id, document.message_id, 'x'),
      400,
      'Bad Request: there is no text in the message to edit',
    );
  });

  test('deleting: what is not there, what is not ours in a group', async () => {
    await refused(api.deleteMessage(chat.id, 99_999), 400, 'Bad Request: message to delete not found');
    const group = emulator.group({ members: [alice] });
    const said = emulator.say(group, alice, 'hello');
    await refused(api.deleteMessage(group.id, said.message_id), 400, "Bad Request: message can't be deleted");
    emulator.setMember(group, emulator.bot, 'administrator');
    await api.deleteMessage(group.id, said.message_id);
    assert.deepEqual(emulator.messages(group), []);
  });
});

describe('places', () => {
  test('topics: unknown, General and closed ones, and a plain supergroup', async () => {
    const forum = emulator.group({ forum: true });
    const topic = emulator.topic(forum, alice, 'deploys');
    const send = (where: number, message_thread_id?: number) =>
      api.sendMessage(where, 'x', message_thread_id === undefined ? {} : { message_thread_id });
    const sent = await send(forum.id, topic);
    assert.equal(sent.is_topic_message, true);
    assert.deepEqual(sent.from, { id: 900000001, is_bot: true, first_name: 'Gate', username: 'gate_bot' });
    assert.equal(sent.message_thread_id, topic);
    assert.equal(sent.reply_to_message?.forum_topic_created?.name, 'deploys');
    assert.equal(emulator.message(sent)?.replyTo, null);
    assert.equal((await send(forum.id)).message_thread_id, undefined);
    await refused(send(forum.id, 1), 400, 'Bad Request: message thread not found');
    await refused(send(forum.id, 777), 400, 'Bad Request: message thread not found');
    const plain = emulator.group({ type: 'supergroup' });
    const question = emulator.say(plain, alice, 'question');
    await refused(send(plain.id, question.message_id), 400, 'Bad Request: message thread not found');
    emulator.setTopic(forum, topic, 'closed');
    await refused(send(forum.id, topic), 400, 'Bad Request: TOPIC_CLOSED');
    emulator.setTopic(forum, topic, 'lost');
    assert.equal((await send(forum.id, topic)).message_thread_id, undefined);
  });

  test('replies to a message that is gone', async () => {
    const reply_parameters = { message_id: 99_999 };
    await refused(
      api.sendMessage(chat.id, 'x', { reply_parameters }),
      400,
      'Bad Request: message to be replied not found',
    );
    const lenient = { ...reply_parameters, allow_sending_without_reply: true };
    assert.equal((await api.sendMessage(chat.id, 'x', { reply_parameters: lenient })).reply_to_message, undefined);
  });

  test('chats the bot may not write to', async () => {
    await refused(api.sendMessage(4711, 'x'), 400, 'Bad Request: chat not found');
    const bob = emulator.user({ name: 'Bob' });
    await refused(api.sendMessage(bob.id, 'x'), 403, "Forbidden: bot can't initiate conversation with a user");
    const direct = emulator.privateChat(bob);
    emulator.block(bob);
    await refused(api.sendMessage(direct.id, 'x'), 403, 'Forbidden: bot was blocked by the user');
    emulator.unblock(bob);
    await api.sendMessage(direct.id, 'x');
    const group = emulator.group({ type: 'supergroup' });
    emulator.removeBot(group, alice);
    await refused(api.sendMessage(group.id, 'x'), 403, 'Forbidden: bot was kicked from the supergroup chat');
    const left = emulator.group({ bot: 'left' });
    await refused(api.sendMessage(left.id, 'x'), 403, 'Forbidden: bot is not a member of the group chat');
  });

  test('drafts exist in private chats only, with an id, and end with the message', async () => {
    const group = emulator.group();
    await refused(api.sendMessageDraft(group.id, 1, 'x'), 400, 'Bad Request: TEXTDRAFT_PEER_INVALID');
    await refused(api.sendMessageDraft(chat.id, 0, 'x'), 400, 'Bad Request: RANDOM_ID_INVALID');
    await refused(api.sendMessageDraft(chat.id, 1, 'x'.repeat(4097)), 400, 'Bad Request: message is too long');
    await api.sendMessageDraft(chat.id, 1, 'thin');
    await api.sendMessageDraft(chat.id, 1, 'thinking');
    assert.deepEqual(
      emulator.drafts(chat).map(({ draftId, text }) => [draftId, text]),
      [[1, 'thinking']],
    );
    await api.sendMessage(chat.id, 'done');
    assert.deepEqual(emulator.drafts(chat), []);
  });
});

describe('files, commands, presses', () => {
  test('files up to 20 MB can be fetched by their path', async () => {
    const said = emulator.say(chat, alice, 'look', {
      document: { bytes: 'content', name: 'a.txt', mime: 'text/plain' },
    });
    const document = said.document as { file_id: string };
    const file = await api.getFile(document.file_id);
    const response = await fetch(`${emulator.url}/file/bot${emulator.token}/${file.file_path}`);
    assert.equal(await response.text(), 'content');
    const big = emulator.say(chat, alice, '', { document: { size: 20 * 1024 * 1024 + 1, name: 'big.bin' } });
    const { file_id } = big.document as { file_id: string };
    await refused(api.getFile(file_id), 400, 'Bad Request: file is too big');
  });

  test('uploads arrive with name and bytes, albums under one id', async () => {
    const sent = await api.sendDocument(chat.id, new InputFile(Buffer.from('abc'), 'a b.txt'), { caption: 'see' });
    assert.equal(sent.document.file_name, 'a b.txt');
    const path = (await api.getFile(sent.document.file_id)).file_path;
    assert.equal(await (await fetch(`${emulator.url}/file/bot${emulator.token}/${path}`)).text(), 'abc');
    const photo = (caption?: string) => ({
      type: 'photo' as const,
      media: new InputFile(Buffer.from('p')),
      caption: caption ?? '',
    });
    const album = await api.sendMediaGroup(chat.id, [photo('two'), photo()]);
    assert.equal(album.length, 2);
    const groups = album.map((message) => emulator.message(message)?.mediaGroup);
    assert.ok(groups[0]);
    assert.equal(groups[0], groups[1]);
    await refused(
      api.sendMediaGroup(
        chat.id,
        Array.from({ length: 11 }, () => photo()),
      ),
      400,
      'Bad Request: too many messages to send as an album',
    );
  });

  test('the menu keeps what setMyCommands sent', async () => {
    await api.setMyCommands([{ command: 'help', description: 'What I can do' }]);
    assert.deepEqual(emulator.commandsMenu, [{ command: 'help', description: 'What I can do' }]);
    await refused(
      api.setMyCommands([{ command: 'Not-A-Command', description: 'x' }]),
      400,
      'Bad Request: BOT_COMMAND_INVALID',
    );
  });

  test('a press is answered within 150 s', async () => {
    const sent = await api.sendMessage(chat.id, 'Approve?', { reply_markup: button('yes') });
    const press = emulator.press(alice, sent, 'yes');
    await api.answerCallbackQuery(press.id, { text: 'done', show_alert: true });
    assert.deepEqual(await press.answered(), { text: 'done', alert: true });
    const late = emulator.press(alice, sent, 'yes');
    await clock.advance(150_001);
    await refused(
      api.answerCallbackQuery(late.id),
      400,
      'Bad Request: query is too old and response timeout expired or query ID is invalid',
    );
    assert.throws(() => emulator.press(alice, sent, 'no'), /no button 'no'/);
  });

  test('reactions are emoji of the list, one at a time', async () => {
    const said = emulator.say(chat, alice, 'hello');
    await api.setMessageReaction(chat.id, said.message_id, [{ type: 'emoji', emoji: '👀' }]);
    assert.deepEqual(emulator.message(said)?.reactions, ['👀']);
    await refused(
      api.setMessageReaction(chat.id, said.message_id, [{ type: 'emoji', emoji: 'x' as '👀' }]),
      400,
      'Bad Request: REACTION_INVALID',
    );
  });
});

describe('the server', () => {
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(emulator.url + path, init);
    return [response.status, ((await response.json()) as { description?: string }).description];
  };

  test('knows its token and methods, by any case', async () => {
    assert.deepEqual(await get('/bot1:wrong/getMe'), [401, 'Unauthorized']);
    assert.deepEqual(await get(`/bot${emulator.token}/getNothing`), [404, 'Not Found: method not found']);
    assert.deepEqual(await get('/elsewhere'), [404, 'Not Found']);
    assert.deepEqual(await get(`/bot${emulator.token}/GETME`), [200, undefined]);
  });

  test('takes arguments from query, form and JSON, and refuses broken ones', async () => {
    const path = `/bot${emulator.token}/sendMessage`;
    await get(`${path}?chat_id=${chat.id}&text=query`);
    await get(path, { method: 'POST', body: new URLSearchParams({ chat_id: `${chat.id}`, text: 'form' }) });
    const form = new FormData();
    form.set('chat_id', `${chat.id}`);
    form.set('text', 'multipart');
    await get(path, { method: 'POST', body: form });
    assert.deepEqual(
      emulator
        .visible(chat, { fromBot: true })
        .slice(-3)
        .map(({ text }) => text),
      ['query', 'form', 'multipart'],
    );
    const headers = { 'content-type': 'application/json' };
    assert.deepEqual(await get(path, { method: 'POST', headers, body: '{' }), [
      400,
      "Bad Request: can't parse JSON object",
    ]);
    assert.deepEqual(await get(path, { method: 'POST', headers, body: Buffer.from([0x7b, 0xff]) }), [
      400,
      'Bad Request: strings must be encoded in UTF-8',
    ]);
  });
});
