import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/types/json.ts';
import type { SeenRequest } from '../emulators/model_server.ts';
import { bounded, callsOf, lastWords, room, said, startTimedWorld, startWorld } from './world.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const images = (request: SeenRequest | undefined) => request?.messages.at(-1)?.images ?? 0;

test('Z144: a corrupt image does not fail the turn; the model and the reader are told', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script({ text: 'I cannot see it.' });
  telegram.say(chat, alice, 'what is this?', { photo: { bytes: 'this is no picture' } });
  const answer = await telegram.waitForMessage(chat, 'I cannot see it.');
  assert.equal(images(model.requests[0]), 0);
  assert.match(lastWords(model.requests[0]), /^what is this\?\n\n\[photo_\d+\.jpg: I cannot read this kind yet\]$/);
  assert.match(answer.text, /I could not read: photo_\d+\.jpg: I cannot read this kind yet\.$/);
});

test('Z144: a good image beside the bad one reaches the model', bounded, async (t) => {
  const { telegram, model, alice, chat, pass } = await startTimedWorld(t);
  telegram.album(chat, alice, [{ bytes: png }, { bytes: 'broken' }], { caption: 'both?' });
  const request = await pass(model.request(1));
  assert.equal(images(request), 1);
  const sent = JSON.stringify((request.raw as JsonObject).messages);
  assert.ok(sent.includes(png.toString('base64')), 'byte for byte');
});

test('Z145: a file over 20 MB is named and its caption is answered', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  telegram.say(chat, alice, 'please sum this up', {
    document: { size: 25 * 1024 * 1024, name: 'report.csv', mime: 'text/csv' },
  });
  await telegram.waitForMessage(chat, 'I could not read: report.csv: it is too large.');
  assert.equal(lastWords(model.requests[0]), 'please sum this up\n\n[report.csv: it is too large]');
  assert.deepEqual(callsOf(telegram, 'getFile'), [], 'not even asked for');
});

test('Z145: a file whose size only the server knows is refused there and named', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  telegram.fault({ method: 'getFile', do: 'error', code: 400, description: 'Bad Request: file is too big' });
  telegram.say(chat, alice, 'and this?', { document: { bytes: 'a,b', name: 'report.csv', mime: 'text/csv' } });
  await telegram.waitForMessage(chat, 'I could not read: report.csv: it is too large.');
  assert.equal(lastWords(model.requests[0]), 'and this?\n\n[report.csv: it is too large]');
});

test('Z146: voice, audio and video notes without words are always answered', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  telegram.say(chat, alice, '', { voice: { bytes: 'ogg' } });
  await telegram.waitForMessage(chat, 'I cannot listen to voice messages yet. Please write it down.');
  telegram.say(chat, alice, '', { audio: { bytes: 'mp3', name: 'song.mp3' } });
  await telegram.until('a second line', () => said(telegram, chat).length === 2);
  assert.equal(model.requests.length, 0);
  telegram.say(chat, alice, '', { videoNote: { bytes: 'mp4' } });
  await telegram.until('an answer', () => said(telegram, chat).length === 3);
  assert.match(lastWords(model.requests[0]), /^\[video_note_\d+\.mp4: I cannot read this kind yet\]$/);
});

test('Z147: a voice message with a caption is one turn with both', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  model.script({ text: 'I read the caption.' });
  telegram.say(chat, alice, 'the meeting', { voice: { bytes: 'ogg' } });
  const answer = await telegram.waitForMessage(chat, 'I read the caption.');
  assert.match(lastWords(model.requests[0]), /^the meeting\n\n\[voice_\d+\.ogg: I cannot listen to it yet\]$/);
  assert.match(answer.text, /I could not read: voice_\d+\.ogg: I cannot listen to it yet\.$/);
  assert.equal(model.requests.length, 1);
});

test('R82: a text file goes into the prompt; names are cleaned', bounded, async (t) => {
  const { telegram, model, alice, chat } = await startWorld(t);
  telegram.say(chat, alice, 'read', {
    document: { bytes: 'alpha,beta\n1,2\n', name: '../../etc/pass\u202ewd.csv', mime: 'text/csv' },
  });
  await model.request(1);
  const words = lastWords(model.requests[0]);
  assert.match(words, /^read\n\n\[file [^/\u202e]+\]\nalpha,beta\n1,2\n?$/);
});

test('Z146: in a group a voice message is for the bot only as a reply to it', bounded, async (t) => {
  const id = -1001000000001;
  const { telegram, alice } = await startWorld(t, {
    config: { binding: room([id]) },
    telegram: { privacy: false },
  });
  const group = telegram.group({ id, members: [alice] });
  telegram.say(group, alice, '', { voice: { bytes: 'ogg' } });
  telegram.say(group, alice, '@gate_bot hi');
  const answer = await telegram.waitForMessage(group, 'You said');
  telegram.say(group, alice, '', { voice: { bytes: 'ogg' }, replyTo: { message_id: answer.id, chat: group } });
  await telegram.waitForMessage(group, 'I cannot listen to voice messages yet.');
  assert.equal(said(telegram, group).length, 2);
});
