/**
 * Skills called over HTTP that change something (rule 97): the caller's question stands in their direct chat and on the
 * approvals page, and what was approved runs once, exactly as it was shown.
 */
import { askPeople } from '../approvals/ask.ts';
import { argumentsText } from '../approvals/card.ts';
import { withdrawReplaced } from '../approvals/close.ts';
import { type ApprovalParts, parkedRunsMax } from '../approvals/parts.ts';
import type { Clock } from '../base/clock.ts';
import { GatehouseError, messageOf } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type Log, mask } from '../base/log.ts';
import { createStage, type TurnResult } from '../queue/stage.ts';
import { endWords } from '../run/park.ts';
import type { SkillTool } from '../skills/tool.ts';
import { findAccount } from '../store/accounts.ts';
import { approvalsOfStep, readApproval } from '../store/approvals.ts';
import type { Db } from '../store/db.ts';
import {
  addSkillCall,
  countAskedBy,
  decidedSkillCalls,
  findSkillCall,
  finishSkillCall,
  lostSkillCalls,
  type SkillCall,
  startSkillCall,
} from '../store/skill_calls.ts';
import { argumentsDigest, callDigest, definitionOf } from '../tools/definition.ts';
import { unknownOutcome } from '../tools/host.ts';
import type { JsonObject } from '../types/json.ts';
import type { Verdict } from '../types/tool.ts';

export interface Caller {
  channel: string;
  userId: string;
}

export interface SkillCallView {
  approval: string;
  state: 'pending' | 'running' | 'done' | 'failed';
  /** JSON text of the skill, or why it did not run. */
  content: string | null;
}

export interface SkillCalls {
  /** The id of the approval. Throws a GatehouseError when nobody can be asked. */
  ask(caller: Caller, tool: SkillTool, input: JsonObject): Promise<string>;
  /** Of the caller's own calls; null for any other id. */
  read(caller: Caller, approval: string): Promise<SkillCallView | null>;
  start(): void;
  /** Calls under way end by themselves, `drainMs` at most (rule 88). */
  stop(): Promise<void>;
}

/** Of questions from the API: there is no binding that would say. */
const expiresMs = 72 * 3_600_000;
const callMsMax = 10 * 60_000;
/** After this long a begun call is nobody's any more; with SQLite, where no other gateway can have it, from the start on. */
const lostAfterMs = callMsMax + 60_000;
const callsPerTurn = 8;
/** Marks a question that belongs to no step of a run. */
const noStep = -1;

export function createSkillCalls(parts: {
  db: Db;
  clock: Clock;
  log: Log;
  approvals: ApprovalParts;
  tools: () => readonly SkillTool[];
  /** As for a call that needs nobody's yes. */
  ruleOf(tool: SkillTool, caller: Caller): Promise<Verdict | undefined>;
  secrets: () => readonly string[];
}): SkillCalls {
  const { db, clock, log, approvals } = parts;
  const ended = new AbortController();
  const underWay = new Set<Promise<void>>();
  let isFirstTurn = true;

  const turn = async (): Promise<TurnResult> => {
    const now = clock.now();
    const lostBefore = isFirstTurn && db.dialect === 'sqlite' ? now + 1 : now - lostAfterMs;
    isFirstTurn = false;
    for (const id of await lostSkillCalls(db, lostBefore))
      await db.tx((q) => finishSkillCall(q, id, { content: unknownOutcome, isError: true }, now));
    const room = callsPerTurn - underWay.size;
    if (room <= 0) return { again: false, nextAt: null };
    for (const call of await decidedSkillCalls(db, room)) {
      const work = execute(call)
        .catch((error) => log.error({ skill: call.skill, err: error }, 'a call of a skill broke'))
        .finally(() => {
          underWay.delete(work);
          stage.wake();
        });
      underWay.add(work);
    }
    return { again: false, nextAt: null };
  };
  const stage = createStage({ name: 'skill', db, clock, log, bells: ['skill'], turn });

  async function execute(call: SkillCall): Promise<void> {
    const approval = await readApproval(db, call.approvalId);
    const finish = (content: string, isError: boolean) =>
      db.tx((q) => finishSkillCall(q, call.id, { content, isError }, clock.now()));
    if (approval?.state !== 'approved') {
      await finish(approval ? endWords(approval) : 'Not run: its question is gone.', true);
      return;
    }
    const tool = parts.tools().find(({ id }) => id === call.skill);
    // What runs is what was shown (rule 50).
    if (!tool || digestOf(tool, call.input) !== approval.digest) {
      await db.tx((q) => withdrawReplaced(q, approvals, [approval], clock.now()));
      await finish(`${call.skill} was not run: it is another one now than the one that was approved. Ask again.`, true);
      return;
    }
    // What has become of the rules since; one that asks has had its answer (rule 38).
    if ((await parts.ruleOf(tool, call).catch(() => 'block')) === 'block') {
      await finish(`${call.skill} was not run: it is blocked by a policy now.`, true);
      return;
    }
    if (!(await db.tx((q) => startSkillCall(q, call.id, clock.now())))) return;
    const end = new AbortController();
    const stop = () => end.abort(new Error('the call took too long, or the gateway is stopping'));
    const stopTimer = clock.after(callMsMax, stop);
    ended.signal.addEventListener('abort', stop, { once: true });
    try {
      const { ended: how, content } = await tool.execute(call.input, { signal: end.signal, progress: () => {} });
      await finish(content, how !== 'done');
    } catch (error) {
      await finish(end.signal.aborted ? unknownOutcome : `${call.skill} failed: ${messageOf(error)}`, true);
    } finally {
      stopTimer();
      ended.signal.removeEventListener('abort', stop);
    }
  }

  return {
    async ask({ channel, userId }, tool, input) {
      const account = await findAccount(db, channel, userId);
      if (!account) throw new GatehouseError('not_found', 'the account of this token is not known any more');
      const definition = definitionOf(tool);
      return db.tx(async (q) => {
        const now = clock.now();
        if ((await countAskedBy(q, channel, userId)) >= parkedRunsMax)
          throw new GatehouseError('limit', `${parkedRunsMax} calls of yours wait for approval already`, {
            hint: 'decide those first',
          });
        const id = newId(now);
        await askPeople(
          q,
          approvals,
          {
            runId: id,
            step: noStep,
            agent: 'API',
            binding: '',
            place: { channel, chat: account.directChat ?? '' },
            // Without a direct chat it is decided on the page or at the command line.
            isShown: account.directChat !== null,
            direct: true,
            replyTo: null,
            requester: account.personId,
            requesterAccount: `${channel}:${userId}`,
            rule: { approvers: 'requester', expiresMs, waive: false },
          },
          [
            {
              callId: id,
              kind: 'tool',
              capability: `skill:${tool.id}`,
              tool: tool.id,
              name: tool.id,
              definition,
              digest: digestOf(tool, input),
              argumentsDigest: argumentsDigest(input),
              input: mask(argumentsText(input), parts.secrets()),
              message: null,
              options: null,
              dual: false,
              grantable: null,
            },
          ],
          [],
          now,
        );
        const [approval] = await approvalsOfStep(q, id, noStep);
        if (!approval) throw new GatehouseError('unavailable', 'the question was not stored');
        await addSkillCall(q, { id, approvalId: approval.id, skill: tool.id, input, channel, userId }, now);
        return approval.id;
      });
    },
    async read({ channel, userId }, approval) {
      const call = await findSkillCall(db, approval);
      if (!call || call.channel !== channel || call.userId !== userId) return null;
      const state = { asked: 'pending', started: 'running', finished: call.isError ? 'failed' : 'done' } as const;
      return { approval, state: state[call.state], content: call.content };
    },
    start: stage.start,
    async stop() {
      await stage.stop();
      const cut = clock.after(limits.drainMs, () => ended.abort());
      await Promise.all(underWay);
      cut();
    },
  };
}

function digestOf(tool: SkillTool, input: JsonObject): string {
  const capability = `skill:${tool.id}`;
  return callDigest({ capability, tool: tool.id, definition: definitionOf(tool), agentVersion: 0, input });
}
