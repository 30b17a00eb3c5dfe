/** One person's conversation on the chat page: over HTTP as the page does it, sent again until it is accepted. */
import { signIn } from '../support/page_person.ts';
import type { Talk } from './talk.ts';
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

  return {
    chat: name,
    extraPerKillMax: 0,
    async say(text) {
      const message = { id: `${name}-${said.length}-message`, text };
      said.push(message);
      await post(message);
    },
    texts: person.answers,
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
  let look = () => {};
  const follow = async () => {
    while (!abort.signal.aborted) {
      await world.process.ready();
      const { deaths } = world.process;
      try {
        const response = await fetch(`${world.url}/chat/api/events`, { headers, signal: abort.signal });
        for await (const chunk of response.body ?? []) {
          seen += Buffer.from(chunk as Uint8Array).toString('utf8');
          look();
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
      const shown = new Promise<void>((resolve) => {
        look = () => {
          if (seen.includes(text)) resolve();
        };
        look();
      });
      await Promise.race([shown, ended]);
    },
    close: () => abort.abort(),
  };
}
