/** A card fits its platform whatever is on it (rule 49), before and after the decision. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure as measureTelegram } from '../../adapters/telegram/render.ts';
import { argumentsText, type CardFacts, codeBlock, plainText, showCard } from '../../src/approvals/card.ts';
import { visibleText } from '../../src/base/safe_text.ts';
import type { Approval } from '../../src/store/approvals.ts';
import { wordsFor } from '../../src/words/index.ts';
import { createRandom, type Random } from '../support/random.ts';

const telegram = { textLength: 4_096, measure: measureTelegram, buttonsPerMessage: 100, buttonsPerRow: 8 };
const small = { textLength: 3_000, measure: (text: string) => text.length, buttonsPerMessage: 25, buttonsPerRow: 5 };

function approval(over: Partial<Approval> = {}): Approval {
  return {
    id: 'a1',
    batch: 'b1',
    position: 0,
    runId: 'r1',
    step: 1,
    callId: 'c1',
    kind: 'tool',
    agent: 'helper',
    binding: 'main',
    place: { channel: 'tg', chat: '1' },
    direct: true,
    requester: 'rita',
    requesterAccount: 'tg:1',
    capability: 'mail',
    tool: 'send',
    name: 'send',
    definition: 'd',
    digest: 'd',
    argumentsDigest: 'd',
    input: '{}',
    message: null,
    options: null,
    approvers: 'requester',
    dual: false,
    grantable: null,
    shownTo: [],
    code: '4K7',
    state: 'pending',
    decidedBy: null,
    decidedAt: null,
    reason: null,
    answer: null,
    createdAt: 0,
    expiresAt: Date.UTC(2026, 0, 4),
    ...over,
  };
}

const facts = (approvals: Approval[], over: Partial<CardFacts> = {}): CardFacts => ({
  card: 'k0123456789abcdefghijklmn',
  approvals,
  signed: new Map(),
  requesterName: 'Rita',
  alsoSentTo: [],
  unreached: false,
  timezone: 'UTC',
  ...over,
});
const en = wordsFor('en', 'en');
const show = (approvals: Approval[], over?: Partial<CardFacts>, limits = telegram, buttons = true) =>
  showCard(facts(approvals, over), en, { buttons }, limits);
const labels = (approvals: Approval[], over?: Partial<CardFacts>, limits = telegram) =>
  show(approvals, over, limits).question.buttons.map((row) => row.map(({ label }) => label));

test('R43, R49: the buttons of one question', () => {
  assert.deepEqual(labels([approval()]), [['Approve', 'Deny']]);
  assert.deepEqual(labels([approval({ grantable: 'any' })]), [['Approve', 'Deny'], ['Always allow']]);
  assert.deepEqual(labels([approval({ grantable: 'exact', input: 'x'.repeat(9_000) })]), [
    ['Approve', 'Deny'],
    ['Always allow exactly this', 'Details'],
  ]);
  assert.deepEqual(labels([approval()], { alsoSentTo: ['Ada'] }), [['Approve', 'Deny'], ['Withdraw']]);
  for (const state of ['approved', 'denied', 'expired', 'withdrawn'] as const)
    assert.deepEqual(labels([approval({ state, decidedAt: 1 })]), []);
});

test('R53: of several questions the decided ones have no buttons, and the last open one is not "all"', () => {
  const second = approval({ id: 'a2', position: 1, code: '5K7' });
  assert.deepEqual(labels([approval(), second]), [
    ['Approve 1', 'Deny 1'],
    ['Approve 2', 'Deny 2'],
    ['Approve all', 'Deny all'],
  ]);
  assert.deepEqual(labels([approval({ state: 'denied', decidedAt: 1 }), second]), [['Approve 2', 'Deny 2']]);
});

test('R57: the card shows who has signed', () => {
  const { markdown } = show([approval({ dual: true })], { signed: new Map([['a1', ['Rita_x']]]) });
  assert.match(plainText(markdown), /Approved so far: Rita_x\./);
  assert.match(markdown, /Two people must approve, one of them an admin\./);
});

test('R49: without buttons the words say how to answer, and that the whole must be sent', () => {
  const shown = show([approval({ input: 'x'.repeat(9_000) })], {}, telegram, false);
  assert.match(shown.markdown, /Answer `yes 4K7` or `no 4K7`/);
  assert.deepEqual([shown.needsFull, shown.question.buttons], [true, []]);
  assert.equal(show([approval()], {}, telegram, false).needsFull, false);
});

test('R49: nothing in arguments ends their block', () => {
  assert.equal(codeBlock('a ```` b'), '`````\na ```` b\n`````');
  assert.equal(codeBlock('a'), '```\na\n```');
});

test('R49: what cannot be seen is an escape, lines stay lines', () => {
  assert.equal(
    argumentsText({ a: 'x\u202ey\u0000\u200b', b: ['é'] }),
    '{\n  "a": "x\\u202ey\\u0000\\u200b",\n  "b": [\n    "é"\n  ]\n}',
  );
});

test('R46: data is at most 64 bytes, ids as long as ids get and ten questions', () => {
  const many = Array.from({ length: 10 }, (_, position) =>
    approval({ position, kind: 'question', options: Array(8).fill('o') }),
  );
  const { question } = show(many, { card: 'k'.repeat(40) });
  for (const { data } of question.buttons.flat()) assert.ok(Buffer.byteLength(data) <= 64, data);
});

const pieces = [
  'word ',
  '`',
  '```',
  '\n',
  '*_[](x)',
  '<b>',
  '\u202e',
  '🧑‍🚀',
  'é',
  '\\',
  'https://evil.example/a ',
  '@all ',
  '1. ',
  '| a | b |\n',
];
const text = (random: Random, most: number) => {
  let out = '';
  const length = random.below(most + 1);
  while (out.length < length) out += random.pick(pieces);
  return out.slice(0, length);
};
const name = (random: Random, most: number) =>
  random.times(most, () => random.pick(['a', 'b', '_', '-', '9'])).join('');

/** Everything as long as it can become on its way here. */
function anyApproval(random: Random, position: number): Approval {
  const kind = random.below(3) === 0 ? ('question' as const) : ('tool' as const);
  const state = random.pick(['pending', 'pending', 'approved', 'denied', 'expired', 'withdrawn'] as const);
  const decided = state === 'approved' || state === 'denied';
  return approval({
    id: `a${position}`,
    position,
    kind,
    state,
    code: random.pick(['4K7', 'ABCDEFGH9J']),
    input:
      kind === 'question'
        ? visibleText(text(random, 500))
        : argumentsText({ a: text(random, random.pick([20, 3_000, 30_000])) }),
    message: kind === 'tool' && random.below(2) === 0 ? text(random, 140) : null,
    options: kind === 'question' ? Array.from({ length: random.below(9) }, () => text(random, 100)) : null,
    capability: name(random, 64),
    tool: name(random, 64),
    name: name(random, 64),
    approvers: random.pick(['requester', 'admins', 'members', Array(random.below(20)).fill('channel:1234567890')]),
    dual: random.below(3) === 0,
    grantable: random.pick([null, 'any', 'exact'] as const),
    decidedBy: decided ? text(random, 200) : null,
    decidedAt: state === 'pending' ? null : 1,
    reason: state === 'denied' ? text(random, 1_000) : state === 'withdrawn' ? 'edited' : null,
    answer: kind === 'question' && state === 'approved' ? text(random, 4_000) : null,
  });
}

test('R49: no card is too long for its platform or has too many buttons', () => {
  const random = createRandom();
  for (let round = 0; round < 400; round++) {
    const questions = random.below(10) + 1;
    const approvals = Array.from({ length: questions }, (_, position) => anyApproval(random, position));
    const language = random.pick(['en', 'de', 'pt']);
    const limits = random.pick([telegram, small]);
    const buttons = random.below(2) === 0;
    const over = {
      requesterName: text(random, 80),
      alsoSentTo: Array.from({ length: random.below(21) }, () => text(random, 60)),
      signed: new Map(approvals.map(({ id }) => [id, [text(random, 60)]])),
    };
    const { markdown, question } = showCard(facts(approvals, over), wordsFor(language, 'en'), { buttons }, limits);
    const why = `seed ${random.seed}, round ${round}, ${questions} questions, ${language}, buttons ${buttons}`;
    assert.ok(limits.measure(markdown) <= limits.textLength, `${why}: ${limits.measure(markdown)} long`);
    const shown = question.buttons.flat();
    assert.ok(shown.length <= limits.buttonsPerMessage, why);
    for (const row of question.buttons) assert.ok(row.length <= limits.buttonsPerRow, why);
    assert.equal(new Set(shown.map(({ data }) => data)).size, shown.length, why);
    if (!buttons) continue;
    // Whatever else gives way, every open call can be decided.
    for (const { position, state, kind } of approvals)
      if (state === 'pending' && kind === 'tool')
        assert.equal(shown.filter(({ data }) => new RegExp(`\\.${position}\\.[ad]$`).test(data)).length, 2, why);
  }
});
