/** Puts questions to people: rows, cards and outbox in the transaction that parks the run. */

import { accountName, splitAccount } from '../base/account.ts';
import { newCode, newId } from '../base/ids.ts';
import { countAsOne } from '../people/links.ts';
import { type Account, type AdminAccount, findAccountNamed, listAdmins, readAdmin } from '../store/accounts.ts';
import { type Approval, addApproval, isCodeUsed, readBatch } from '../store/approvals.ts';
import { addCard } from '../store/cards.ts';
import type { Db, Query, Transaction } from '../store/db.ts';
import type { Place } from '../types/message.ts';
import type { BindingSpec } from '../types/spec.ts';
import { drawCard, enqueueCard, sendDetails, wordsOfRequester } from './close.ts';
import { type ApprovalParts, codeRestMs, questionsPerCardMax } from './parts.ts';

/** One call that asks; its `input` is as people read it, secrets masked. */
export type NewQuestion = Pick<
  Approval,
  | 'callId'
  | 'kind'
  | 'capability'
  | 'tool'
  | 'name'
  | 'definition'
  | 'digest'
  | 'argumentsDigest'
  | 'input'
  | 'message'
  | 'options'
  | 'dual'
  | 'grantable'
>;

/** The run that asks. */
export interface Asking {
  runId: string;
  step: number;
  agent: string;
  binding: string;
  place: Place;
  /** Whether there is a chat to show it in; without one it is decided on the page. */
  isShown: boolean;
  direct: boolean;
  replyTo: string | null;
  requester: string | null;
  requesterAccount: string;
  rule: BindingSpec['approvals'];
}

/** Somebody who may decide and is not in the chat: gets the card in their own direct chat. */
export interface Elsewhere {
  name: string;
  place: Place;
}

const approversToldMax = 20;
const memberLookupMsMax = 3_000;
const codeCharsMin = 3;
const codeTries = 20;

export async function askPeople(
  q: Transaction,
  parts: ApprovalParts,
  asking: Asking,
  questions: readonly NewQuestion[],
  elsewhere: readonly Elsewhere[],
  now: number,
): Promise<void> {
  for (const together of byCard(questions, elsewhere.length > 0))
    await askTogether(q, parts, asking, together, elsewhere, now);
  parts.count('approvals_asked');
}

/**
 * What one call asks stands on one card, so that its answers stay together. Where others are shown a card, what the
 * agent asks its person stands on one of its own, which they do not see.
 */
function byCard(questions: readonly NewQuestion[], isShownElsewhere: boolean): NewQuestion[][] {
  const calls = new Map<string, NewQuestion[]>();
  for (const question of questions) calls.set(question.callId, [...(calls.get(question.callId) ?? []), question]);
  const kindOf = (card: readonly NewQuestion[] | undefined) => card?.[0]?.kind;
  const inOrder = [...calls.values()];
  if (isShownElsewhere)
    inOrder.sort((left, right) => Number(kindOf(right) === 'tool') - Number(kindOf(left) === 'tool'));
  const cards: NewQuestion[][] = [];
  for (const call of inOrder) {
    const last = cards.at(-1);
    const isApart = isShownElsewhere && kindOf(last) !== kindOf(call);
    if (last && !isApart && last.length + call.length <= questionsPerCardMax) last.push(...call);
    else cards.push([...call]);
  }
  return cards;
}

async function askTogether(
  q: Transaction,
  parts: ApprovalParts,
  asking: Asking,
  questions: readonly NewQuestion[],
  elsewhere: readonly Elsewhere[],
  now: number,
): Promise<void> {
  const batch = newId(now);
  const forMe = questions.every(({ kind }) => kind === 'question');
  for (const [position, question] of questions.entries())
    await addApproval(q, {
      ...question,
      id: newId(now),
      batch,
      position,
      runId: asking.runId,
      step: asking.step,
      agent: asking.agent,
      binding: asking.binding,
      place: asking.place,
      direct: asking.direct,
      requester: asking.requester,
      requesterAccount: asking.requesterAccount,
      approvers: asking.rule.approvers,
      shownTo: forMe ? [] : elsewhere.map(({ name }) => name),
      code: await freshCode(q, [asking.place, ...(forMe ? [] : elsewhere.map(({ place }) => place))], now),
      createdAt: now,
      expiresAt: now + asking.rule.expiresMs,
    });
  // Who asked is told first (rule 40); the others are shown the same card in their own chats.
  if (asking.isShown) await putCard(q, parts, batch, asking, now);
  if (!forMe)
    for (const { place } of elsewhere) await putCard(q, parts, batch, { place, direct: true, replyTo: null }, now);
}

async function putCard(
  q: Transaction,
  parts: ApprovalParts,
  batch: string,
  { place, direct, replyTo }: Pick<Asking, 'place' | 'direct' | 'replyTo'>,
  now: number,
): Promise<void> {
  const id = newId(now);
  const approvals = await readBatch(q, batch);
  const shown = await drawCard(q, parts, { id, place }, approvals);
  if (shown.needsFull) {
    const words = await wordsOfRequester(q, parts, approvals[0]?.requesterAccount ?? '');
    for (const approval of approvals) await sendDetails(q, parts, { place, direct, ref: null }, approval, words, now);
  }
  const outboxId = await enqueueCard(q, parts, { place, direct }, shown, now, { replyTo });
  await addCard(q, { id, batch, place, direct, outboxId, createdAt: now });
}

/** Letters and at least one digit, so that no word is a code; new wherever it will be shown (rule 45). */
async function freshCode(q: Query, places: readonly Place[], now: number): Promise<string> {
  for (let tries = 0; ; tries++) {
    const code = newCode(codeCharsMin + Math.floor(tries / codeTries));
    if (!/[0-9]/.test(code) || !/[A-Z]/.test(code)) continue;
    let isUsed = false;
    for (const place of places) isUsed ||= await isCodeUsed(q, place, code, now - codeRestMs);
    if (!isUsed) return code;
  }
}

/**
 * Whether anybody could ever decide this (rule 40): null, or why not. An admin who is linked to the requester is no
 * second person.
 */
export async function whyNobody(
  q: Query,
  parts: Pick<ApprovalParts, 'settings'>,
  asking: Pick<Asking, 'requester' | 'requesterAccount' | 'direct' | 'rule'>,
  dual: boolean,
  now: number,
): Promise<'nobody' | 'too_few' | null> {
  const { approvers } = asking.rule;
  const settings = parts.settings();
  const admins = await listAdmins(q, settings.admins);
  const openEnded = approvers === 'members' && !asking.direct;
  if (!dual) {
    if (approvers === 'admins') return admins.length > 0 ? null : 'nobody';
    if (approvers === 'requester') return asking.requester === null ? 'nobody' : null;
    return openEnded || asking.requester !== null || approvers.length > 0 ? null : 'nobody';
  }
  if (admins.length === 0) return 'too_few';
  if (openEnded) return null;
  const people: string[] = [];
  const add = async (person: string) => {
    for (const known of people) if (known === person || (await countAsOne(q, known, person, now))) return;
    people.push(person);
  };
  for (const admin of admins) await add(personOf(admin));
  const asks = approvers === 'admins' || asking.requester === null ? [] : [asking.requesterAccount];
  const others = typeof approvers === 'string' ? asks : approvers;
  for (const account of others) {
    const known = await findAccountNamed(q, account);
    if (mayCount(settings, account, known)) await add(known?.personId ?? account);
  }
  return people.length >= 2 ? null : 'too_few';
}

/** Whether one of two signatures could be this account's (rule 57): in a workspace it may be a full member. */
function mayCount({ admins, channels }: PersonFacts, account: string, known: Account | null): boolean {
  if (known && (known.admin || known.pairedAt !== null)) return true;
  return admins.has(account) || channels.get(splitAccount(account).channel)?.groupsNeedAdmission === false;
}

type PersonFacts = Pick<ReturnType<ApprovalParts['settings']>, 'admins' | 'channels'>;

/**
 * The direct chats of those who may decide, when none of them is in the chat where the run asks. Asks the platform who
 * is, with a deadline; a platform that does not say counts as no.
 */
export async function approversElsewhere(
  parts: ApprovalParts & { db: Db; after: DeadlineTimer },
  asking: Pick<Asking, 'place' | 'direct' | 'requester' | 'requesterAccount' | 'rule'>,
  dual: boolean,
): Promise<Elsewhere[]> {
  const { approvers } = asking.rule;
  if (!dual && (approvers === 'requester' || approvers === 'members')) return [];
  const { db } = parts;
  const candidates: AdminAccount[] =
    typeof approvers === 'string'
      ? await listAdmins(db, parts.settings().admins)
      : await Promise.all(approvers.map((account) => readAdmin(db, account)));
  const others = candidates.filter(
    (one) => one.personId !== asking.requester && accountName(one) !== asking.requesterAccount,
  );
  const requesterDecides = others.length < candidates.length;
  if (!dual && requesterDecides) return [];
  const lookup = parts.adapterOf(asking.place.channel)?.lookup;
  if (!asking.direct && lookup?.isMember) {
    const near = others.filter(({ channel }) => channel === asking.place.channel).slice(0, approversToldMax);
    const inChat = await Promise.all(
      near.map(({ userId }) => inTime(parts.after, lookup.isMember?.(asking.place.chat, userId))),
    );
    if (inChat.includes(true)) return [];
  }
  const told: Elsewhere[] = [];
  const people = new Set<string>();
  for (const one of others) {
    if (told.length >= approversToldMax) break;
    if (people.has(personOf(one)) || one.directChat === null || !parts.adapterOf(one.channel)) continue;
    people.add(personOf(one));
    told.push({ name: one.name || accountName(one), place: { channel: one.channel, chat: one.directChat } });
  }
  return told;
}

/** Who never wrote has no person yet. */
const personOf = (one: AdminAccount) => one.personId ?? accountName(one);

/** Calls back after so many milliseconds; the returned function cancels. */
export type DeadlineTimer = (ms: number, call: () => void) => () => void;

/** False when the platform does not answer in time or at all (fails closed). */
export async function inTime(after: DeadlineTimer, answer: Promise<boolean> | undefined): Promise<boolean> {
  if (!answer) return false;
  const late = Promise.withResolvers<boolean>();
  const cancel = after(memberLookupMsMax, () => late.resolve(false));
  try {
    return await Promise.race([answer, late.promise]);
  } catch {
    return false;
  } finally {
    cancel();
  }
}
