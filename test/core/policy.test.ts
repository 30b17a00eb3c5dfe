import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideAccess } from '../../src/policy/access.ts';
import { canBecome, isFinal, stepToCall } from '../../src/run/machine.ts';
import type { RunState, StepBody } from '../../src/types/run.ts';

test('R13: access over its table', () => {
  const base = {
    kind: 'direct' as const,
    account: 'tg:1',
    membership: 'full' as const,
    admin: false,
    paired: false,
    linked: false,
    access: { direct: 'pairing' as const, group: 'open' as const, allow: [] as string[], rateLimit: null },
    mustBeAdmitted: false,
    chatAdmitted: false,
  };
  const verdict = (over: object) => {
    const decided = decideAccess({ ...base, ...over });
    return decided.allow ? 'allow' : decided.reason;
  };
  const access = (over: object) => ({ access: { ...base.access, ...over } });
  assert.equal(verdict({}), 'pair');
  assert.equal(verdict({ paired: true }), 'allow');
  assert.equal(verdict({ admin: true }), 'allow');
  assert.equal(verdict(access({ allow: ['tg:1'] })), 'allow');
  assert.equal(verdict(access({ allow: ['slack:1'] })), 'pair');
  assert.equal(verdict(access({ direct: 'open' })), 'allow');
  assert.equal(verdict({ ...access({ direct: 'open' }), membership: 'guest' }), 'pair');
  assert.equal(verdict({ ...access({ direct: 'open' }), membership: 'external' }), 'pair');
  assert.equal(verdict(access({ direct: 'linked' })), 'linked');
  assert.equal(verdict({ ...access({ direct: 'linked' }), linked: true }), 'allow');
  assert.equal(verdict({ linked: true }), 'pair');
  assert.equal(verdict(access({ direct: 'allowlist' })), 'not_listed');
  assert.equal(verdict({ kind: 'group' }), 'allow');
  assert.equal(verdict({ kind: 'group', mustBeAdmitted: true }), 'admission');
  assert.equal(verdict({ kind: 'group', mustBeAdmitted: true, chatAdmitted: true }), 'allow');
  assert.equal(verdict({ kind: 'group', ...access({ group: 'allowlist' }) }), 'not_listed');
  assert.equal(verdict({ kind: 'group', ...access({ group: 'allowlist', allow: ['tg:1'] }) }), 'allow');
});

test('STYLE 7: every pair of run states is allowed or not as the table says', () => {
  const allowed = new Set([
    'queued running',
    'running awaiting_approval',
    'running completed',
    'running failed',
    'running cancelled',
    'running budget_exceeded',
    'running guardrail_blocked',
    'awaiting_approval queued',
    'awaiting_approval cancelled',
  ]);
  const states: RunState[] = [
    'queued',
    'running',
    'awaiting_approval',
    'completed',
    'failed',
    'cancelled',
    'budget_exceeded',
    'guardrail_blocked',
  ];
  for (const from of states)
    for (const to of states) assert.equal(canBecome(from, to), allowed.has(`${from} ${to}`), `${from} ${to}`);
  assert.deepEqual(states.filter(isFinal), [
    'completed',
    'failed',
    'cancelled',
    'budget_exceeded',
    'guardrail_blocked',
  ]);
});

test('D2: what a run does next follows from its persisted steps', () => {
  const user: StepBody = { kind: 'user', reminder: null, messages: [], unread: [] };
  const answer = (calls: number): StepBody => ({
    kind: 'assistant',
    finish: 'stop',
    message: {
      role: 'assistant',
      text: '',
      calls: Array.from({ length: calls }, (_, n) => ({ id: `${n}`, name: 'x', input: {} })),
    },
  });
  const results: StepBody = { kind: 'results', message: { role: 'tool', results: [] } };
  assert.equal(stepToCall([user]), null);
  assert.equal(stepToCall([user, answer(2)]), 1);
  assert.equal(stepToCall([user, answer(1), results]), null);
  assert.equal(stepToCall([user, answer(1), results, user]), null);
  assert.throws(() => stepToCall([]), /broken invariant: a run begins with what people said/);
  assert.throws(() => stepToCall([user, answer(0)]), /broken invariant: .* are written together/);
});
