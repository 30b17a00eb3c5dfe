/** What a store in trouble means for a message: waited for, unless the message itself is to blame (D1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../src/store/db.ts';
import { explained } from '../../src/store/postgres_errors.ts';
import { guard } from '../../src/store/sqlite_connection.ts';
import type { InboundEvent } from '../../src/types/message.ts';
import { eachDatabase } from '../support/databases.ts';
import { createInboxWorld, sender } from '../support/inbox_world.ts';

const hello: InboundEvent = {
  kind: 'message',
  key: 'm:7:1:0',
  chat: { id: '7', kind: 'direct' },
  messageId: '1',
  sender: sender('7'),
  text: 'hello',
  mentionsBot: false,
  files: [],
  sentAt: 0,
};

function createWorld(db: Db) {
  const world = createInboxWorld(db);
  return { ...world, event: { ...hello, sentAt: world.clock.now() } };
}

async function codesOf(world: ReturnType<typeof createWorld>, times: number): Promise<unknown[]> {
  const codes: unknown[] = [];
  for (let count = 0; count < times; count++)
    codes.push(
      await world
        .inbox()
        .accept(world.event)
        .then(
          () => 'stored',
          (error) => error.code,
        ),
    );
  return codes;
}

eachDatabase('D1: a store with a trouble nobody foresaw is waited for, however often it is asked', async (_t, open) => {
  const db = await open();
  const world = createWorld(db);
  await db.run('alter table inbox rename to inbox_elsewhere');
  assert.deepEqual(await codesOf(world, 5), Array(5).fill('store_unavailable'));
  await db.run('alter table inbox_elsewhere rename to inbox');
  assert.deepEqual(await codesOf(world, 1), ['stored']);
  assert.deepEqual(await world.states(), ['waiting']);
});

eachDatabase(
  'D1: a message that the database refuses for its content is given up at the third try',
  async (_t, open) => {
    const db = await open();
    const world = createWorld(db);
    await db.run(
      db.dialect === 'sqlite'
        ? `create trigger refuse before insert on inbox begin select raise(abort, 'refused'); end`
        : `alter table inbox add constraint refuse check (key <> 'm:7:1:0')`,
    );
    const refused = db.dialect === 'sqlite' ? 'SQLITE_CONSTRAINT_TRIGGER' : '23514';
    assert.deepEqual(await codesOf(world, 3), [refused, refused, 'invalid']);
  },
);

const troubles: [string, string][] = [
  ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN db.internal'],
  ['ERR_SOCKET_CLOSED', 'Socket is closed'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
  ['', 'Client was closed and is not queryable'],
  ['', 'Client network socket disconnected before secure TLS connection was established'],
  ['', 'The server does not support SSL connections'],
  ['40001', 'could not serialize access'],
  ['40P01', 'deadlock detected'],
  ['55P03', 'canceling statement due to lock timeout'],
  ['XX000', 'cache lookup failed'],
  ['42P01', 'relation "inbox" does not exist'],
];
for (const [code, message] of troubles)
  test(`D1: PostgreSQL's "${message}" is waited for`, () => {
    const error = explained('db', Object.assign(new Error(message), code === '' ? {} : { code })) as { code?: unknown };
    assert.equal(error.code, 'store_unavailable');
  });

test('D1: what the data or our code is to blame for stays what it is', () => {
  for (const code of ['22P05', '23505', '54000']) {
    const error = Object.assign(new Error('refused'), { code });
    assert.equal(explained('db', error), error);
  }
  const mistake = new TypeError('x is not a function');
  assert.equal(explained('db', mistake), mistake);
});

test('D1: whatever SQLite says is waited for, but for its words about the data', () => {
  const codeOf = (code: string) => {
    try {
      return guard('file', () => {
        throw Object.assign(new Error('said'), { code });
      });
    } catch (error) {
      return (error as { code: unknown }).code;
    }
  };
  for (const code of ['SQLITE_NOMEM', 'SQLITE_ERROR', 'SQLITE_PROTOCOL', 'SQLITE_INTERRUPT', 'SQLITE_BUSY_SNAPSHOT'])
    assert.equal(codeOf(code), 'store_unavailable', code);
  for (const code of ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG']) assert.equal(codeOf(code), code);
});
