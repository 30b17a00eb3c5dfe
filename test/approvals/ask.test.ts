/** Putting questions to people, over real databases. */
import assert from 'node:assert/strict';
import { type Asking, askPeople, type NewQuestion, whyNobody } from '../../src/approvals/ask.ts';
import type { ApprovalParts } from '../../src/approvals/parts.ts';
import { decideByWords } from '../../src/approvals/words.ts';
import { ensureAccount, setAdmin, setPaired } from '../../src/store/accounts.ts';
import { settleOutboxRow } from '../../src/store/outbox.ts';
import { removeOld } from '../../src/store/retention.ts';
import { wordsFor } from '../../src/words/index.ts';
import { eachDatabase } from '../support/databases.ts';
import { sender } from '../support/inbox_world.ts';

const parts: ApprovalParts = {
  settings: () => ({ language: 'en', timezone: 'UTC', admins: new Set(), channels: new Map() }),
  adapterOf: () => undefined,
  count: () => {},
};
const asking: Asking = {
  runId: 'r1',
  step: 0,
  agent: 'helper',
  binding: 'bot',
  place: { channel: 'tg', chat: '7' },
  isShown: true,
  direct: true,
  replyTo: null,
  requester: 'p7',
  requesterAccount: 'tg:7',
  rule: { approvers: 'admins', expiresMs: 3_600_000, waive: false },
};
const question: NewQuestion = {
  callId: 'c1',
  kind: 'tool',
  capability: 'acts',
  tool: 'send',
  name: 'send',
  definition: 'd',
  digest: 'g',
  argumentsDigest: 'a',
  input: '{}',
  message: null,
  options: null,
  dual: false,
  grantable: null,
};
const now = 1_790_000_000_000;

eachDatabase(
  'R45: no two questions that are shown in one chat have one code, wherever they are asked',
  async (_t, open) => {
    const db = await open();
    const admin = { name: 'Ada', place: { channel: 'tg', chat: '9' } };
    await db.tx(async (q) => {
      // So many that some would meet: there are some 18,000 codes of three characters.
      for (let number = 0; number < 60; number++) {
        const at = { ...asking, runId: `r${number}`, place: { channel: 'tg', chat: `1${number}` } };
        await askPeople(q, parts, at, Array(10).fill(question), [admin], now);
      }
      for (let number = 0; number < 5; number++) {
        const at = { ...asking, runId: `own${number}`, place: admin.place };
        await askPeople(q, parts, at, Array(10).fill(question), [], now);
      }
    });
    const [row] = await db.all<{ all: number; different: number }>(
      'select count(*) as "all", count(distinct code) as different from approvals',
    );
    assert.deepEqual({ ...row }, { all: 650, different: 650 });
  },
);

eachDatabase(
  'R40, R57: two must sign, and who asks is not known to the gateway: nobody ever could',
  async (_t, open) => {
    const db = await open();
    const by = { ...asking, rule: { ...asking.rule, approvers: 'requester' as const } };
    await db.tx(async (q) => {
      for (const id of ['7', '9']) await ensureAccount(q, 'tg', { id, name: id }, `p${id}`, now);
      await setAdmin(q, 'tg', '9', true);
    });
    assert.equal(await whyNobody(db, parts, by, true, now), 'too_few');
    assert.equal(await whyNobody(db, parts, by, false, now), null);
    await db.tx((q) => setPaired(q, 'tg', '7', 'tg:9', now));
    assert.equal(await whyNobody(db, parts, by, true, now), null);
  },
);

eachDatabase(
  'R52: the message of a card is kept as long as its question, however short runs are kept',
  async (_t, open) => {
    const db = await open();
    await db.tx((q) => askPeople(q, parts, asking, [question], [], now));
    const sent = async () => db.all<{ id: string; ref: string }>('select id, ref from outbox');
    const [card] = await sent();
    await db.tx((q) => settleOutboxRow(q, card?.id ?? '', { state: 'sent', ref: '55', postedAt: now, now }));
    const year = 365 * 24 * 3_600_000;
    await removeOld(db, { messagesBefore: 0, runsBefore: now + year, keysBefore: 0, now: now + year });
    assert.deepEqual(
      (await sent()).map(({ ref }) => ref),
      ['55'],
    );
  },
);

eachDatabase(
  'R44: a yes from before the card stood in that chat decides nothing, also where another bot has a chat of that id',
  async (_t, open) => {
    const db = await open();
    const other = { name: 'Ada', place: { channel: 'tg2', chat: '7' } };
    const own = { ...asking, rule: { ...asking.rule, approvers: 'requester' as const } };
    await db.tx((q) => askPeople(q, parts, own, [question], [other], now));
    const settled = async (channel: string, at: number) => {
      const row = await db.get<{ id: string }>('select id from outbox where channel = ?', channel);
      await db.tx((q) => settleOutboxRow(q, row?.id ?? '', { state: 'sent', ref: '55', postedAt: at, now: at }));
    };
    const code = (await db.get<{ code: string }>('select code from approvals'))?.code;
    const says = (sentAt: number) =>
      db.tx((q) =>
        decideByWords({
          q,
          parts,
          channel: 'tg',
          message: {
            kind: 'message',
            key: 'm',
            chat: { id: '7', kind: 'direct' },
            messageId: '60',
            sender: sender('7'),
            text: `yes ${code}`,
            mentionsBot: false,
            files: [],
            sentAt,
          },
          words: wordsFor(null, 'en'),
          now: sentAt,
          isKnown: true,
          actor: async () => ({
            account: 'tg:7',
            people: ['p7'],
            name: 'Rita',
            admin: false,
            paired: true,
            membership: 'full',
            workspace: false,
            member: null,
          }),
        }),
      );
    await settled('tg2', now + 1_000);
    assert.equal(await says(now + 2_000), null);
    await settled('tg', now + 3_000);
    assert.equal(await says(now + 2_000), null);
    assert.deepEqual(await says(now + 4_000), { notice: null });
  },
);
