import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { startTestGateway } from '../support/gateway.ts';

/** What an insert of several rows reads, and one of a single row with a select. */
const literal = /^SCAN (CONSTANT ROW|\d+-ROW VALUES CLAUSE)$/;
/** Small partial indexes that hold only what is open: walking one of them is the point. */
const walked = /^SCAN \w+ USING (COVERING )?INDEX (inbox_ready|runs_open|outbox_due|approvals_pending)$/;
const bySize =
  /\b(inbox|runs|steps|turns|tool_calls|outbox|ledger|conversations|accounts|people|journal|threads|chats|approvals|cards)\b/;

test('no statement on the way of a message walks a table that grows', async (t) => {
  const statements = new Set<string>();
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  } as typeof prepare;
  t.after(() => {
    Database.prototype.prepare = prepare;
  });
  const { telegram, model, gateway, dataDir } = await startTestGateway(t);
  statements.clear();
  const alice = telegram.user({ name: 'Alice' });
  const chat = telegram.privateChat(alice);
  model.script({ calls: [{ name: 'store_set', input: { key: 'k', value: 'v' } }] }, { text: 'done' });
  telegram.say(chat, alice, 'go');
  await telegram.waitForMessage(chat, 'done');
  telegram.say(chat, alice, '/stop');
  await telegram.waitForMessage(chat, 'Nothing is running here.');
  telegram.say(chat, alice, 'yes 4K7');
  await telegram.waitForMessage(chat, /^No open question here has the code 4K7/);
  await gateway.stop();

  const database = new Database(`${dataDir}/gatehouse.db`, { readonly: true });
  t.after(() => database.close());
  const walks: string[] = [];
  for (const sql of statements) {
    if (!/^\s*(select|update|delete|insert)/i.test(sql) || !bySize.test(sql)) continue;
    const values = Array((sql.match(/\?/g) ?? []).length).fill(1);
    const plan = database.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    for (const { detail } of plan)
      if (detail.startsWith('SCAN ') && !walked.test(detail) && !literal.test(detail))
        walks.push(`${detail}: ${sql.replace(/\s+/g, ' ').trim()}`);
      // All that was ever said in a conversation; what waits there has a small index of its own.
      else if (detail.includes('inbox_conversation')) walks.push(`${detail}: ${sql.replace(/\s+/g, ' ').trim()}`);
  }
  assert.ok(statements.size > 20, 'the statements were seen');
  assert.deepEqual(walks, []);
});
