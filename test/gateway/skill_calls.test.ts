/** Skills that people decide about over HTTP (rule 97), between the decision and what became of the call. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { decideById } from '../../src/approvals/api.ts';
import { operator } from '../../src/approvals/rule.ts';
import { createSkillCalls } from '../../src/gateway/skill_calls.ts';
import type { SkillCall, SkillOutcome, SkillTool } from '../../src/skills/tool.ts';
import type { Db } from '../../src/store/db.ts';
import type { JsonObject } from '../../src/types/json.ts';
import type { Verdict } from '../../src/types/tool.ts';
import { addPerson, approvalParts } from '../http/questions.ts';
import { becomes } from '../support/becomes.ts';
import { eachDatabase } from '../support/databases.ts';
import { createFakeClock } from '../support/fake_clock.ts';
import { createGate } from '../support/gate.ts';
import { quietLog } from '../support/sandbox_world.ts';

const caller = { channel: 'web', userId: 'ada' };
const unknown =
  'Outcome unknown: this call was under way when the gateway was interrupted. It may have taken effect. Check before you try it again.';

function skill(execute: (input: JsonObject, call: SkillCall) => Promise<SkillOutcome>): SkillTool {
  return {
    id: 'writer',
    name: 'writer',
    effect: 'mutating',
    description: 'Writes.',
    returns: 'JSON',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    definition: 'd1',
    category: 'ops',
    check: () => null,
    execute,
    call: execute,
  };
}

async function world(t: TestContext, db: Db, execute: (call: SkillCall) => Promise<SkillOutcome>) {
  const clock = createFakeClock();
  const rule: { now: Verdict | undefined | Error } = { now: undefined };
  const tool = skill((_, call) => execute(call));
  const gateway = () => {
    const calls = createSkillCalls({
      db,
      clock,
      log: quietLog,
      approvals: approvalParts,
      tools: () => [tool],
      async ruleOf() {
        if (rule.now instanceof Error) throw rule.now;
        return rule.now;
      },
      secrets: () => [],
    });
    t.after(() => calls.stop());
    return calls;
  };
  await addPerson(db, 'ada', 'Ada');
  const calls = gateway();
  const approved = async () => {
    const id = await calls.ask(caller, tool, {});
    const outcome = await decideById(db, approvalParts, id, { choice: 'approve', viewer: operator, reason: null }, 5);
    assert.equal(outcome.ok, true);
    return id;
  };
  const outcomeOf = async (id: string) => {
    const view = await calls.read(caller, id);
    return [view?.state, view?.content];
  };
  return { calls, gateway, rule, approved, outcomeOf, clock };
}

describe('calls of skills that people decide', () => {
  eachDatabase('R38: what a policy blocks when the approved call is about to run does not run', async (t, open) => {
    let ran = 0;
    const { calls, rule, approved, outcomeOf } = await world(t, await open(), async () => {
      ran += 1;
      return { ended: 'done', content: '{}' };
    });
    const first = await approved();
    rule.now = 'block';
    calls.start();
    await becomes(() => outcomeOf(first), ['failed', 'writer was not run: it is blocked by a policy now.']);
    rule.now = new Error('the database is gone');
    const second = await approved();
    await becomes(() => outcomeOf(second), ['failed', 'writer was not run: it is blocked by a policy now.']);
    rule.now = 'ask';
    const third = await approved();
    await becomes(() => outcomeOf(third), ['done', '{}']);
    assert.equal(ran, 1);
  });

  eachDatabase(
    'R88: a stopping gateway waits for a call; what it cuts has an unknown outcome (D2)',
    async (t, open) => {
      const [started, finish, cut] = [createGate(), createGate(), createGate()];
      let count = 0;
      const { calls, approved, outcomeOf, clock } = await world(t, await open(), async ({ signal }) => {
        count += 1;
        if (count === 2) started.open();
        if (count === 1) await finish.opened;
        else
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              cut.open();
              reject(signal.reason);
            });
          });
        return { ended: 'done', content: '{}' };
      });
      const first = await approved();
      const second = await approved();
      calls.start();
      await started.opened;
      const stopped = calls.stop();
      finish.open();
      await becomes(() => outcomeOf(first), ['done', '{}']);
      assert.deepEqual(await outcomeOf(second), ['running', null]);
      await clock.advance(10_000);
      await cut.opened;
      await stopped;
      assert.deepEqual(await outcomeOf(second), ['failed', unknown]);
    },
  );

  eachDatabase(
    'D2: with SQLite a call that a killed gateway left has an unknown outcome from the next start on',
    async (t, open) => {
      const db = await open();
      const { approved, outcomeOf, gateway, clock } = await world(t, db, async () => ({
        ended: 'done',
        content: '{}',
      }));
      const id = await approved();
      await db.run("update skill_calls set state = 'started', started_at = ?", clock.now());
      gateway().start();
      await becomes(() => outcomeOf(id), ['failed', unknown]);
    },
    { only: 'sqlite' },
  );
});
