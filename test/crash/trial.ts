/** One conversation with its kills, and what was seen of it. Judges nothing: `invariants.ts` does. */
import type { SeenRequest } from '../emulators/model_server.ts';
import type { Counts, KillPoint } from './kill_point.ts';
import { type CardSeen, deniedLine, idsIn, messageOf, type Talk } from './talk.ts';
import type { World } from './world.ts';

export interface Trial {
  /** As `GATEHOUSE_KILL` names it: the kind of conversation and its kill points. */
  name: string;
  talk: Talk;
  /** What the person said, by id, in order. */
  ids: string[];
  deaths: Death[];
  texts: string[];
  /** Of a trial in which people are asked, else empty. */
  cards: CardSeen[];
  approvals: { state: string; reason: string | null; decisions: number }[];
  /** How often what was denied was done all the same. */
  deniedWritten: number;
  /** Model requests about these messages, in order of arrival. */
  requests: SeenRequest[];
  /** By id: how often the tool that must not run twice wrote it. */
  written: Record<string, number>;
  /** Runs of this chat's conversations. */
  runs: number;
  /** After everything was said again: model requests and changes on the screen that came of it. */
  again: { requests: number; changes: number };
  changesAtEnd: number;
  counts: Counts;
}

/** What the database said when a process had just died. */
export interface Death {
  /** Messages of this chat whose sending had begun and was not recorded as done. */
  sending: number;
  /** Calls of the tool with an effect that had begun and were not recorded as done. */
  started: number;
}

export interface TrialOptions {
  name: string;
  talk: Talk;
  points: readonly KillPoint[];
  /** Another message while the first is worked on. */
  second: boolean;
  /** People are asked about calls of the first message, say the second one, and then decide. */
  asks: boolean;
}

let serial = 0;

export function nextIds(second: boolean): string[] {
  serial += 1;
  return second ? [`m${serial}a`, `m${serial}b`] : [`m${serial}`];
}

export async function runTrial(world: World, options: TrialOptions): Promise<Trial> {
  const { talk } = options;
  const ids = nextIds(options.second);
  await world.settled();
  const deaths: Death[] = [];
  await world.arm(options.points, () => void deaths.push(examine(world, talk.chat)));
  world.shows = talk.shows;
  const firstRequest = world.model.request(world.model.requests.length + 1, 15_000);
  const [first, second] = ids as [string, string?];
  await talk.say(messageOf(first));
  await firstRequest;
  if (options.asks) await talk.seesCard();
  if (second !== undefined) await talk.say(messageOf(second));
  if (options.asks) await talk.decides();
  await world.settled();
  return finishTrial(world, { ...options, ids, deaths });
}

/** From when everything has come to rest. */
export async function finishTrial(
  world: World,
  options: Pick<Trial, 'name' | 'talk' | 'ids' | 'deaths'> & { asks?: boolean },
): Promise<Trial> {
  const { talk, ids } = options;
  const counts = await world.disarm();
  await world.settled();
  const texts = await talk.texts();
  const changes = await talk.changes();
  const requests = world.model.requests.filter((request) => {
    // What was refused was not read by the server either, so its bytes must tell.
    const about = request.refusal === null ? askedAbout(request) : idsIn(request.body);
    return ids.some((id) => about.includes(id));
  });
  const requestsInAll = world.model.requests.length;
  await talk.sayAgain();
  await world.settled();
  const changesAtEnd = await talk.changes();
  const runs = world.read<{ n: number }>('select count(*) as n from runs where chat = ?', talk.chat)[0]?.n ?? 0;
  const lines = world.lines();
  const written = (line: string) => lines.filter((one) => one === line).length;
  const [first] = ids as [string];
  // Only what was asked for with the first message is ever done.
  const effects = options.asks ? [first] : ids;
  return {
    name: options.name,
    talk,
    ids,
    deaths: options.deaths,
    texts,
    requests,
    written: Object.fromEntries(effects.map((id) => [id, written(id)])),
    cards: await talk.cards(),
    approvals: world.read(
      `select state, reason, (select count(*) from audit u where u.subject = a.id) as decisions from approvals a
       where chat = ? order by position`,
      talk.chat,
    ),
    deniedWritten: written(deniedLine(first)),
    runs,
    again: { requests: world.model.requests.length - requestsInAll, changes: changesAtEnd - changes },
    changesAtEnd,
    counts,
  };
}

export function askedAbout(request: SeenRequest): string[] {
  return idsIn(request.messages.findLast((message) => message.role === 'user')?.text ?? '');
}

/** A database that has no tables yet has nothing under way either. */
export function examine(world: Pick<World, 'read'>, chat: string): Death {
  const count = (sql: string) => {
    try {
      return world.read<{ n: number }>(sql, chat)[0]?.n ?? 0;
    } catch (error) {
      if (/no such table|unable to open database file/.test(String(error))) return 0;
      throw error;
    }
  };
  return {
    sending: count(`select count(*) as n from outbox where chat = ? and state = 'sending'`),
    started: count(
      `select count(*) as n from tool_calls c join runs r on r.id = c.run_id
       where r.chat = ? and c.tool in ('append_line', 'ask_line') and c.state = 'started'`,
    ),
  };
}
