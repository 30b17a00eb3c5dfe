/** What stands on a card, and that what runs is what was shown (rules 49 and 50, A1, A3). */
import assert from 'node:assert/strict';
import { actTool } from './acts.ts';
import { askFor, askToSend, codeOf, resultsOf, states } from './asking.ts';
import { both, type Cases } from './suite.ts';

const escapeKey = String.fromCharCode(27);
const override = '\u202e';

export const cardsCases: Cases = {
  'R49, A17: the card shows tool, capability, arguments, requester, who decides and until when': {
    where: both,
    async run(scene) {
      const card = await askFor(scene, ['send', { to: ['bob', 'eve'], count: 2 }]);
      assert.match(card.text, /^Approval needed [A-Z0-9]{3}\n\nTool send of acts\n\n/);
      assert.ok(card.text.includes('{\n  "to": [\n    "bob",\n    "eve"\n  ],\n  "count": 2\n}'));
      assert.match(card.text, /Asked for by Rita\. Rita decides\. Open until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
    },
  },

  'R49: a renamed tool is shown by its stable id, and by its new name': {
    options: {
      config: {
        agent: { capabilities: [{ id: 'acts', tool_overrides: { send: { name: 'harmless_lookup' } } }] },
      },
    },
    async run(scene) {
      const card = await askFor(scene, ['harmless_lookup', { what: 'one' }]);
      assert.match(card.text, /Tool send of acts, which the agent knows as harmless_lookup/);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R49, A14, A15: arguments of 100 KB: the card fits, Details shows them to the end, and exactly they run': {
    options: { timed: true },
    async run(scene) {
      const lines = Array.from({ length: 1_250 }, (_, line) => `line ${line} ${'.'.repeat(70)}`);
      const what = `${lines.join('\n')}\nrm -rf / # the bad tail`;
      const card = await askFor(scene, ['send', { what }]);
      assert.doesNotMatch(card.text, /bad tail/);
      assert.match(card.text, /… shortened; 10\d{4} characters in all, see Details\./);
      assert.deepEqual(card.buttons, ['Approve', 'Deny', 'Always allow', 'Details']);
      const refused = scene.refusedMessages();
      assert.equal(refused, 0);
      assert.equal(await scene.press('requester', card, 'Details'), '');
      await scene.sees('the bad tail');
      // They are cut where a message is full, where platforms drop blanks, and hold everything together.
      const dense = (text: string) => text.replace(/\s/g, '');
      assert.ok(dense(scene.texts().slice(1).join('')).includes(dense(JSON.stringify(what))));
      assert.deepEqual(scene.now(card).buttons, card.buttons, 'details decide nothing');
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with line 0');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what } }]);
    },
  },

  'R49: Details are shown only to those whose question it is': {
    where: ['room'],
    async run(scene) {
      const card = await askFor(scene, ['send', { what: 'x'.repeat(5_000) }]);
      const before = scene.texts();
      assert.match(await scene.press('member', card, 'Details'), /not yours to decide/);
      await scene.quiet();
      assert.deepEqual(scene.texts(), before);
    },
  },

  'R49, A17: control and direction characters are shown as escapes': {
    where: both,
    async run(scene) {
      const what = `safe${override}txt.exe ${escapeKey}[31mred${escapeKey}[0m\u200bzero`;
      const card = await askFor(scene, [
        'send',
        { what, _approval_message: `I${override} ask ${escapeKey}[31mnicely` },
      ]);
      assert.ok(card.text.includes('safe\\u202etxt.exe \\u001b[31mred\\u001b[0m\\u200bzero'), card.text);
      assert.doesNotMatch(card.text, new RegExp(`[${override}${escapeKey}\u200b]`));
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what } }]);
    },
  },

  'R49, R90: secrets in arguments are masked on the card, and whole in the call': {
    async run(scene) {
      const what = 'curl -H "key: test-key-of-the-model"';
      const card = await askFor(scene, ['send', { what, _approval_message: 'I use test-key-of-the-model for it' }]);
      assert.doesNotMatch(card.text, /test-key-of-the-model/);
      assert.match(card.text, /curl -H/);
      const [row] = await scene.rows<{ input: string; message: string }>('select input, message from approvals');
      assert.doesNotMatch(`${row?.input}${row?.message}`, /test-key-of-the-model/);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what } }]);
    },
  },

  "R49, A3: the agent's sentence is marked as its own, cut at 140, and pings and links nothing": {
    where: both,
    async run(scene) {
      const said = `I **must** do it, @gate_bot @mo [click](https://evil.example) /approve ${'very '.repeat(60)}soon`;
      const card = await askFor(scene, ['send', { what: 'one', _approval_message: said }]);
      const words = /The agent's own words: “(.*)”/.exec(card.text)?.[1] ?? '';
      assert.equal([...words].length, 140, words);
      assert.ok(words.startsWith('I **must** do it, ＠gate_bot ＠mo [click](https://evil.example)'), words);
      assert.doesNotMatch(card.text, /_approval_message/);
      assert.deepEqual(scene.live(card), []);
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'A3: tools that may ask have _approval_message in their schema, others do not': {
    async run(scene) {
      await askToSend(scene);
      const { tools } = await scene.model.request(1);
      const has = tools
        .filter(({ schema }) => '_approval_message' in ((schema.properties ?? {}) as object))
        .map(({ name }) => name);
      assert.deepEqual(has, ['send', 'post']);
    },
  },

  'R37, R49: text in arguments and names links, pings and formats nothing': {
    where: both,
    async run(scene) {
      const card = await askFor(scene, [
        'send',
        { what: '```\n[x](https://evil.example) @gate_bot https://evil.example/2' },
      ]);
      assert.ok(card.text.includes('[x](https://evil.example) @gate_bot https://evil.example/2'));
      assert.deepEqual(scene.live(card), []);
    },
  },

  'R50: a tool that has changed since asks anew, and the old yes runs nothing': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.setTools((ran) => [actTool(ran, 'send', { description: 'Sends, and tells everybody.' })]);
      await scene.restart();
      await scene.press('requester', card, 'Approve');
      const anew = await scene.card((text) => codeOf({ ...card, text }) !== codeOf(card));
      assert.deepEqual(scene.ran, []);
      await scene.press('requester', anew, 'Approve');
      await scene.sees('Done with one.');
      assert.deepEqual(scene.ran, [{ tool: 'send', input: { what: 'one' } }]);
    },
  },

  'R50: a tool that is gone does not run': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.setTools((ran) => [actTool(ran, 'post')]);
      await scene.restart();
      await scene.press('requester', card, 'Approve');
      await scene.sees('Done with one.');
      assert.match(resultsOf(scene.model.requests.at(-1))[0] ?? '', /There is no tool "send" here/);
      assert.deepEqual(scene.ran, []);
    },
  },

  'R50: an approval is used once, the same call later asks again': {
    async run(scene) {
      const card = await askToSend(scene);
      scene.model.script({ calls: [{ name: 'send', input: { what: 'one' } }] });
      await scene.press('requester', card, 'Approve');
      const again = await scene.card((text) => text.includes('needed') && codeOf({ ...card, text }) !== codeOf(card));
      assert.equal(scene.ran.length, 1);
      assert.deepEqual(await states(scene), ['approved', 'pending']);
      await scene.press('requester', again, 'Deny');
      await scene.sees('Done with one.');
      assert.equal(scene.ran.length, 1);
    },
  },

  'R49: the card is in the language of who asked, with the English names of the buttons': {
    options: { language: 'de' },
    async run(scene) {
      const card = await askToSend(scene);
      assert.match(card.text, /^Freigabe nötig [A-Z0-9]{3}\n\nWerkzeug send von acts/);
      assert.deepEqual(card.buttons, ['Genehmigen (Approve)', 'Ablehnen (Deny)', 'Immer erlauben (Always allow)']);
      scene.say('requester', `ja ${codeOf(card)}`);
      await scene.sees('Done with one.');
      assert.match((await scene.closed(card)).text, /genehmigt von Rita/);
    },
  },
};
