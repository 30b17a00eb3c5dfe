/** The suite's stage on the chat page: people who are signed in, over HTTP as the page does it. */
import type { TestContext } from 'node:test';
import { pageAccountOf } from '../../src/http/page_account.ts';
import type { Tool } from '../../src/types/tool.ts';
import { passTime } from '../end_to_end/world.ts';
import { type Answer, ask } from '../support/ask.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { codeOf as codeOfLink, cookieOf, redeem } from '../support/page_person.ts';
import { actsCapability, actTools, capabilityId } from './acts.ts';
import { answerOf } from './asking.ts';
import { letEnd } from './passing.ts';
import { quietRows } from './quiet.ts';
import type { ApprovalStage, Match, Ran, Scene, SceneOptions, Shown, Wait, Where, Who } from './stage.ts';

const names: Record<Who, string> = { requester: 'Rita', member: 'Mo', admin: 'Ada', stranger: 'Sten' };
const everybody = ['requester', 'member', 'admin', 'stranger'] as const;
const seesMs = 20_000;
const pauseMs = 10;

const noReply = 'the page has no replies: its lines stand in one order';
const noForward = 'the page has nothing to forward from';
const noEdit = 'people cannot edit a line of the page';
const ownTime = 'the page stamps lines itself, and the card is in its own store';
const noPlatform = 'there is no platform behind the page that could refuse a message';
const noLanguage = 'the page does not tell which language somebody reads';
const allFull = 'whoever is signed in on the page is a full member';
const ownChat = 'everybody has a chat of their own on the page and presses there';

export const webStage: ApprovalStage = {
  places: ['direct'],
  cannot: {
    'R44: a reply to the card that is no yes or no is chat': noReply,
    'R44: a forwarded yes decides nothing': noForward,
    'R44: a message that is edited into a yes decides nothing': noEdit,
    'R44: a yes from before the card, by the time of the platform, is chat': ownTime,
    'R46, A11: a press on a forwarded copy of the card changes nothing': noForward,
    'R46, A11: a press as if the card stood in another chat changes nothing': ownChat,
    'R47, A6, A7: a stranger who was never sent the card is refused': ownChat,
    'R51: a card that cannot be delivered leaves the question open, and is sent again': noPlatform,
    'R51: a question whose card is lost is decided by its code': noPlatform,
    'R3: editing the message withdraws the question, and the run goes on with the new words': noEdit,
    'R49: the card is in the language of who asked, with the English names of the buttons': noLanguage,
    'R40, R57: a requester who could not sign is not one of two': allFull,
    'R56: a reply to the card is a free answer, whatever it says': noReply,
    'R56: a reply to a card with several open questions answers none and lists their codes': noReply,
    'R56, R52: a question outlives a restart': noReply,
  },
  open: openScene,
};

interface Line {
  seq: number;
  key: string;
  who: 'me' | 'bot';
  at: number;
  html: string;
}

async function openScene(t: TestContext, where: Where, options: SceneOptions): Promise<Scene> {
  const clock = options.timed ? createFakeClock() : undefined;
  const settle = <T>(wanted: Promise<T>): Promise<T> => (clock ? passTime(clock, wanted) : wanted);
  const ended = clock ? letEnd(t, clock) : () => {};
  const ran: Ran[] = [];
  let tools: Tool[] = (options.tools ?? actTools)(ran);
  const world: TestGateway = await settle(
    startTestGateway(t, {
      ...(options.hooks ? { hooks: options.hooks } : {}),
      ...(clock ? { clock, telegram: { clock } } : {}),
      capabilities: [actsCapability(() => tools)],
      config: configOf(options) ?? {},
    }),
  );
  t.after(ended);
  const { model } = world;
  model.respond(answerOf);
  const url = () => world.gateway.url;
  const idOf = (who: Who) => world.gateway.whoSignsIn(names[who]).userId;
  const cookies = new Map<Who, string>();
  let serial = 0;

  async function request(who: Who, method: string, path: string, body?: object): Promise<Answer> {
    let cookie = cookies.get(who);
    if (cookie === undefined) {
      cookie = cookieOf(await redeem(url(), codeOfLink(await world.gateway.signInLink(names[who]))));
      cookies.set(who, cookie);
    }
    return ask(`${url()}/chat/api/${path}`, {
      method,
      headers: { host: new URL(url()).host, origin: url(), cookie: cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** What the page shows this person of the bot, oldest first. */
  async function seen(who: Who): Promise<PageShown[]> {
    const lines = JSON.parse((await request(who, 'GET', 'messages?after=0')).text) as Line[];
    return lines
      .filter((line) => line.who === 'bot')
      .sort((left, right) => left.at - right.at || left.seq - right.seq)
      .map((line) => shownOf(line, idOf(who)));
  }

  const last = new Map<string, PageShown>();
  async function look(who: Who): Promise<PageShown[]> {
    const shown = await seen(who);
    for (const one of shown) {
      const known = last.get(one.id);
      const isChanged = known !== undefined && (known.text !== one.text || known.buttons.join() !== one.buttons.join());
      one.edits = (known?.edits ?? 0) + (isChanged ? 1 : 0);
      last.set(one.id, one);
    }
    return shown;
  }

  async function until(
    who: Who,
    what: string,
    find: (shown: PageShown[]) => PageShown | undefined,
  ): Promise<PageShown> {
    const end = performance.now() + seesMs;
    for (;;) {
      const shown = await look(who);
      const found = find(shown);
      if (found) return found;
      if (performance.now() > end)
        throw new Error(`the page of ${who} does not show ${what}: ${JSON.stringify(shown.map(({ text }) => text))}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  const whose = (wait?: Wait): Who => wait?.of ?? 'requester';
  const holder = (shown: Shown): Who => everybody.find((who) => idOf(who) === shown.chat) ?? 'requester';
  const same = (shown: Shown) => (all: PageShown[]) => all.find(({ id }) => id === shown.id);
  const posts = new Map<Who, Promise<void>>();
  const post = (who: Who, text: string) => {
    const id = `message-${++serial}-of-this-test`;
    const before = posts.get(who) ?? Promise.resolve();
    const posted = before.then(async () => {
      const { status } = await request(who, 'POST', 'messages', { id, text });
      if (status !== 202) throw new Error(`the page was answered ${status}`);
    });
    posted.catch(() => {});
    posts.set(who, posted);
  };
  async function pressing(who: Who, on: Shown, data: string): Promise<string> {
    const id = `press-${++serial}-of-this-test`;
    for (;;) {
      const answer = await request(who, 'POST', 'presses', { id, ref: last.get(on.id)?.ref ?? '1:unknown', data });
      if (answer.status === 200) return (JSON.parse(answer.text) as { notice: string | null }).notice ?? '';
      // As any API answers what cannot be a press.
      if (answer.status !== 503) throw new Error(`the press was answered ${answer.status}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  const cannot = (what: string): never => {
    throw new Error(`the page has no ${what}`);
  };
  const quietOnce = async () => {
    await Promise.all(posts.values());
    await quietRows(() => world.gateway.db);
    for (const who of everybody) if (cookies.has(who)) await look(who);
  };

  const scene: Scene = {
    model,
    ran,
    where,
    replies: false,
    account: (who) => `page:${idOf(who)}`,
    name: (who) => names[who],
    ask(text) {
      post('requester', text);
      return { written: null };
    },
    say(who, text, { to, forwarded, agoMs, anonymous } = {}) {
      if (to || forwarded || agoMs !== undefined || anonymous) cannot('such messages');
      post(who, text);
      return { written: null };
    },
    edit: () => cannot('edits'),
    card: (match = '', wait) =>
      settle(
        until(whose(wait), `a card ${match}`, (all) =>
          all.find((one) => one.buttons.length > 0 && fits(one.text, match)),
        ),
      ),
    sees: (match, wait) => settle(until(whose(wait), `${match}`, (all) => all.find((one) => fits(one.text, match)))),
    now: (shown) => last.get(shown.id) ?? shown,
    closed: (shown) =>
      settle(
        until(holder(shown), 'a card without buttons', (all) => {
          const found = same(shown)(all);
          return found?.buttons.length === 0 ? found : undefined;
        }),
      ),
    becomes: (shown, match) =>
      settle(
        until(holder(shown), `a card with ${match}`, (all) => {
          const found = same(shown)(all);
          return found && match.test(found.text) ? found : undefined;
        }),
      ),
    texts: (wait) => [...last.values()].filter(({ chat }) => chat === idOf(whose(wait))).map(({ text }) => text),
    live: (shown) => last.get(shown.id)?.links ?? [],
    refusedMessages: () => 0,
    press: (who, shown, label) => settle(pressing(who, shown, scene.now(shown).data(label))),
    pressData: (who, on, data) => settle(pressing(who, on, data)),
    pressForwarded: () => cannot('forwards'),
    pressTogether: (presses, shown) =>
      settle(Promise.all(presses.map(([who, label]) => pressing(who, shown, shown.data(label))))),
    // Nobody stands in somebody else's chat anyway.
    setMember: () => {},
    hideMembers: () => cannot('members'),
    refuseMessages: () => cannot('platform that refuses'),
    quiet: () => settle(quietOnce()),
    async restart(changes, downMs = 0) {
      if (downMs > 0) {
        await settle(world.stop());
        await clock?.advance(downMs);
      }
      await settle(world.restart(changes));
      // Another port, and cookies are of one.
      cookies.clear();
    },
    reload: (changes) => settle(world.reload(changes)),
    setTools(make) {
      tools = make(ran);
    },
    async later(ms) {
      if (!clock) throw new Error('only a timed scene has time to pass');
      await clock.advance(ms);
    },
    change: async (sql) => {
      await world.gateway.db.run(sql);
    },
    rows: (sql) => world.gateway.db.all(sql),
  };
  for (const who of ['member', 'admin'] as const) {
    post(who, '/whoami');
    await scene.sees(names[who], { of: who });
  }
  return scene;
}

function fits(text: string, match: Match): boolean {
  if (typeof match === 'function') return match(text);
  return typeof match === 'string' ? text.includes(match) : match.test(text);
}

interface PageShown extends Shown {
  /** What the page sends back with a press. */
  ref: string;
  links: string[];
}

function shownOf({ key, at, html }: Line, chat: string): PageShown {
  const prose = /<div class="prose">([\s\S]*?)<\/div>(?:<div class="choices"|<footer>)/.exec(html)?.[1] ?? '';
  const buttons = [...html.matchAll(/<button [^>]*data-press="([^"]*)">(.*?)<\/button>/g)].map(([, data, label]) => ({
    data: unescaped(data!),
    label: unescaped(label!),
  }));
  return {
    id: `${chat} ${key}`,
    chat,
    // As the page had it when the line still had buttons.
    ref: `${at}:${key}`,
    text: wordsOf(prose),
    links: [...prose.matchAll(/<a /g)].map(() => 'link'),
    buttons: buttons.map(({ label }) => label),
    data(label) {
      const found = buttons.find((button) => button.label === label);
      if (!found) throw new Error(`there is no button ${label} on: ${wordsOf(prose)}`);
      return found.data;
    },
    edits: 0,
  };
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** As somebody reads it: numbers of lists stand before their items, blocks are apart. */
function wordsOf(html: string): string {
  let number = 1;
  const text = html
    .replace(/<button[^>]*>.*?<\/button>/g, '')
    .replace(/<ol(?: start="(\d+)")?>|<li>/g, (tag, start?: string) => {
      if (tag === '<li>') return `${number++}. `;
      number = Number(start ?? 1);
      return '';
    })
    .replace(/<br>\n?/g, '\n')
    .replace(/<\/(?:p|pre|ol|ul)>\s*/g, '\n\n')
    .replace(/<\/li>\s*/g, '\n')
    .replace(/<[^>]*>/g, '');
  return unescaped(text)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function configOf({ approvals, config = {}, noAdmin }: SceneOptions): TestGatewayOptions['config'] {
  const { binding, ...rest } = config;
  return {
    ...rest,
    ...(noAdmin ? {} : { admins: [`page:${pageAccountOf(names.admin).userId}`] }),
    agent: { capabilities: [{ id: capabilityId }], ...config.agent },
    bindings: [
      {
        id: 'page',
        agent: 'helper',
        channel: 'page',
        where: { direct: true },
        access: { direct: 'open', rate_limit: 'off' },
        stream: false,
        ...(approvals ? { approvals } : {}),
        ...binding,
      },
    ],
  };
}
