/**
 * Calls that people decide: what became of the question of a call, and the transaction that asks and parks the run. The
 * run goes on from the stored step, with the very call that was shown (A1, rules 50 to 54).
 */
import { type Asking, approversElsewhere, askPeople, type NewQuestion, whyNobody } from '../approvals/ask.ts';
import { argumentsText } from '../approvals/card.ts';
import { lockRun, withdrawReplaced } from '../approvals/close.ts';
import { parkedRunsMax } from '../approvals/parts.ts';
import { mask } from '../base/log.ts';
import { enqueue, messagesOf } from '../outbox/enqueue.ts';
import type { Approval } from '../store/approvals.ts';
import type { Transaction } from '../store/db.ts';
import { hasNext } from '../store/inbox.ts';
import { detachPieces, findFirstPiece } from '../store/outbox.ts';
import { assertOwned, countParked, parkRun } from '../store/runs.ts';
import { argumentsDigest, callDigest, definitionOf } from '../tools/definition.ts';
import type { DecidedCall } from '../tools/host.ts';
import type { JsonObject } from '../types/json.ts';
import type { Audience } from '../types/message.ts';
import type { ToolResult } from '../types/tool.ts';
import { StopRequested, type Work } from './parts.ts';

/** What a call came to: it may run, it never will, or people must be asked. */
export type Judged =
  | { kind: 'run'; answers?: (string | null)[] }
  /** In words for the model. */
  | { kind: 'refuse'; why: string }
  /** `replaced` were decided about what the tool was before. */
  | { kind: 'ask'; questions: NewQuestion[]; replaced: readonly Approval[] };

const defaultRule: Asking['rule'] = { approvers: 'requester', expiresMs: 72 * 3_600_000, waive: false };

/** `asked` holds every question this step ever put for the call, oldest first. */
export function judgeAsked(work: Work, decided: DecidedCall, asked: readonly Approval[]): Judged {
  const { call, offered } = decided;
  if (!offered) return { kind: 'refuse', why: 'There is no such tool here.' };
  const tool = offered.own;
  const definition = definitionOf(tool);
  const digest = callDigest({
    capability: offered.capability,
    tool: tool.id,
    definition,
    agentVersion: work.run.agentVersion,
    input: call.input,
  });
  const current = asked.filter((approval) => approval.digest === digest);
  const newest = current.filter(({ batch }) => batch === current.at(-1)?.batch);
  const last = newest.at(-1);
  const ask = (): Judged => ({
    kind: 'ask',
    questions: questionsOf(work, decided, { definition, digest, argumentsDigest: argumentsDigest(call.input) }),
    replaced: asked,
  });
  // Never asked, or about something else: the tool is another one now (rule 50). A no stands, whatever it became.
  if (!last) return standingNo(asked) ?? ask();
  const notApproved = newest.find(({ state }) => state !== 'approved');
  // What was answered is handed over, though the time of the others is over.
  const isAnswered = last.kind === 'question' && newest.some(({ state }) => state === 'approved');
  if (notApproved && !(isAnswered && newest.every(({ state }) => state === 'approved' || state === 'expired')))
    return { kind: 'refuse', why: endWords(notApproved) };
  // One has said yes, and by now it takes two (rule 57).
  if (last.kind === 'tool' && decided.decision.dual && !last.dual) return ask();
  if (last.kind === 'question') return { kind: 'run', answers: newest.map(({ answer }) => answer) };
  return { kind: 'run' };
}

/**
 * What people were asked about and did not approve stays as they left it, also where nobody would be asked by now: an
 * "always allow" of another call or a looser rule does not overrule a no (rule 53). Null when nothing stands against it.
 */
export function standingNo(asked: readonly Approval[]): Judged | null {
  const newest = asked.at(-1)?.batch;
  const ended = asked.find(({ batch, state }) => batch === newest && state !== 'approved');
  return ended ? { kind: 'refuse', why: endWords(ended) } : null;
}

/** What the model is told of a question that was not approved: a refusal that invites no way round it. */
export function endWords(approval: Approval): string {
  const { tool, state, decidedBy, reason, kind } = approval;
  if (kind === 'question' && state === 'expired')
    return 'The person was asked and did not answer in time. Go on without an answer, or say what you need.';
  switch (state) {
    case 'denied': {
      const because = reason === null ? '' : ` They gave this reason: ${JSON.stringify(reason)}.`;
      return `${tool} was not run: denied by ${decidedBy ?? 'a person'}.${because} This is their decision: do not try it again, and not in another way.`;
    }
    case 'expired':
      return `${tool} was not run: the request for approval expired before anybody decided.`;
    case 'withdrawn':
      return reason === 'edited'
        ? `${tool} was not run: the request for approval was withdrawn, since the person changed their message. What they say now follows.`
        : `${tool} was not run: the request for approval was withdrawn. Do not try it again unless you are asked to.`;
    default:
      return `${tool} was not run: its approval is ${state}.`;
  }
}

function questionsOf(
  work: Work,
  { call, message, offered, decision }: DecidedCall,
  digests: Pick<NewQuestion, 'definition' | 'digest' | 'argumentsDigest'>,
): NewQuestion[] {
  if (!offered) return [];
  const { capability, tool, own } = offered;
  const common = { ...digests, callId: call.id, capability, tool: own.id, name: tool.name, dual: decision.dual };
  const shown = (text: string) => mask(text, work.parts.secrets());
  if (own.questions)
    return own.questions(call.input as JsonObject).map(({ question, options }) => ({
      ...common,
      kind: 'question' as const,
      input: shown(question),
      message: null,
      options: options.length > 0 ? options.map(shown) : null,
      dual: false,
      grantable: null,
    }));
  return [
    {
      ...common,
      kind: 'tool',
      input: shown(argumentsText(call.input)),
      message: message === null ? null : shown(message),
      options: null,
      grantable: decision.loosenable,
    },
  ];
}

export interface Wanted {
  callId: string;
  tool: string;
  questions: NewQuestion[];
  replaced: readonly Approval[];
}

/**
 * Asks people and parks the run, or says for each call why nobody can be asked; then nothing is parked and the run goes
 * on with those results.
 */
export async function askAndPark(work: Work, step: number, wanted: readonly Wanted[]): Promise<ToolResult[]> {
  const { parts, run, conversation, toolContext } = work;
  const asking: Asking = {
    runId: run.id,
    step,
    agent: run.agent,
    binding: run.binding,
    place: run.place,
    isShown: true,
    direct: conversation.audience === 'direct',
    replyTo: run.replyTo,
    requester: toolContext.person?.id ?? null,
    requesterAccount: `${run.place.channel}:${run.userId}`,
    rule: ruleHere(work.binding?.approvals ?? defaultRule, conversation.audience),
  };
  const refusals: ToolResult[] = [];
  for (const { callId, tool, questions } of wanted) {
    const why = await whyNot(work, asking, questions);
    if (why === null) continue;
    const content = `${tool} was not run: ${why} This is final; do not call it again.`;
    refusals.push({ toolUseId: callId, content, isError: true });
  }
  // They have their result now; the others are asked the next time round.
  if (refusals.length > 0) return refusals;
  const questions = wanted.flatMap((one) => one.questions);
  const elsewhere = await approversElsewhere(
    { ...parts.approvals, db: parts.db, after: (ms, call) => parts.clock.after(ms, call) },
    asking,
    questions.some(({ dual }) => dual),
  );
  const said = saidSoFar(work);
  const text = said === '' ? null : await messagesOf(said, work.adapter.limits);
  await work.stream.close();
  work.status.end();
  await parts.db.tx(async (q) => {
    await assertOwned(q, run.id, parts.owner);
    const now = parts.clock.now();
    await lockRun(q, run.id);
    if (text !== null) await showSoFar(q, work, text, now);
    await detachPieces(q, run.id);
    await withdrawReplaced(
      q,
      parts.approvals,
      wanted.flatMap(({ replaced }) => replaced),
      now,
    );
    await askPeople(q, parts.approvals, asking, questions, elsewhere, now);
    if (!(await parkRun(q, run.id, conversation.turns, work.activeMs()))) throw new StopRequested('asked');
    if (await hasNext(q, conversation.id)) q.ring('dispatch');
  });
  void work.stream.clear();
  work.log.info({ questions: questions.length }, 'run waits for people');
  return [];
}

/** The one member of a direct chat is who asked; there is no list of members to look them up in. */
function ruleHere(rule: Asking['rule'], audience: Audience): Asking['rule'] {
  return audience === 'direct' && rule.approvers === 'members' ? { ...rule, approvers: 'requester' } : rule;
}

async function whyNot(work: Work, asking: Asking, questions: readonly NewQuestion[]): Promise<string | null> {
  const { db, clock } = work.parts;
  const [first] = questions;
  if (!first) return 'it asks nothing.';
  if (first.kind === 'question') {
    if (asking.requester === null) return 'there is nobody here to ask.';
  } else {
    const nobody = await whyNobody(db, work.parts.approvals, asking, first.dual, clock.now());
    if (nobody === 'nobody') return 'it needs the approval of a person, and nobody here could ever give it.';
    if (nobody === 'too_few')
      return 'it needs the approval of two people, one of them an admin, and there are fewer than that.';
  }
  if ((await countParked(db, work.conversation.id)) >= parkedRunsMax)
    return `it needs an approval, and ${parkedRunsMax} requests of this conversation wait for one already. Ask for those to be decided first.`;
  return null;
}

/** What the agent said with its call stands above the card, and stays there. */
function saidSoFar(work: Work): string {
  const last = work.steps.at(-1);
  return last?.kind === 'assistant' ? last.message.text.trim() : '';
}

async function showSoFar(q: Transaction, work: Work, markdown: string[], now: number): Promise<void> {
  const { run } = work;
  const first = await findFirstPiece(q, run.id);
  await enqueue(
    q,
    {
      place: run.place,
      direct: work.conversation.audience === 'direct',
      markdown,
      runId: run.id,
      replyTo: run.replyTo,
      priority: 'answer',
      ...(first === null ? {} : { replaces: first.id }),
    },
    work.adapter.limits,
    now,
  );
}
