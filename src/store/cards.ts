/** The messages that show questions; buttons carry their ids. */
import { placeOf } from '../base/place.ts';
import type { Place } from '../types/message.ts';
import type { Query } from './db.ts';

export interface Card {
  id: string;
  batch: string;
  place: Place;
  direct: boolean;
  outboxId: string;
  /** Bound by the send result, or by the first authentic press from its chat. */
  ref: string | null;
  /** The message that the send result names; another one than `ref` when it stands there twice, or was put there anew. */
  sentRef: string | null;
  createdAt: number;
}

interface CardRow {
  id: string;
  batch: string;
  channel: string;
  chat: string;
  thread: string | null;
  direct: number;
  outbox_id: string;
  ref: string | null;
  sent_ref: string | null;
  created_at: number;
}

const cardOf = (row: CardRow): Card => ({
  id: row.id,
  batch: row.batch,
  place: placeOf(row.channel, row.chat, row.thread),
  direct: row.direct === 1,
  outboxId: row.outbox_id,
  ref: row.ref,
  sentRef: row.sent_ref,
  createdAt: row.created_at,
});

export async function addCard(q: Query, card: Omit<Card, 'ref' | 'sentRef'>): Promise<void> {
  await q.run(
    `insert into cards (id, batch, channel, chat, thread, direct, outbox_id, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
    card.id,
    card.batch,
    card.place.channel,
    card.place.chat,
    card.place.thread ?? null,
    card.direct ? 1 : 0,
    card.outboxId,
    card.createdAt,
  );
}

const cardColumns =
  'c.id, c.batch, c.channel, c.chat, c.thread, c.direct, c.outbox_id, coalesce(c.ref, o.ref) as ref, o.ref as sent_ref, c.created_at';

export async function readCard(q: Query, id: string): Promise<Card | null> {
  const row = await q.get<CardRow>(
    `select ${cardColumns} from cards c left join outbox o on o.id = c.outbox_id where c.id = ?`,
    id,
  );
  return row ? cardOf(row) : null;
}

export async function cardsOfBatch(q: Query, batch: string): Promise<Card[]> {
  const rows = await q.all<CardRow>(
    `select ${cardColumns} from cards c left join outbox o on o.id = c.outbox_id where c.batch = ? order by c.id`,
    batch,
  );
  return rows.map(cardOf);
}

/** The card that a message of ours shows. */
export async function findCardByRef(q: Query, channel: string, chat: string, ref: string): Promise<Card | null> {
  const row = await q.get<CardRow>(
    `select ${cardColumns} from cards c left join outbox o on o.id = c.outbox_id
     where c.channel = ? and c.chat = ? and (c.ref = ? or o.ref = ?) order by c.id desc limit 1`,
    channel,
    chat,
    ref,
    ref,
  );
  return row ? cardOf(row) : null;
}

export async function bindCard(q: Query, id: string, ref: string): Promise<void> {
  await q.run('update cards set ref = ? where id = ? and ref is null', ref, id);
}

export interface CardSent {
  /** By the platform's time where it tells; null = not known to stand there. */
  at: number | null;
  ref: string | null;
  /** A copy may stand there that we were never told of, earlier than this one. */
  maybeEarlier: boolean;
}

/** When the card's message stood in the chat, and its id. */
export async function cardSent(q: Query, card: Card): Promise<CardSent | null> {
  const row = await q.get<{
    posted_at: number | null;
    sent_at: number | null;
    ref: string | null;
    state: string;
    unknown_sends: number;
  }>('select posted_at, sent_at, ref, state, unknown_sends from outbox where id = ?', card.outboxId);
  if (!row) return null;
  const maybeEarlier = row.state === 'sending' || row.unknown_sends > 0;
  return { at: row.posted_at ?? row.sent_at, ref: row.ref ?? card.ref, maybeEarlier };
}

/** Whether a card's message is the last of ours in its chat. */
export async function isLastOfOurs(q: Query, card: Card): Promise<boolean> {
  const later = await q.get(
    `select 1 as one from outbox where id > ? and channel = ? and chat = ? and kind = 'send' limit 1`,
    card.outboxId,
    card.place.channel,
    card.place.chat,
  );
  return later === undefined;
}

/** Cards of open questions whose message was given up before that time: they are sent again (rule 51). */
export async function undeliveredCards(q: Query, before: number, limit: number): Promise<Card[]> {
  const rows = await q.all<CardRow>(
    `select ${cardColumns} from outbox o join cards c on c.outbox_id = o.id
     where o.state = 'failed' and o.question is not null and o.created_at < ?
       and exists (select 1 from approvals a where a.batch = c.batch and a.state = 'pending')
     order by o.created_at limit ?`,
    before,
    limit,
  );
  return rows.map(cardOf);
}

export async function setCardMessage(q: Query, id: string, outboxId: string): Promise<void> {
  await q.run('update cards set outbox_id = ?, ref = null where id = ?', outboxId, id);
}
