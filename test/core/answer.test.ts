import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestGateway } from '../support/gateway.ts';

test('a message gets an answer, once', async (t) => {
  const { telegram, model } = await startTestGateway(t);
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  model.script({ text: 'Hello **Alice**.' });
  telegram.say(chat, alice, 'hi there');
  const answer = await telegram.waitForMessage(chat, 'Hello Alice.');
  assert.deepEqual(answer.entities, [{ type: 'bold', offset: 6, length: 5 }]);
  const request = await model.request(1);
  assert.equal(request.instructions, 'You help.');
  assert.equal(request.messages.at(-1)?.text, 'hi there');
  telegram.say(chat, alice, 'and again');
  await model.request(2);
  await telegram.waitForMessage(chat, 'You said: and again');
  assert.deepEqual(
    model.requests[1]?.messages.map((message) => [message.role, message.text]),
    [
      ['user', 'hi there'],
      ['assistant', 'Hello **Alice**.'],
      ['user', 'and again'],
    ],
  );
  await telegram.idle();
  assert.equal(telegram.visible(chat, { fromBot: true }).length, 2);
});

test('tools run and their results reach the model; store values persist', async (t) => {
  const { telegram, model } = await startTestGateway(t);
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  model.script(
    { text: 'One moment.', calls: [{ name: 'store_set', input: { key: 'colour', value: 'green' } }] },
    {
      calls: [
        { name: 'store_get', input: { key: 'colour' } },
        { name: 'store_list', input: {} },
      ],
    },
    { text: 'It is green.' },
  );
  telegram.say(chat, alice, 'remember green');
  await telegram.waitForMessage(chat, 'It is green.');
  const last = model.requests[2]?.messages.filter((message) => message.role === 'tool');
  assert.deepEqual(last?.flatMap((message) => message.results.map((result) => result.text)).slice(-2), [
    'green',
    '{"colour":"green"}',
  ]);
});
