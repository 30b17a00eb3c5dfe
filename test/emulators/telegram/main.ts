import type http from 'node:http';
import { parseArgs } from 'node:util';
import { type SayOptions, startTelegramEmulator, type TelegramEmulator } from './index.ts';

/*
 * The emulator as a program, for manual trials:
 *   node test/emulators/telegram/main.ts --port 8081
 *   curl -d '{"user":"Alice","text":"hello"}' http://127.0.0.1:8081/control/say
 *   curl http://127.0.0.1:8081/control/messages?user=Alice
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8081' },
    token: { type: 'string' },
    limits: { type: 'boolean', default: false },
    'privacy-off': { type: 'boolean', default: false },
  },
});
const bodyCharsMax = 1_000_000;

type Controls = Record<string, unknown>;
const people = new Map<string, ReturnType<TelegramEmulator['user']>>();
const rooms = new Map<string, ReturnType<TelegramEmulator['group']>>();

/** `user` is a name; `chat` the title of a group made before, or absent for the private chat. */
const verbs: Record<string, (input: Controls) => unknown> = {
  say({ user, chat, text, ...options }) {
    const person = personOf(String(user ?? 'Alice'));
    return emulator.say(chatOf(chat, person), person, String(text ?? ''), options as SayOptions);
  },
  group({ title, type, forum, admin }) {
    const name = String(title ?? 'Group');
    const room = emulator.group({
      title: name,
      type: type === 'supergroup' ? 'supergroup' : 'group',
      forum: forum === true,
      botIsAdmin: admin === true,
      bot: 'left',
    });
    rooms.set(name, room);
    emulator.addBot(room, personOf('Alice'), { admin: admin === true });
    return room;
  },
  topic: ({ chat, name, user }) => {
    const person = personOf(String(user ?? 'Alice'));
    return { thread: emulator.topic(chatOf(chat, person), person, String(name ?? 'topic')) };
  },
  press({ user, chat, message, data }) {
    const person = personOf(String(user ?? 'Alice'));
    const place = chatOf(chat, person);
    return { id: emulator.press(person, { chat: place, message_id: Number(message) }, String(data)).id };
  },
  edit({ user, chat, message, text }) {
    const place = chatOf(chat, personOf(String(user ?? 'Alice')));
    return emulator.editMessage({ chat: place, message_id: Number(message) }, String(text));
  },
  raw: (input) => ({ update_id: emulator.pushRaw(input) }),
  messages({ user, chat }) {
    const place = chatOf(chat, personOf(String(user ?? 'Alice')));
    return emulator.messages(place).map(({ id, from, text, entities, buttons, thread }) => ({
      id,
      from: from?.first_name,
      text,
      entities,
      buttons,
      thread,
    }));
  },
  calls: () => emulator.calls.slice(-100),
};

function personOf(name: string) {
  const known = people.get(name);
  if (known) return known;
  const person = emulator.user({ name, username: name.toLowerCase() });
  people.set(name, person);
  return person;
}

function chatOf(chat: unknown, person: ReturnType<typeof personOf>) {
  if (chat === undefined) return emulator.privateChat(person);
  const room = rooms.get(String(chat));
  if (!room) throw new Error(`no group '${String(chat)}'; make it with /control/group`);
  return room;
}

function control(request: http.IncomingMessage, response: http.ServerResponse): boolean {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const verb = verbs[url.pathname.replace('/control/', '')];
  if (!url.pathname.startsWith('/control/') || !verb) return false;
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => {
    if (body.length < bodyCharsMax) body += piece;
  });
  request.on('end', () => {
    let status = 200;
    let outcome: unknown;
    try {
      outcome = verb({ ...Object.fromEntries(url.searchParams), ...(body ? JSON.parse(body) : {}) });
    } catch (error) {
      status = 400;
      outcome = { error: String(error) };
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(outcome, null, 1)}\n`);
  });
  return true;
}

const emulator = await startTelegramEmulator({
  port: Number(values.port),
  ...(values.token && { token: values.token }),
  limits: values.limits ? 'enforce' : 'off',
  privacy: !values['privacy-off'],
  other: control,
});
console.log(
  `url   ${emulator.url}\ntoken ${emulator.token}\nverbs ${Object.keys(verbs).join(' ')} at ${emulator.url}/control/`,
);
