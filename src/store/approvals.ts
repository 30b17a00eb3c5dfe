/**
 * Questions to people, and who has signed. pending → approved | denied | expired | withdrawn:
 * the change is a compare-and-set in the transaction of everything that follows from it (A2, rule 48).
 */
import { placeOf } from '../base/place.ts';
import type { ApprovalState } from '../types/approval.ts';
import type { Place } from '../types/message.ts';
import type { Approvers } from '../types/spec.ts';
import type { Query } from './db.ts';

export interface Approval {
  id: string;
  /** What one step asked together. */
  batch: string;
  /** Within the batch; buttons name it. */
  position: number;
  runId: string;
  step: number;
  callId: string;
  /** `question` is one the agent asks its person (ask_user). */
  kind: 'tool' | 'question';
  agent: string;
  binding: string;
  place: Place;
  direct: boolean;
  /** Person id; null when nobody is known. */
  requester: string | null;
  /** `<channel>:<user id>` */
  requesterAccount: string;
  capability: string;
  tool: string;
  /** What the model calls it. */
  name: string;
  definition: string;
  /** Of exactly this call (A1). */
  digest: string;
  /** Of its arguments alone, for "always allow exactly this". */
  argumentsDigest: string;
  /** The arguments as people read them: JSON with indents, secrets masked, invisible characters as escapes. */
  input: string;
  /** The agent's own words (A3). */
  message: string | null;
  /** Of a question. */
  options: string[] | null;
  approvers: Approvers;
  dual: boolean;
  /** Which "always allow" would spare the next such question (rule 43). */
  grantable: 'any' | 'exact' | null;
  /** Names of those who are shown it besides the chat it was asked in (rule 40). */
  shownTo: string[];
  code: string;
  state: ApprovalState;
  /** Name and account, for people to read. */
  decidedBy: string | null;
  decidedAt: number | null;
  reason: string | null;
  answer: string | null;
  createdAt: number;
  expiresAt: number;
}

interface ApprovalRow {
  id: string;
  batch: string;
  position: number;
  run_id: string;
  step: number;
  call_id: string;
  kind: Approval['kind'];
  agent: string;
  binding: string;
  channel: string;
  chat: string;
  thread: string | null;
  direct: number;
  requester: string | null;
  requester_account: string;
  capability: string;
  tool: string;
  name: string;
  definition: string;
  digest: string;
  arguments_digest: string;
  input: string;
  message: string | null;
  options: string | null;
  approvers: string;
  dual: number;
  grantable: Approval['grantable'];
  shown_to: string;
  code: string;
  state: ApprovalState;
  decided_by: string | null;
  decided_at: number | null;
  reason: string | null;
  answer: string | null;
  created_at: number;
  expires_at: number;
}

function approvalOf(row: ApprovalRow): Approval {
  return {
    id: row.id,
    batch: row.batch,
    position: row.position,
    runId: row.run_id,
    step: row.step,
    callId: row.call_id,
    kind: row.kind,
    agent: row.agent,
    binding: row.binding,
    place: placeOf(row.channel, row.chat, row.thread),
    direct: row.direct === 1,
    requester: row.requester,
    requesterAccount: row.requester_account,
    capability: row.capability,
    tool: row.tool,
    name: row.name,
    definition: row.definition,
    digest: row.digest,
    argumentsDigest: row.arguments_digest,
    input: row.input,
    message: row.message,
    options: row.options === null ? null : (JSON.parse(row.options) as string[]),
    approvers: JSON.parse(row.approvers) as Approvers,
    dual: row.dual === 1,
    grantable: row.grantable,
    shownTo: JSON.parse(row.shown_to) as string[],
    code: row.code,
    state: row.state,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    reason: row.reason,
    answer: row.answer,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export type NewApproval = Omit<Approval, 'state' | 'decidedBy' | 'decidedAt' | 'reason' | 'answer'>;

export async function addApproval(q: Query, approval: NewApproval): Promise<void> {
  await q.run(
    `insert into approvals (id, batch, position, run_id, step, call_id, kind, agent, binding, channel, chat, thread, direct,
       requester, requester_account, capability, tool, name, definition, digest, arguments_digest, input, message, options, approvers, dual,
       grantable, shown_to, code, state, created_at, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    approval.id,
    approval.batch,
    approval.position,
    approval.runId,
    approval.step,
    approval.callId,
    approval.kind,
    approval.agent,
    approval.binding,
    approval.place.channel,
    approval.place.chat,
    approval.place.thread ?? null,
    approval.direct ? 1 : 0,
    approval.requester,
    approval.requesterAccount,
    approval.capability,
    approval.tool,
    approval.name,
    approval.definition,
    approval.digest,
    approval.argumentsDigest,
    approval.input,
    approval.message,
    approval.options === null ? null : JSON.stringify(approval.options),
    JSON.stringify(approval.approvers),
    approval.dual ? 1 : 0,
    approval.grantable,
    JSON.stringify(approval.shownTo),
    approval.code,
    approval.createdAt,
    approval.expiresAt,
  );
}

export async function readApproval(q: Query, id: string): Promise<Approval | null> {
  const row = await q.get<ApprovalRow>('select * from approvals where id = ?', id);
  return row ? approvalOf(row) : null;
}

/** In the order people see them. */
export async function readBatch(q: Query, batch: string): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>('select * from approvals where batch = ? order by position', batch);
  return rows.map(approvalOf);
}

/** All that a step ever asked, oldest first; what was withdrawn and asked anew is there twice. */
export async function approvalsOfStep(q: Query, runId: string, step: number): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>(
    'select * from approvals where run_id = ? and step = ? order by id',
    runId,
    step,
  );
  return rows.map(approvalOf);
}

export async function pendingOfRun(q: Query, runId: string): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>(
    `select * from approvals where run_id = ? and state = 'pending' order by id`,
    runId,
  );
  return rows.map(approvalOf);
}

export async function pendingOfConversation(q: Query, conversationId: string): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>(
    `select a.* from runs r join approvals a on a.run_id = r.id
     where r.conversation_id = ? and r.state = 'awaiting_approval' and a.state = 'pending' order by a.id`,
    conversationId,
  );
  return rows.map(approvalOf);
}

/** In all threads of a chat, oldest first. */
export async function pendingInChat(q: Query, channel: string, chat: string): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>(
    `select * from approvals where channel = ? and chat = ? and state = 'pending' order by id`,
    channel,
    chat,
  );
  return rows.map(approvalOf);
}

/** Questions shown in a chat by a card, also of runs elsewhere (approvers' direct chats). */
export async function pendingShownIn(q: Query, channel: string, chat: string): Promise<Approval[]> {
  const rows = await q.all<ApprovalRow>(
    `select a.* from approvals a where a.state = 'pending'
       and exists (select 1 from cards c where c.batch = a.batch and c.channel = ? and c.chat = ?) order by a.id`,
    channel,
    chat,
  );
  return rows.map(approvalOf);
}

/** Whose questions are looked for: what these people asked, and everything that others than its requester may decide. */
export interface Concerned {
  people: readonly string[];
  account: string;
}

/** Newest first; `of` null = all. */
export async function listApprovalRows(
  q: Query,
  state: 'pending' | 'decided',
  of: Concerned | null,
  limit: number,
): Promise<Approval[]> {
  const which = state === 'pending' ? "state = 'pending'" : "state <> 'pending'";
  const places = (of?.people ?? []).map(() => '?').join(', ') || 'null';
  const theirs = `and (requester in (${places}) or requester_account = ? or approvers <> ? or dual = 1)`;
  const rows = await q.all<ApprovalRow>(
    `select * from approvals where ${which} ${of ? theirs : ''} order by id desc limit ?`,
    ...(of ? [...of.people, of.account, JSON.stringify('requester')] : []),
    limit,
  );
  return rows.map(approvalOf);
}

/** Whether a code was used in a chat since then, for what was asked there or shown there by a card (rule 45). */
export async function isCodeUsed(q: Query, place: Place, code: string, since: number): Promise<boolean> {
  const asked = await q.get(
    'select 1 as one from approvals where channel = ? and chat = ? and code = ? and created_at > ? limit 1',
    place.channel,
    place.chat,
    code,
    since,
  );
  if (asked !== undefined) return true;
  const shown = await q.get(
    `select 1 as one from cards c join approvals a on a.batch = c.batch
     where c.channel = ? and c.chat = ? and a.code = ? and a.created_at > ? limit 1`,
    place.channel,
    place.chat,
    code,
    since,
  );
  return shown !== undefined;
}

/** Any question with this code of the chat, or shown there; the newest first. */
export async function findByCode(q: Query, channel: string, chat: string, code: string): Promise<Approval | null> {
  // Apart, so that each finds its rows by an index: chats full of text that looks like a code must not read all questions.
  const asked = await q.get<ApprovalRow>(
    'select * from approvals where channel = ? and chat = ? and code = ? order by id desc limit 1',
    channel,
    chat,
    code,
  );
  const shown = await q.get<ApprovalRow>(
    `select a.* from cards c join approvals a on a.batch = c.batch
     where c.channel = ? and c.chat = ? and a.code = ? order by a.id desc limit 1`,
    channel,
    chat,
    code,
  );
  const newest = asked && shown ? (asked.id > shown.id ? asked : shown) : (asked ?? shown);
  return newest ? approvalOf(newest) : null;
}

export interface Closing {
  state: Exclude<ApprovalState, 'pending'>;
  decidedBy: string | null;
  reason: string | null;
  answer?: string | null;
}

/** Compare-and-set: of many at once one gets true. */
export async function closeApproval(q: Query, id: string, closing: Closing, now: number): Promise<boolean> {
  const changed = await q.run(
    `update approvals set state = ?, decided_by = ?, decided_at = ?, reason = ?, answer = ? where id = ? and state = 'pending'`,
    closing.state,
    closing.decidedBy,
    now,
    closing.reason,
    closing.answer ?? null,
    id,
  );
  return changed > 0;
}

/** What was approved is another tool now: the yes counts for nothing. */
export async function withdrawApproved(q: Query, id: string, now: number): Promise<boolean> {
  const changed = await q.run(
    `update approvals set state = 'withdrawn', reason = 'changed', decided_by = null, decided_at = ? where id = ? and state = 'approved'`,
    now,
    id,
  );
  return changed > 0;
}

export interface Signature {
  personId: string;
  account: string;
  admin: boolean;
  signedAt: number;
}

export async function readSignatures(q: Query, approvalId: string): Promise<Signature[]> {
  const rows = await q.all<{ person_id: string; account: string; admin: number; signed_at: number }>(
    'select person_id, account, admin, signed_at from signatures where approval_id = ? order by signed_at, person_id',
    approvalId,
  );
  return rows.map((row) => ({
    personId: row.person_id,
    account: row.account,
    admin: row.admin === 1,
    signedAt: row.signed_at,
  }));
}

/** A person who has signed already has signed once. */
export async function addSignature(q: Query, approvalId: string, signature: Signature): Promise<void> {
  await q.run(
    `insert into signatures (approval_id, person_id, account, admin, signed_at) values (?, ?, ?, ?, ?)
     on conflict (approval_id, person_id) do nothing`,
    approvalId,
    signature.personId,
    signature.account,
    signature.admin ? 1 : 0,
    signature.signedAt,
  );
}

/** Runs with a question whose time is over, of the first `questions` of those. */
export async function overdueRuns(q: Query, now: number, questions: number): Promise<string[]> {
  const rows = await q.all<{ run_id: string }>(
    `select run_id from approvals where state = 'pending' and expires_at <= ? order by expires_at, id limit ?`,
    now,
    questions,
  );
  return [...new Set(rows.map((row) => row.run_id))];
}

export async function nextExpiry(q: Query): Promise<number | null> {
  const row = await q.get<{ at: number | null }>(`select min(expires_at) as at from approvals where state = 'pending'`);
  return row?.at ?? null;
}

export async function countPending(q: Query): Promise<number> {
  const row = await q.get<{ n: number }>(`select count(*) as n from approvals where state = 'pending'`);
  return row?.n ?? 0;
}
