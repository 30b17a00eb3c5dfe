/** One person's conversation on the chat page: over HTTP as the page does it, sent again until it is accepted. */
import { signIn } from '../support/page_person.ts';
import { codeOn, isCard, reasonOfNo, type Talk } from './talk.ts';
import type { World } from './world.ts';

export async function openPageTalk(world: World, name: string): Promise<Talk> {
  const { url, process: gateway } = world;
  const signedIn = await gateway.ask({ ask: 'sign_in', name });
  const person = await signIn(url, String(signedIn?.reply));
  const said: { id: string; text: string }[] = [];
  const screen = openScreen(world, { cookie: person.cookie });

  async function post(message: { id: string; text: string }): Promise<void> {
    for (;;) {
      await gateway.ready();
      const { deaths } = gateway;
      const answer = await person.post(message).catch(() => null);
      if (answer?.status === 202) return;
      if (answer) throw new Error(`a message was answered ${answer.status}: ${answer.text}`);
      // The process is dead or dying: the page tries again when there is one.
      if (gateway.deaths === deaths) await gateway.died();
    }
  }

  async function say(text: string): Promise<void> {
    const message = { id: `${name}-${said.length}-message`, text };
    said.push(message);
    await post(message);
  }

  /** What the page shows when there is a process to ask. */
  async function answers(): Promise<string[]> {
    for (;;) {
      await gateway.ready();
      const { deaths } = gateway;
      const shown = await person.answers().catch(() => null);
      if (shown) return shown;
      if (gateway.deaths === deaths) await gateway.died();
    }
  }

  const cards = async () => (await answers()).filter(isCard);
  return {
    chat: name,
    extraPerKillMax: 0,
    say,
    texts: async () => (await answers()).filter((text) => !isCard(text)),
    cards: async () => (await cards()).map((text) => ({ text, open: /needs? (your )?approval/i.test(text) })),
    seesCard: () => screen.shows('ask_line', new Promise(() => {})),
    async decides() {
      const card = (await cards()).at(-1) ?? '';
      await say(`yes ${codeOn(card, 1)}`);
      await say(`no ${codeOn(card, 2)}, because ${reasonOfNo}`);
    },
    shows: screen.shows,
    async sayAgain() {
      for (const message of said) await post(message);
    },
    changes: async () => Math.max(0, ...(await person.lines()).map((line) => line.seq)),
    close: screen.close,
  };
}

/** The event stream of an open page, connected again after every death. */
function openScreen(world: World, headers: Record<string, string>) {
  const abort = new AbortController();
  let seen = '';
  const lookers = new Set<() => void>();
  const follow = async () => {
    while (!abort.signal.aborted) {
      await world.process.ready();
      const { deaths } = world.process;
      try {
        const response = await fetch(`${world.url}/chat/api/events`, { headers, signal: abort.signal });
        for await (const chunk of response.body ?? []) {
          seen += Buffer.from(chunk as Uint8Array).toString('utf8');
          for (const look of lookers) look();
        }
      } catch {
        // Cut off by a death, or closed by us.
      }
      if (!abort.signal.aborted && world.process.deaths === deaths) await world.process.died();
    }
  };
  follow().catch(() => {});
  return {
    async shows(text: string, ended: Promise<unknown>): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => {
        if (seen.includes(text)) resolve();
      };
      lookers.add(look);
      look();
      await Promise.race([promise, ended]).finally(() => lookers.delete(look));
    },
    close: () => abort.abort(),
  };
}
