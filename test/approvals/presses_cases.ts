/** Presses: what a button is bound to, who may press, and that a question is decided once (rules 46 to 48, 51, 52). */
import assert from 'node:assert/strict';
import { askFor, askToSend, codeOf, isUntouched, states } from './asking.ts';
import type { Scene, Shown } from './stage.ts';
import { both, type Cases, room } from './suite.ts';

async function auditOf(scene: Scene): Promise<string[]> {
  const rows = await scene.rows<{ action: string; actor: string }>(
    `select action, actor from audit where action like 'approval.%' order by id`,
  );
  return rows.map(({ action, actor }) => `${action} ${actor}`);
}

/** Someone is refused on every way there is: they are told so, nobody else is, and the card stays as it is. */
async function refusesMember(scene: Scene, card: Shown): Promise<void> {
  const before = scene.texts();
  assert.match(await scene.press('member', card, 'Approve'), /^That is not yours to decide\./);
  assert.match(await scene.press('member', card, 'Deny'), /^That is not yours to decide\./);
  scene.say('member', `yes ${codeOf(card)}`);
  scene.say('member', 'no', { to: card });
  await scene.quiet();
  assert.equal(scene.texts({ of: 'member' }).filter((text) => text.includes('not yours to decide')).length, 2);
  assert.deepEqual(scene.texts(), before);
  await isUntouched(scene, card);
  assert.deepEqual(await states(scene), ['pending']);
}

export const pressesCases: Cases = {
  'R46, A9: the data of a button is an opaque id of at most 64 bytes, and decides its own question alone': {
    where: both,
    async run(scene) {
      const first = await askToSend(scene, 'one');
      const second = await askToSend(scene, 'two');
      for (const label of first.buttons) {
        assert.ok(Buffer.byteLength(first.data(label)) <= 64);
        assert.doesNotMatch(first.data(label), /approve|deny|send|one/i);
      }
      const data = first.data('Approve');
      assert.equal(await scene.press('requester', first, 'Approve'), '');
      await scene.sees('Done with one.');
      assert.match(await scene.pressData('requester', first, data), /^Already approved by Rita/);
      await scene.quiet();
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
      assert.equal(scene.now(second).edits, 0);
      assert.deepEqual(await states(scene), ['approved', 'pending']);
    },
  },

  'R46, A11: a press from another message of the chat changes nothing and is told so alone': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene, 'one');
      const other = await askToSend(scene, 'two');
      const before = scene.texts();
      assert.match(await scene.pressData('requester', other, card.data('Approve')), /belongs to another message/);
      await isUntouched(scene, card);
      await isUntouched(scene, other);
      assert.deepEqual(scene.texts(), before);
    },
  },

  'R46, A11: a press as if the card stood in another chat changes nothing': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      const inChatOf = scene.where === 'room' ? 'requester' : 'member';
      assert.match(await scene.pressData('requester', card, card.data('Approve'), { inChatOf }), /another message/);
      await isUntouched(scene, card);
    },
  },

  'R46, A11: a press on a forwarded copy of the card changes nothing': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      scene.pressForwarded('requester', card, 'Approve');
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R46: made-up data changes nothing': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      const data = card.data('Approve');
      const [id] = data.split('.');
      for (const wrong of [
        'approve',
        'yes',
        `${id}`,
        `${id}.1.a`,
        `${id}.0.z`,
        `${id}.0.o1`,
        `${'0'.repeat(25)}.0.a`,
        '"',
      ])
        assert.equal(await scene.pressData('requester', card, wrong), 'This question is not known any more.');
      await isUntouched(scene, card);
    },
  },

  'R46: all cards of an approval are edited once after the decision': {
    where: room,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      scene.setMember('admin', false);
      const card = await askToSend(scene);
      const copy = await scene.card('', { of: 'admin' });
      assert.equal(await scene.press('admin', copy, 'Approve'), '');
      await scene.sees('Done with one.');
      await scene.quiet();
      for (const shown of [card, copy]) {
        const { text, buttons, edits } = scene.now(shown);
        assert.deepEqual([edits, buttons], [1, []]);
        assert.match(text, /approved by Ada \(tg:7003\), \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
      }
    },
  },

  'R47, A5, A6, A8: with the default rule nobody but the requester decides, by button or by words': {
    where: room,
    async run(scene) {
      const card = await askToSend(scene);
      await refusesMember(scene, card);
      // An admin of the installation is somebody else too.
      assert.match(await scene.press('admin', card, 'Approve'), /Rita decides/);
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      await scene.sees('Done with one.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R47, A6, A7: a stranger who was never sent the card is refused': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      const notice = await scene.pressData('stranger', card, card.data('Approve'));
      assert.match(notice, /^That is not yours to decide\. Rita decides\.$/);
      await isUntouched(scene, card);
    },
  },

  'R47: an anonymous admin decides nothing': {
    where: room,
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene);
      scene.say('admin', `yes ${codeOf(card)}`, { anonymous: true });
      scene.say('admin', 'yes', { to: card, anonymous: true });
      await isUntouched(scene, card);
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R47: with the rule "admins" an admin decides and the requester does not': {
    where: room,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      const card = await askToSend(scene);
      assert.match(card.text, /An admin decides\./);
      assert.match(await scene.press('requester', card, 'Approve'), /An admin decides\./);
      await refusesMember(scene, card);
      assert.equal(await scene.press('admin', card, 'Approve'), '');
      await scene.sees('Done with one.');
    },
  },

  'R47: roles are read at the press: who is no admin any more is refused': {
    where: room,
    options: { approvals: { approvers: 'admins' } },
    async run(scene) {
      const card = await askToSend(scene);
      await scene.reload({ admins: [scene.account('member')] });
      assert.match(await scene.press('admin', card, 'Approve'), /not yours to decide/);
      await isUntouched(scene, card);
      assert.equal(await scene.press('member', card, 'Approve'), '');
      await scene.sees('Done with one.');
    },
  },

  'R47: with the rule "members" whoever stands in the chat at the press decides': {
    where: room,
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene);
      assert.match(card.text, /Any member of this chat decides\./);
      scene.setMember('member', false);
      assert.match(await scene.press('member', card, 'Approve'), /not yours to decide/);
      assert.match(await scene.pressData('stranger', card, card.data('Approve')), /not yours to decide/);
      await isUntouched(scene, card);
      scene.setMember('member', true);
      assert.equal(await scene.press('member', card, 'Approve'), '');
      await scene.sees('Done with one.');
    },
  },

  'R47: membership fails closed: when the platform does not say, nobody is a member': {
    where: room,
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene);
      scene.hideMembers();
      assert.match(await scene.press('member', card, 'Approve'), /not yours to decide/);
      scene.say('member', `yes ${codeOf(card)}`);
      await isUntouched(scene, card);
    },
  },

  'R47, A7: a list of approvers authorises, and nothing else does': {
    where: room,
    options: { approvals: { approvers: ['tg:7002'] } },
    async run(scene) {
      const card = await askToSend(scene);
      assert.match(await scene.press('requester', card, 'Approve'), /One of these decides: tg:7002\./);
      assert.match(await scene.press('admin', card, 'Deny'), /not yours to decide/);
      await isUntouched(scene, card);
      scene.say('member', `yes ${codeOf(card)}`);
      await scene.sees('Done with one.');
      assert.match((await scene.closed(card)).text, /approved by Mo \(tg:7002\)/);
    },
  },

  'R48, A12, A13: of twenty presses at once one decides; the call runs once, the cards are edited once': {
    where: room,
    options: { approvals: { approvers: 'members' } },
    async run(scene) {
      const card = await askToSend(scene);
      const people = ['requester', 'member', 'admin'] as const;
      const presses = Array.from({ length: 20 }, (_, index) => {
        const label = index % 2 === 0 ? 'Approve' : 'Deny';
        return [people[index % 3]!, label] as [(typeof people)[number], string];
      });
      const told = await scene.pressTogether(presses, card);
      await scene.quiet();
      const [state] = await states(scene);
      assert.ok(state === 'approved' || state === 'denied');
      assert.equal(told.filter((notice) => notice === '').length, 1);
      const already = told.filter((notice) => new RegExp(`^Already ${state} by (Rita|Mo|Ada)`).test(notice));
      assert.equal(already.length, 19);
      assert.equal(scene.ran.length, state === 'approved' ? 1 : 0);
      assert.equal(scene.now(card).edits, 1);
      assert.equal(scene.model.requests.length, 2);
      const audited = await auditOf(scene);
      assert.equal(audited.length, 1);
      assert.match(audited[0] ?? '', new RegExp(`^approval\\.${state} tg:700[123]$`));
    },
  },

  'R52, A1: after a restart the button of an open card still works, once': {
    where: both,
    async run(scene) {
      const card = await askToSend(scene);
      await scene.restart();
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      await scene.sees('Done with one.');
      await scene.quiet();
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
      assert.match(scene.now(card).text, /approved by Rita/);
      assert.equal(scene.model.requests.length, 2);
    },
  },

  'R52: after a restart a decided card cannot be pressed again': {
    async run(scene) {
      const card = await askToSend(scene);
      const data = card.data('Deny');
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      await scene.restart();
      assert.match(await scene.pressData('requester', card, data), /^Already approved by Rita/);
      await scene.quiet();
      assert.equal(scene.ran.length, 1);
      assert.deepEqual(await states(scene), ['approved']);
    },
  },

  'A2, D2: a restart between the decision and the call runs it once': {
    async run(scene) {
      const card = await askToSend(scene);
      // The lane is taken, so that the decided run has to wait for it.
      const gate = Promise.withResolvers<void>();
      scene.model.script({ text: 'Talked.', gate: () => gate.promise });
      scene.ask('talk');
      await scene.model.request(2);
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      assert.deepEqual(scene.ran, []);
      const restarting = scene.restart();
      gate.resolve();
      await restarting;
      await scene.sees('Done with one.');
      await scene.quiet();
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R52, A3: a press that the store cannot take changes nothing, and works when it comes again': {
    async run(scene) {
      const card = await askToSend(scene);
      await scene.change(
        `create trigger broken before update of state on approvals begin select raise(abort, 'disk trouble'); end`,
      );
      const pressed = scene.press('requester', card, 'Approve');
      await scene.sees('Approval needed');
      assert.deepEqual(scene.now(card).buttons, card.buttons);
      assert.deepEqual(await states(scene), ['pending']);
      await scene.change('drop trigger broken');
      assert.equal(await pressed, '');
      await scene.sees('Done with one.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R51: a card that cannot be delivered leaves the question open, and is sent again': {
    options: { timed: true },
    async run(scene) {
      scene.refuseMessages(2);
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      scene.ask('send one');
      await scene.model.request(1);
      await scene.quiet();
      assert.deepEqual(await states(scene), ['pending']);
      await scene.later(11 * 60_000);
      const card = await scene.card();
      assert.equal(await scene.press('requester', card, 'Approve'), '');
      await scene.sees('Done with one.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R51: a question whose card is lost is decided by its code': {
    async run(scene) {
      scene.refuseMessages(1);
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      scene.ask('send one');
      await scene.model.request(1);
      await scene.quiet();
      scene.say('requester', '/status');
      await scene.sees('waits for approval');
      assert.deepEqual(await states(scene), ['pending']);
    },
  },

  'R48: a decision is one row in the audit, with who made it': {
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'one' }]);
      await scene.press('requester', card, 'Deny');
      await scene.sees('Done with one.');
      assert.deepEqual(await auditOf(scene), [`approval.denied ${scene.account('requester')}`]);
    },
  },
};
