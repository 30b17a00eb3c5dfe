/** Rules 88 to 94 on the program itself, in a process of its own. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { becomes, readyz } from '../support/becomes.ts';
import { createSite, type GatewayProcess } from './gateway_process.ts';

const bounded = { timeout: 180_000 } as const;

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGTERM');
  assert.equal((await gateway.ended).code, 0);
}

test(
  'R94, R92: status, usage, pair and link reach the running gateway; metrics move; the log tells no words',
  bounded,
  async (t) => {
    const site = await createSite(t);
    const { telegram, model } = site;
    await site.configure({ binding: { access: { direct: 'pairing', rate_limit: 'off' } } });
    const gateway = await site.start();
    assert.match(gateway.out(), /Open the chat page with this link; it works once, within 15 minutes:\n {2}http:\/\//);
    assert.match(gateway.out(), /claim [A-Z0-9-]{20,}/);
    await telegram.call('setMyCommands');

    assert.deepEqual(await (await fetch(`${gateway.url}/healthz`)).json(), { ok: true });
    const ready = async () => {
      const { status, body } = await readyz(gateway.url);
      return [status, body.ready];
    };
    await becomes(ready, [200, true]);

    const bob = telegram.user({ id: 4711, name: 'Bob' });
    const chat = telegram.privateChat(bob);
    telegram.say(chat, bob, 'let me in please');
    const asked = await telegram.waitForMessage(chat, 'I do not know you yet.');
    const list = await site.run('pair', 'list');
    assert.match(list.out, /tg:4711 +Bob/);
    const code = /[A-Z2-9]{8}/.exec(asked.text.split(':').at(-1) ?? '')?.[0] as string;
    const paired = await site.run('pair', code);
    assert.deepEqual([paired.code, paired.out], [0, 'tg:4711 (Bob) may use the bot now.\n']);
    const unknown = await site.run('pair', 'ZZZZZZZZ');
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /no open request has that code; codes are good for one hour/);

    model.script({ text: 'The secret-answer.', usage: { input: 1_000, output: 100 } });
    const message = telegram.say(chat, bob, 'my secret-question');
    await telegram.waitForMessage(chat, 'The secret-answer.');
    telegram.redeliver(message, { newId: true });
    await telegram.idle();

    const status = await site.run('status', '--json');
    const told = JSON.parse(status.out);
    assert.equal(told.pid, gateway.pid);
    assert.equal(told.url, gateway.url);
    assert.deepEqual(told.runs, { active: 0, waiting: 0 });
    assert.deepEqual(
      told.channels.map((channel: { name: string; state: string }) => [channel.name, channel.state]),
      [
        ['tg', 'up'],
        ['page', 'up'],
      ],
    );
    const usage = JSON.parse((await site.run('usage', '--json')).out);
    assert.deepEqual(usage.rows, [
      { agent: 'helper', runs: 1, input: 1_000, cachedInput: 0, output: 100, usd: 0.002, partial: false },
    ]);
    const link = await site.run('link');
    assert.ok(link.out.startsWith(`${gateway.url}/signin`), link.out);
    assert.match(link.out, /\nSigns in as the owner \(page:owner\)\. .*\nThis address works on this machine only; /);
    assert.match(
      (await site.run('link', '--name', 'Zoë B.')).out,
      /\nSigns in as Zoë B\. \(page:zoë-b-[0-9a-f]{8}\)\. /,
    );
    const nobody = await site.run('link', '--name', '?!');
    assert.match(nobody.err, /"\?!" has no letter or digit to make an account of; give the name of a person/);
    assert.equal((await site.run('pair', 'tg:4711', '--admin')).out, 'tg:4711 (Bob) is an admin now.\n');
    const group = await site.run('pair', 'tg:-77', '--admin');
    assert.match(group.err, /tg:-77 is a group, and only a person can be an admin; name an account/);

    assert.equal(await metric(gateway.url, 'gatehouse_inbox_messages_total'), 1);
    assert.equal(await metric(gateway.url, 'gatehouse_inbox_refused_total'), 1);
    assert.equal(await metric(gateway.url, 'gatehouse_inbox_duplicates_total'), 1);
    assert.equal(await metric(gateway.url, 'gatehouse_runs_completed_total'), 1);
    assert.equal(
      await metric(gateway.url, 'gatehouse_outbox_sent_total'),
      3,
      'the code, the answer, and that they were let in',
    );
    assert.equal(await metric(gateway.url, 'gatehouse_outbox_waiting'), 0);

    const ran = gateway.lines().find((line) => line.msg === 'run ended') ?? {};
    assert.deepEqual([ran.channel, ran.level, ran.state], ['tg', 'info', 'completed']);
    assert.match(String(ran.run), /^\w{10,}/);
    assert.match(String(ran.conversation), /^\w{10,}/);
    const everything = gateway.out() + gateway.err();
    for (const hidden of ['secret-question', 'secret-answer', 'let me in', telegram.token, 'test-key-of-the-model'])
      assert.ok(!gateway.err().includes(hidden) && !everything.includes(telegram.token), `the log holds ${hidden}`);
    assert.ok(
      gateway
        .err()
        .split('\n')
        .every((line) => line === '' || line.startsWith('{') || line.includes('config.yaml')),
      gateway.err(),
    );
    await stop(gateway);
    assert.ok(!existsSync(join(site.dataDir, 'control.sock')));
    const late = await site.run('status');
    assert.equal(late.code, 1);
    assert.match(late.err, /start/);
    const offline = await site.run('pair', 'list');
    assert.deepEqual([offline.code, offline.out], [0, 'Nobody is waiting.\n']);
  },
);

test('R89: a reload is used by the next run, removes a channel, and a bad file changes nothing', bounded, async (t) => {
  const site = await createSite(t);
  const { telegram, model } = site;
  await site.configure({ binding: { prompt: 'Answer in rhyme.' } });
  const gateway = await site.start();
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  telegram.say(chat, alice, 'one');
  await telegram.waitForMessage(chat, 'You said: one');
  assert.equal(model.requests[0]?.instructions, 'You help.\n\nAnswer in rhyme.');

  await site.configure({ binding: { prompt: 'Answer in prose.' } });
  const reloaded = await site.run('reload');
  assert.equal(reloaded.code, 0, reloaded.err);
  assert.match(reloaded.out, /The new configuration is in use\.\n$/);
  telegram.say(chat, alice, 'two');
  await telegram.waitForMessage(chat, 'You said: two');
  assert.equal(model.requests[1]?.instructions, 'You help.\n\nAnswer in prose.');
  assert.equal(model.requests[1]?.messages.length, 3, 'the conversation goes on');

  await site.configure({ binding: { promt: 'Answer in Latin.' } });
  const refused = await site.run('reload');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /bindings\[0\]\.promt: unknown key, did you mean "prompt"\?/);
  gateway.signal('SIGHUP');
  const line = await gateway.logged(/was not reloaded, the old one stays/);
  assert.match(String(line.msg), /promt/);
  telegram.say(chat, alice, 'three');
  await telegram.waitForMessage(chat, 'You said: three');
  assert.equal(model.requests[2]?.instructions, 'You help.\n\nAnswer in prose.');

  // The channel is taken out: its bot is not asked for messages any more, the page stays.
  await site.configure({
    channels: { tg: undefined },
    bindings: [{ id: 'page', agent: 'helper', channel: 'page', where: { direct: true } }],
  });
  gateway.signal('SIGHUP');
  await gateway.logged(/the new configuration is in use/);
  await telegram.until('the end of polling', () => telegram.pollsOpen === 0);
  telegram.say(chat, alice, 'four');
  const status = JSON.parse((await site.run('status', '--json')).out);
  assert.deepEqual(
    status.channels.map(({ name }: { name: string }) => name),
    ['page'],
  );
  assert.equal(telegram.pending, 1);

  // And back in: what waited is answered.
  await site.configure();
  gateway.signal('SIGHUP');
  await telegram.waitForMessage(chat, 'You said: four');
  await stop(gateway);
});

test('R8: a wrong token fails the channel alone: /readyz says why, the page works', bounded, async (t) => {
  const site = await createSite(t);
  const { telegram } = site;
  const token = '123456:not-the-right-token';
  await site.configure({ channels: { tg: { type: 'telegram', token, api_url: telegram.url } } });
  const gateway = await site.start();
  await gateway.logged(/channel has failed/);
  // A channel that cannot work does not take the others out of service.
  await becomes(async () => (await readyz(gateway.url)).status, 200);
  const failed = (await readyz(gateway.url)).body.channels.find(({ name }) => name === 'tg');
  assert.equal(failed?.state, 'failed');
  assert.match(failed?.reason ?? '', /Telegram knows no bot with this token .*@BotFather .*channels\.tg\.token/);
  assert.equal((await fetch(`${gateway.url}/readyz?strict`)).status, 503);
  assert.match((await site.run('status')).out, /tg +telegram +failed +Telegram knows no bot/);
  assert.equal(gateway.lines().filter(({ msg }) => msg === 'channel has failed').length, 1, 'said once');
  assert.match(gateway.out(), /^tg is not working: Telegram knows no bot with this token .*@BotFather/m);
  const link = /http:\/\/\S+signin\S+/.exec(gateway.out())?.[0] as string;
  assert.equal((await fetch(link)).status, 200, 'the page can be signed in to');
  assert.ok(!(gateway.err() + gateway.out()).includes(token));
  await stop(gateway);
});

test('R94: stop waits for the end; with an admin the next start says how people are let in', bounded, async (t) => {
  const site = await createSite(t);
  await site.configure();
  const gateway = await site.start();
  await site.run('pair', 'tg:4711', '--admin');
  const stopped = await site.run('stop');
  assert.deepEqual([stopped.code, stopped.out], [0, `The gateway (process ${gateway.pid}) is stopping.\nstopped\n`]);
  assert.throws(() => process.kill(gateway.pid, 0), { code: 'ESRCH' });
  const next = await site.start();
  assert.match(next.out(), /^People who write to a bot get a code; let them in with: gatehouse pair CODE$/m);
  assert.doesNotMatch(next.out(), /claim/);
  await stop(next);
});

test('R88: SIGTERM in the middle of an answer; the next start gives it, once', bounded, async (t) => {
  const site = await createSite(t);
  const { telegram, model } = site;
  await site.configure();
  const first = await site.start();
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  model.script({ text: 'Half and whole.', pieces: ['Half ', 'and whole.'], gate: (n) => (n === 1 ? held : undefined) });
  telegram.say(chat, alice, 'go');
  await telegram.until('a draft', () => telegram.drafts(chat).length > 0);
  first.signal('SIGTERM');
  await first.logged(/stopping/);
  await telegram.until('no more polling', () => telegram.pollsOpen === 0);
  telegram.say(chat, alice, 'said while nobody listens');
  // The run reaches its next persisted step, which is its end.
  release();
  assert.equal((await first.ended).code, 0);
  await telegram.waitForMessage(chat, 'Half and whole.');
  const second = await site.start();
  await telegram.waitForMessage(chat, 'You said: said while nobody listens');
  await telegram.idle();
  assert.deepEqual(
    telegram.visible(chat, { fromBot: true }).map(({ text }) => text),
    ['Half and whole.', 'You said: said while nobody listens'],
  );
  await stop(second);
});
