/** Which words decide, in every language, and which are chat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReply } from '../../src/approvals/reply.ts';

const approve = (code: string | null = null) => ({ choice: 'approve', code, reason: null });
const deny = (code: string | null = null, reason: string | null = null) => ({ choice: 'deny', code, reason });

const decides: [text: string, reply: object][] = [
  ['yes', approve()],
  ['Yes', approve()],
  ['  YES!  ', approve()],
  ['yes.', approve()],
  ['approve', approve()],
  ['approved', approve()],
  ['ja', approve()],
  ['Ja!', approve()],
  ['genehmigt', approve()],
  ['genehmigen', approve()],
  ['sim', approve()],
  ['aprovo', approve()],
  ['aprovado', approve()],
  ['aprovar', approve()],
  ['yes 4K7', approve('4K7')],
  ['yes 4k7', approve('4K7')],
  ['ja 4K7.', approve('4K7')],
  ['sim 4K7', approve('4K7')],
  ['yes\n4K7', approve('4K7')],
  ['no', deny()],
  ['No.', deny()],
  ['deny', deny()],
  ['denied', deny()],
  ['nein', deny()],
  ['ablehnen', deny()],
  ['abgelehnt', deny()],
  ['não', deny()],
  ['NÃO!', deny()],
  ['na\u0303o', deny()],
  ['nao', deny()],
  ['negar', deny()],
  ['recusar', deny()],
  ['no 4K7', deny('4K7')],
  ['no, because it is late', deny(null, 'it is late')],
  ['no because it is late', deny(null, 'it is late')],
  ['no: too late', deny(null, 'too late')],
  ['no - too late', deny(null, 'too late')],
  ['no – too late', deny(null, 'too late')],
  ['no 4K7 because Bob\nis away', deny('4K7', 'Bob\nis away')],
  ['no 4K7, wait', deny('4K7', 'wait')],
  ['nein, weil es spät ist', deny(null, 'es spät ist')],
  ['nein 4K7 denn es ist spät', deny('4K7', 'es ist spät')],
  ['não 4K7 porque é tarde', deny('4K7', 'é tarde')],
  ['não, pois é tarde', deny(null, 'é tarde')],
];

const chat = [
  '',
  ' ',
  'yes please',
  'yes, do it',
  'yes, because I say so',
  'yes but later',
  'yes 4K7 but later',
  'yes 4K7 8MP',
  'yes no',
  'yes yes',
  'yes?',
  'no?',
  'yesterday',
  'yes4K7',
  'oh yes',
  '> yes',
  '"yes"',
  'yes BOB',
  'no BOB',
  'yes 42',
  'no 2025',
  'no 42, thanks',
  'yes 47 files were sent, thanks',
  'no way',
  'no one knows',
  'no problem, go on',
  'nobody',
  'not now',
  'ok',
  'okay',
  'sure',
  'y',
  'n',
  '1',
  '👍',
  'ja klar',
  'jawohl',
  'nein danke',
  'simples',
  'sim, claro',
  'nãozinho',
  `no, ${'x'.repeat(3_000)}`,
  '4K7',
  'yes 4K7ABCDEFGH',
];

test('R44: exactly these words decide, in English, German and Portuguese', () => {
  for (const [text, reply] of decides) assert.deepEqual(readReply(text), reply, JSON.stringify(text));
});

test('R44: all other words are chat', () => {
  for (const text of chat) assert.equal(readReply(text), null, JSON.stringify(text.slice(0, 40)));
});

test('R44: a reason is at most 1,000 characters', () => {
  const reply = readReply(`no, ${'x'.repeat(1_050)}`);
  assert.equal(reply?.reason?.length, 1_000);
});

test('the time to read any text is bounded', () => {
  const began = performance.now();
  for (const text of [
    `no ${' '.repeat(64_000)}`,
    `no,${' ,'.repeat(500)}`,
    `yes ${'A1'.repeat(500)}`,
    'no '.repeat(350),
  ])
    readReply(text);
  assert.ok(performance.now() - began < 500);
});
