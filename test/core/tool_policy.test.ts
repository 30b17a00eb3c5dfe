import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideTool, mayDecideOwn, type ToolDecision, type ToolFacts } from '../../src/policy/tools.ts';

const facts: ToolFacts = {
  effect: 'safe',
  declared: undefined,
  dualSign: false,
  foreign: false,
  admin: undefined,
  permissionMode: 'mutating-with-confirm',
  spec: 'default',
  bindingRequired: false,
  conversation: null,
  own: undefined,
  grant: null,
  audience: 'direct',
  aloneDecides: true,
};
const admin = (verdict: 'allow' | 'ask' | 'block') => ({ admin: { verdict, origin: 'config' as const } });
const mutating = { effect: 'mutating' as const };
const dangerous = { effect: 'dangerous' as const };
const twoPeople = { permissionMode: 'dual-sign-required' as const };
const room = { audience: 'group' as const };

type Row = [over: Partial<ToolFacts>, verdict: string, rule: string, more?: Partial<ToolDecision>];

function check(rows: readonly Row[]): void {
  for (const [over, verdict, rule, more] of rows) {
    const decision = decideTool({ ...facts, ...over });
    assert.deepEqual([decision.verdict, decision.rule], [verdict, rule], JSON.stringify(over));
    for (const [key, value] of Object.entries(more ?? {}))
      assert.equal(decision[key as keyof ToolDecision], value, `${key} of ${JSON.stringify(over)}`);
  }
}

test('R38: base is the declaration; an admin replaces it; never turns a declared ask into allow', () => {
  check([
    [{}, 'allow', 'effect: safe'],
    [mutating, 'ask', 'effect: mutating', { dual: false, loosenable: 'any' }],
    [{ ...mutating, declared: 'allow' }, 'allow', 'declared: allow'],
    [{ declared: 'ask' }, 'ask', 'declared: ask'],
    [{ ...mutating, spec: 'never' }, 'allow', 'agent: approval never'],
    [{ ...mutating, declared: 'block', spec: 'never' }, 'block', 'declared: block'],
    [{ ...mutating, ...admin('ask'), spec: 'never' }, 'ask', 'admin: ask', { loosenable: null }],
    [{ ...mutating, ...admin('allow') }, 'allow', 'admin: allow'],
    [admin('block'), 'block', 'admin: block'],
    [{ admin: { verdict: 'ask', origin: 'run time' } }, 'ask', 'admin: ask (set at run time)'],
  ]);
});

test('R38: the floor of the agent’s permission mode', () => {
  check([
    [dangerous, 'block', 'permission_mode: mutating-with-confirm'],
    [{ ...dangerous, ...admin('ask') }, 'ask', 'admin: ask', { dual: true }],
    [{ ...dangerous, ...admin('allow') }, 'allow', 'admin: allow'],
    [{ ...dangerous, ...twoPeople }, 'ask', 'effect: dangerous', { dual: true, loosenable: null }],
    [{ ...dangerous, ...twoPeople, declared: 'allow' }, 'ask', 'permission_mode: dual-sign-required', { dual: true }],
    [{ ...dangerous, ...twoPeople, spec: 'never' }, 'ask', 'effect: dangerous', { dual: true }],
    [{ permissionMode: 'read-only' }, 'allow', 'effect: safe'],
    [{ ...mutating, permissionMode: 'read-only', ...admin('allow') }, 'block', 'permission_mode: read-only'],
    [{ ...dangerous, permissionMode: 'read-only', ...admin('ask') }, 'block', 'permission_mode: read-only'],
    [{ dualSign: true, declared: 'allow' }, 'ask', 'declared: two people', { dual: true, loosenable: null }],
    [{ ...mutating, dualSign: true, spec: 'never' }, 'ask', 'effect: mutating', { dual: true }],
  ]);
});

test('A5: a tool from outside that no rule mentions is blocked, and follows a rule that does', () => {
  check([
    [{ ...mutating, foreign: true }, 'block', 'no rule for a tool from outside'],
    [{ foreign: true, own: 'allow', spec: 'never', grant: 'any' }, 'block', 'no rule for a tool from outside'],
    [{ ...mutating, foreign: true, declared: 'allow' }, 'allow', 'declared: allow'],
    [{ ...mutating, foreign: true, ...admin('allow') }, 'allow', 'admin: allow'],
  ]);
});

test('R38: agent, binding, conversation and person tighten; the reason that cannot be lifted is named', () => {
  check([
    [{ spec: 'required' }, 'ask', 'agent: approval required', { loosenable: null }],
    [{ ...mutating, spec: 'required' }, 'ask', 'agent: approval required', { loosenable: null }],
    [{ ...mutating, spec: 'required', own: 'allow', grant: 'any' }, 'ask', 'agent: approval required'],
    [{ ...mutating, ...admin('allow'), spec: 'required' }, 'ask', 'agent: approval required'],
    [{ ...admin('ask'), spec: 'required' }, 'ask', 'admin: ask'],
    [{ bindingRequired: true }, 'ask', 'binding: approval required', { loosenable: null }],
    [{ own: 'ask' }, 'ask', 'own: ask', { loosenable: null }],
    [{ own: 'ask', grant: 'any' }, 'ask', 'own: ask'],
    [{ own: 'block' }, 'block', 'own: block'],
    [{ ...admin('allow'), own: 'block' }, 'block', 'own: block'],
    [{ ...admin('block'), own: 'block' }, 'block', 'admin: block'],
  ]);
});

test('R95: mode ask makes every tool ask and nobody’s own allow lifts it', () => {
  check([
    [{ conversation: 'ask' }, 'ask', 'conversation: ask all', { loosenable: null }],
    [{ ...admin('allow'), conversation: 'ask' }, 'ask', 'conversation: ask all'],
    [{ ...mutating, conversation: 'ask', own: 'allow', grant: 'exact' }, 'ask', 'conversation: ask all'],
    [{ ...admin('block'), conversation: 'ask' }, 'block', 'admin: block'],
  ]);
});

test('R95: mode waive lifts every ask in a direct chat but an admin’s and one of two people', () => {
  const waive = { conversation: 'waive' as const };
  check([
    [{ ...mutating, ...waive }, 'allow', 'waived', { by: 'waived' }],
    [{ ...waive, spec: 'required' }, 'allow', 'waived'],
    [{ ...mutating, ...waive, aloneDecides: false }, 'allow', 'waived'],
    [waive, 'allow', 'effect: safe'],
    [{ ...mutating, ...waive, ...admin('ask') }, 'ask', 'admin: ask'],
    [{ ...dangerous, ...waive, ...twoPeople }, 'ask', 'effect: dangerous', { dual: true }],
    [{ ...mutating, ...waive, ...room }, 'ask', 'effect: mutating'],
    [{ ...mutating, ...waive, audience: 'public' }, 'ask', 'effect: mutating', { loosenable: null }],
    [{ ...waive, own: 'block' }, 'block', 'own: block'],
  ]);
});

test('R43: a person’s own allow counts in direct chats, in a room only an always allow of exact arguments', () => {
  const own = { own: 'allow' as const };
  check([
    [{ ...mutating, ...own }, 'allow', 'own: allow'],
    [{ ...mutating, ...own, ...room }, 'ask', 'effect: mutating', { loosenable: 'exact' }],
    [{ ...mutating, ...own, audience: 'public' }, 'ask', 'effect: mutating', { loosenable: null }],
    [{ ...mutating, ...own, aloneDecides: false }, 'ask', 'effect: mutating', { loosenable: null }],
    [{ ...mutating, ...own, ...admin('ask') }, 'ask', 'admin: ask', { loosenable: null }],
    [{ ...dangerous, ...own, ...twoPeople }, 'ask', 'effect: dangerous', { loosenable: null }],
    [{ ...dangerous, ...own }, 'block', 'permission_mode: mutating-with-confirm'],
    [{ ...mutating, grant: 'any' }, 'allow', 'own: always allow', { by: 'always_allow' }],
    [{ ...mutating, grant: 'exact' }, 'allow', 'own: always allow these arguments'],
    [{ ...mutating, grant: 'any', ...room }, 'ask', 'effect: mutating', { loosenable: 'exact' }],
    [{ ...mutating, grant: 'exact', ...room }, 'allow', 'own: always allow these arguments'],
    [{ ...mutating, grant: 'exact', ...room, aloneDecides: false }, 'ask', 'effect: mutating'],
    [{ ...mutating, grant: 'exact', audience: 'public' }, 'ask', 'effect: mutating'],
  ]);
});

test('R47: who may answer the questions of their own run', () => {
  const ana = { account: 'tg:ana', admin: false };
  assert.equal(mayDecideOwn('requester', ana), true);
  assert.equal(mayDecideOwn('members', ana), true);
  assert.equal(mayDecideOwn('admins', ana), false);
  assert.equal(mayDecideOwn('admins', { ...ana, admin: true }), true);
  assert.equal(mayDecideOwn(['tg:ben'], ana), false);
  assert.equal(mayDecideOwn(['tg:ben', 'tg:ana'], ana), true);
  assert.equal(mayDecideOwn('requester', null), false);
});

/** Every value of every fact. */
const domain: { [Key in keyof ToolFacts]: readonly ToolFacts[Key][] } = {
  effect: ['safe', 'mutating', 'dangerous'],
  declared: [undefined, 'allow', 'ask', 'block'],
  dualSign: [false, true],
  foreign: [false, true],
  admin: [undefined, admin('allow').admin, admin('ask').admin, admin('block').admin],
  permissionMode: ['read-only', 'mutating-with-confirm', 'dual-sign-required'],
  spec: ['default', 'required', 'never'],
  bindingRequired: [false, true],
  conversation: [null, 'ask', 'waive'],
  own: [undefined, 'allow', 'ask', 'block'],
  grant: [null, 'any', 'exact'],
  audience: ['direct', 'group', 'public'],
  aloneDecides: [false, true],
};

function* everyCombination(): Generator<ToolFacts> {
  const keys = Object.keys(domain) as (keyof ToolFacts)[];
  const at = keys.map(() => 0);
  const row = Object.fromEntries(keys.map((key) => [key, domain[key][0]])) as unknown as Record<string, unknown>;
  for (;;) {
    yield row as unknown as ToolFacts;
    let position = 0;
    for (;;) {
      if (position === keys.length) return;
      const key = keys[position]!;
      at[position] = (at[position]! + 1) % domain[key].length;
      row[key] = domain[key][at[position]!];
      if (at[position] !== 0) break;
      position++;
    }
  }
}

const strictness = { allow: 0, ask: 1, block: 2 };

test('A4, R38, R41, R43, R95: what must hold over every combination of facts', () => {
  const broken = new Map<string, string>();
  let rows = 0;
  for (const row of everyCombination()) {
    rows++;
    const { verdict, by, dual, loosenable } = decideTool(row);
    const must = (sentence: string, holds: boolean) => {
      if (!holds && !broken.has(sentence)) broken.set(sentence, JSON.stringify(row));
    };
    const stricter = (over: Partial<ToolFacts>) =>
      strictness[decideTool({ ...row, ...over }).verdict] >= strictness[verdict];
    const said = row.admin?.verdict;
    must('an admin’s block always blocks', said !== 'block' || verdict === 'block');
    must('an admin’s ask is never an allow', said !== 'ask' || verdict !== 'allow');
    must('a person’s block always blocks', row.own !== 'block' || verdict === 'block');
    must('requiring approval never loosens', stricter({ spec: 'required' }));
    must('a binding that requires approval never loosens', stricter({ bindingRequired: true }));
    must('ask all never loosens', stricter({ conversation: 'ask' }));
    must('a person’s ask never loosens', row.own === 'block' || stricter({ own: 'ask' }));
    must('an admin’s block never loosens', stricter({ admin: { verdict: 'block', origin: 'config' } }));
    must(
      'nothing but reading runs under read-only',
      !(row.permissionMode === 'read-only' && row.effect !== 'safe') || verdict === 'block',
    );
    must(
      'a dangerous tool runs alone only where an admin allows it',
      row.effect !== 'dangerous' || verdict !== 'allow' || said === 'allow',
    );
    must(
      'two people are asked about what needs two',
      dual === (verdict === 'ask' && (row.effect === 'dangerous' || row.dualSign)),
    );
    must('ask all allows nothing', row.conversation !== 'ask' || verdict !== 'allow');
    must(
      'what is required is lifted by waive alone',
      (row.spec !== 'required' && !row.bindingRequired) || verdict !== 'allow' || by === 'waived',
    );
    must(
      'waive counts in a direct chat only',
      by !== 'waived' || (row.audience === 'direct' && row.conversation === 'waive' && said !== 'ask'),
    );
    must(
      'a person’s own allow counts in a direct chat only',
      by !== 'own' || verdict !== 'allow' || row.audience === 'direct',
    );
    must(
      'in a room an always allow names its arguments',
      by !== 'always_allow' || row.audience === 'direct' || (row.audience === 'group' && row.grant === 'exact'),
    );
    must(
      'a loosening lifts only what its owner alone may answer',
      !['own', 'always_allow'].includes(by) || verdict !== 'allow' || row.aloneDecides,
    );
    must(
      'without own words and a mode of the conversation the person changes nothing',
      row.own !== undefined ||
        row.grant !== null ||
        row.conversation !== null ||
        decideTool({ ...row, audience: 'public', aloneDecides: false }).verdict === verdict,
    );
    must(
      'an always allow never tightens',
      strictness[decideTool({ ...row, grant: null }).verdict] >= strictness[verdict],
    );
    must(
      'what is offered as an always allow would lift the question',
      loosenable === null ||
        decideTool({ ...row, grant: loosenable }).verdict === 'allow' ||
        row.conversation === 'waive',
    );
    must(
      'what is not offered would not lift it',
      verdict !== 'ask' ||
        loosenable === 'any' ||
        decideTool({ ...row, grant: 'any', own: row.own === 'ask' ? 'ask' : 'allow' }).verdict === 'ask',
    );
    must(
      'a tool from outside without a rule is blocked',
      !row.foreign || row.declared !== undefined || said !== undefined || verdict === 'block',
    );
  }
  assert.equal(rows, 746_496);
  assert.deepEqual([...broken], []);
});
