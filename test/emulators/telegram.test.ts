/** Limits and error texts of the Bot API emulator, asked by the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Api, GrammyError, InputFile } from 'grammy';
import { createFakeClock } from '../support/fake_clock.ts';
import { type Chat, startTelegramEmulator, type TelegramEmulator, type User } from './telegram/index.ts';

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

async function refused(call: Promise<unknown>, code: number, description: string): Promise<GrammyError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof GrammyError, String(error));
    assert.deepEqual([error.error_code, error.description], [code, description]);
    return error;
  }
  assert.fail(`expected ${code} ${description}`);
}

const button = (data: string) => ({ inline_keyboard: [[{ text: 'Go', callback_data: data }]] });

describe('texts', () => {
  test('4096 code points pass and 4097 do not, whatever their UTF-16 length', async () => {
    const sent = await api.sendMessage(chat.id, '😀'.repeat(4096));
    assert.equal(sent.text?.length, 8192);
    await refused(api.sendMessage(chat.id, 'a'.repeat(4097)), 400, 'Bad Request: message is too long');
  });

  test('the limit counts after parsing', async () => {
    const sent = await api.sendMessage(chat.id, `<b>${'a'.repeat(4096)}</b>`, { parse_mode: 'HTML' });
    assert.equal(sent.text?.length, 4096);
  });

  test('more than 32,768 raw bytes are refused before anything else', async () => {
    await refused(api.sendMessage(chat.id, 'é'.repeat(16_385)), 400, 'Bad Request: text is too long');
  });

  test('empty and blank texts are refused', async () => {
    await refused(api.sendMessage(chat.id, ''), 400, 'Bad Request: message text is empty');
    await refused(api.sendMessage(chat.id, ' \n '), 400, 'Bad Request: message text is empty');
  });

  test('captions end at 1024', async () => {
    const file = () => new InputFile(Buffer.from('x'), 'x.txt');
    const sent = await api.sendDocument(chat.id, file(), { caption: 'c'.repeat(1024) });
    assert.equal(sent.caption?.length, 1024);
    await refused(
      api.sendDocument(chat.id, file(), { caption: 'c'.repeat(1025) }),
      400,
      'Bad Request: message caption is too long',
    );
  });

  test('texts are trimmed and entities move with them', async () => {
    const entities = [{ type: 'bold' as const, offset: 2, length: 6 }];
    const sent = await api.sendMessage(chat.id, '  bold  ', { entities });
    assert.equal(sent.text, 'bold');
    assert.deepEqual(sent.entities, [{ type: 'bold', offset: 0, length: 4 }]);
  });

  test('a lone surrogate is not UTF-8', async () => {
    await refused(api.sendMessage(chat.id, 'a\ud800'), 400, 'Bad Request: strings must be encoded in UTF-8');
  });
});

describe('entities', () => {
  const send = (text: string, ...entities: [string, number, number][]) =>
    api.sendMessage(chat.id, text, {
      entities: entities.map(([type, offset, length]) => ({ type: type as 'bold', offset, length })),
    });

  test('must end inside the text, counted in UTF-16 units', async () => {
    assert.deepEqual((await send('😀x', ['bold', 0, 3])).entities, [{ type: 'bold', offset: 0, length: 3 }]);
    await refused(
      send('😀x', ['bold', 0, 4]),
      400,
      'Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 4',
    );
    await refused(
      send('abc', ['bold', 5, 1]),
      400,
      'Bad Request: entity begins after the end of the text at UTF-16 offset 5',
    );
  });

  test('must not cut a surrogate pair', async () => {
    await refused(
      send('a😀b', ['bold', 2, 2]),
      400,
      'Bad Request: entity begins in a middle of a UTF-16 symbol at byte offset 5',
    );
    await refused(
      send('a😀b', ['bold', 0, 2]),
      400,
      'Bad Request: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 5',
    );
  });

  test('may nest; where they cross they are split, and the test is warned', async () => {
    const nested = await send('abcdef', ['bold', 0, 6], ['italic', 1, 3]);
    assert.deepEqual(nested.entities, [
      { type: 'bold', offset: 0, length: 6 },
      { type: 'italic', offset: 1, length: 3 },
    ]);
    const before = emulator.warnings.length;
    const crossing = await send('abcdefghijkl', ['bold', 0, 6], ['italic', 3, 9]);
    assert.deepEqual(crossing.entities, [
      { type: 'bold', offset: 0, length: 6 },
      { type: 'italic', offset: 3, length: 3 },
      { type: 'italic', offset: 6, length: 6 },
    ]);
    assert.deepEqual(emulator.warnings.slice(before), ['italic crosses another entity and was split']);
  });

  test('inside code nothing survives, and the test is warned', async () => {
    const before = emulator.warnings.length;
    const sent = await send('ab code cd', ['bold', 0, 10], ['code', 3, 4]);
    assert.deepEqual(sent.entities, [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'code', offset: 3, length: 4 },
      { type: 'bold', offset: 7, length: 3 },
    ]);
    assert.deepEqual(emulator.warnings.slice(before), ['bold was cut out of code']);
  });

  test('have known types and real links', async () => {
    await refused(
      send('abc', ['sparkle', 0, 1]),
      400,
      "Bad Request: can't parse MessageEntity: Unsupported type specified",
    );
    await refused(
      api.sendMessage(chat.id, 'x', { entities: [{ type: 'text_link', offset: 0, length: 1, url: 'localhost' }] }),
      400,
      "Bad Request: entity URL 'localhost' is invalid: Wrong HTTP URL",
    );
  });

  test('plain mentions, links and commands of the bot are live', async () => {
    const sent = await api.sendMessage(chat.id, '@alice see https://example.org/a. /start');
    assert.deepEqual(sent.entities, [
      { type: 'mention', offset: 0, length: 6 },
      { type: 'url', offset: 11, length: 21 },
      { type: 'bot_command', offset: 34, length: 6 },
    ]);
    const seen = emulator.message(sent);
    assert.deepEqual(seen?.entities, []);
    assert.equal(seen?.detected.length, 3);
  });
});

describe('markup', () => {
  const cases: [string, 'MarkdownV2' | 'HTML', string][] = [
    ['a.b', 'MarkdownV2', "Character '.' is reserved and must be escaped with the preceding '\\'"],
    ['é*bold', 'MarkdownV2', "Can't find end of Bold entity at byte offset 2"],
    ['>*a\nb*', 'MarkdownV2', "Can't find end of Bold entity at byte offset 1"],
    ['[a](https://x.org', 'MarkdownV2', "Can't find end of a URL at byte offset 4"],
    ['é<x>a</x>', 'HTML', 'Unsupported start tag "x" at byte offset 2'],
    ['<b>a', 'HTML', 'Can\'t find end tag corresponding to start tag "b"'],
    ['<b>a</i>', 'HTML', 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'],
    ['a</b>', 'HTML', 'Unexpected end tag at byte offset 1'],
    ['2 < 3', 'HTML', 'Unsupported start tag "" at byte offset 2'],
    ['a <b', 'HTML', 'Unclosed start tag at byte offset 2'],
  ];
  for (const [text, parse_mode, problem] of cases) {
    test(`${parse_mode} ${JSON.stringify(text)} is refused`, async () => {
      await refused(
        api.sendMessage(chat.id, text, { parse_mode }),
        400,
        `Bad Request: can't parse entities: ${problem}`,
      );
    });
  }

  test('good MarkdownV2 and HTML give the same message', async () => {
    const markdown = '*b _i_* `c` [l](example.org) \\!\n>q\n>r\n```js\nx<y```';
    const html =
      '<b>b <i>i</i></b> <code>c</code> <a href="example.org">l</a> !\n' +
      '<blockquote>q\nr\n</blockquote><pre><code class="language-js">x&lt;y</code></pre>';
    const expected = [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 2, length: 1 },
      { type: 'code', offset: 4, length: 1 },
      { type: 'text_link', offset: 6, length: 1, url: 'http://example.org/' },
      { type: 'blockquote', offset: 10, length: 4 },
      { type: 'pre', offset: 14, length: 3, language: 'js' },
    ];
    for (const [text, parse_mode] of [
      [markdown, 'MarkdownV2'],
      [html, 'HTML'],
    ] as const) {
      const sent = await api.sendMessage(chat.id, text, { parse_mode });
      assert.equal(sent.text, 'b i c l !\nq\nr\nx<y');
      assert.deepEqual(sent.entities, expected);
    }
  });
});

describe('keyboards', () => {
  test('callback_data has 1 to 64 bytes', async () => {
    await api.sendMessage(chat.id, 'x', { reply_markup: button('é'.repeat(32)) });
    for (const data of ['', 'a'.repeat(65), 'é'.repeat(33)]) {
      await refused(
        api.sendMessage(chat.id, 'x', { reply_markup: button(data) }),
        400,
        'Bad Request: BUTTON_DATA_INVALID',
      );
    }
  });

  test('100 buttons are enough', async () => {
    const rows = (count: number) => ({
      inline_keyboard: Array.from({ length: count }, (_, index) => [{ text: 'b', callback_data: `${index}` }]),
    });
    await api.sendMessage(chat.id, 'x', { reply_markup: rows(100) });
    await refused(
      api.sendMessage(chat.id, 'x', { reply_markup: rows(101) }),
      400,
      'Bad Request: reply markup is too long',
    );
  });
});

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
