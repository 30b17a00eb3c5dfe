/** Who may decide, and when signatures are enough: the whole table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Asked, isEnough, isRequester, mayDecide, operator, type Signed } from '../../src/approvals/rule.ts';
import type { Actor } from '../../src/types/approval.ts';

const asked = (over: Partial<Asked> = {}): Asked => ({
  approvers: 'requester',
  dual: false,
  requester: 'rita',
  requesterAccount: 'tg:1',
  ...over,
});
const actor = (over: Partial<Actor> = {}): Actor => ({
  account: 'tg:2',
  people: ['mo'],
  name: 'Mo',
  admin: false,
  paired: false,
  membership: 'full',
  workspace: false,
  member: null,
  ...over,
});

const people: Record<string, Actor> = {
  requester: actor({ account: 'tg:1', people: ['rita'] }),
  'paired requester': actor({ account: 'tg:1', people: ['rita'], paired: true }),
  'linked account of the requester': actor({ account: 'slack:9', people: ['rita-there', 'rita'] }),
  'admin who is the requester': actor({ account: 'tg:1', people: ['rita'], admin: true }),
  admin: actor({ admin: true }),
  'member of the chat': actor({ member: true }),
  'paired member of the chat': actor({ member: true, paired: true }),
  'paired person outside': actor({ paired: true, member: false }),
  'full member of the workspace': actor({ workspace: true, member: true }),
  'guest in the chat': actor({ workspace: true, membership: 'guest', member: true }),
  'paired guest in the chat': actor({ workspace: true, membership: 'guest', member: true, paired: true }),
  'external in the chat': actor({ workspace: true, membership: 'external', member: true }),
  'somebody whose membership is not known': actor(),
  'stranger without a person': actor({ people: [], member: false }),
  'on the list': actor({ account: 'tg:77' }),
  'paired and on the list': actor({ account: 'tg:77', paired: true }),
  operator,
};

const table: [asked: Asked, may: string[]][] = [
  [
    asked(),
    ['requester', 'paired requester', 'linked account of the requester', 'admin who is the requester', 'operator'],
  ],
  [asked({ approvers: 'admins' }), ['admin who is the requester', 'admin', 'operator']],
  [
    asked({ approvers: 'members' }),
    [
      'member of the chat',
      'paired member of the chat',
      'full member of the workspace',
      'paired guest in the chat',
      'operator',
    ],
  ],
  [asked({ approvers: ['tg:77'] }), ['on the list', 'paired and on the list', 'operator']],
  [asked({ approvers: [] }), ['operator']],
  [asked({ requester: null, requesterAccount: '' }), ['operator']],
  [asked({ dual: true }), ['paired requester', 'admin who is the requester', 'admin', 'operator']],
  [asked({ dual: true, approvers: 'admins' }), ['admin who is the requester', 'admin', 'operator']],
  [
    asked({ dual: true, approvers: 'members' }),
    [
      'admin who is the requester',
      'admin',
      'paired member of the chat',
      'full member of the workspace',
      'paired guest in the chat',
      'operator',
    ],
  ],
  [
    asked({ dual: true, approvers: ['tg:77'] }),
    ['admin who is the requester', 'admin', 'paired and on the list', 'operator'],
  ],
];

test('R47, R57: who may decide, for every rule and everybody', () => {
  for (const [rule, may] of table) {
    const found = Object.keys(people).filter((who) => mayDecide(rule, people[who]!));
    assert.deepEqual(found, may, JSON.stringify(rule));
  }
});

test('R47: nobody is the requester of a question that nobody asked for', () => {
  const nobodys = asked({ requester: null, requesterAccount: '' });
  for (const who of Object.keys(people)) assert.equal(isRequester(nobodys, people[who]!), false, who);
});

const by = (personId: string, over: Partial<Signed> = {}): Signed => ({
  personId,
  admin: false,
  isRequester: false,
  ...over,
});

test('R57: two different people, one of them an admin, at most one of them the requester', () => {
  const admin = by('ada', { admin: true });
  const requester = by('rita', { isRequester: true });
  const enough: [signed: Signed[], enough: boolean][] = [
    [[], false],
    [[admin], false],
    [[requester], false],
    [[requester, admin], true],
    [[admin, requester], true],
    [[admin, by('mo')], true],
    [[by('mo'), by('eve')], false],
    [[requester, by('mo')], false],
    [[requester, by('mo'), admin], true],
    [[admin, admin], false],
    [[by('rita', { isRequester: true, admin: true }), by('mo')], true],
    [[by('rita', { isRequester: true, admin: true }), by('rita', { isRequester: true })], false],
    // Two accounts of one person, of which one holds the role.
    [[admin, by('ada'), by('mo')], true],
    [[by('ada'), admin, by('mo')], true],
    [[by('rita', { isRequester: true }), by('rita'), admin], true],
  ];
  for (const [signed, result] of enough) assert.equal(isEnough(true, signed), result, JSON.stringify(signed));
  assert.equal(isEnough(false, []), false);
  assert.equal(isEnough(false, [by('mo')]), true);
});
