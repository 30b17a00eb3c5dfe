/** Answers with status 200 that are not what the method gives. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import nodeTest, { type TestContext } from 'node:test';
import { createHarness, createWatchedClock, message, placeOf } from './harness.ts';

const test = (name: string, body: (t: TestContext) => Promise<void>) => nodeTest(name, { timeout: 20_000 }, body);

const good: Record<string, string> = {
  getMe: '{"ok":true,"result":{"id":5,"is_bot":true,"first_name":"b","username":"b_bot"}}',
  deleteWebhook: '{"ok":true,"result":true}',
  sendMessage: '{"ok":true,"result":{}}',
};

/** A server that gives the strange answers of a method first, then good ones; updates then take their time. */
async function serveStrange(t: TestContext, strange: Record<string, string[]>): Promise<string> {
  const server = createServer((request, response) => {
    const method = request.url?.split('/').at(-1) ?? '';
    const text = strange[method]?.shift() ?? good[method];
    request.resume().on('end', () => text !== undefined && response.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const cases: [string, string, string][] = [
  ['getUpdates', 'no result', '{"ok":true}'],
  ['getUpdates', 'a result that is no list', '{"ok":true,"result":{"a":1}}'],
  ['getUpdates', 'updates without ids', '{"ok":true,"result":[{"message":{}}]}'],
  ['getUpdates', 'null', '{"ok":true,"result":null}'],
  ['getMe', 'no result', '{"ok":true}'],
  ['getMe', 'a bot without a name', '{"ok":true,"result":{"id":5}}'],
];
for (const [method, what, answer] of cases)
  test(`R8: ${what} in answer to ${method} is trouble that passes`, async (t) => {
    const clock = createWatchedClock();
    const harness = createHarness(t, { url: await serveStrange(t, { [method]: [answer, answer] }), clock });
    await harness.start();
    await harness.until('trouble', () => harness.reports.at(-1)?.state === 'down');
    await clock.waiting(400, 1_000);
    await clock.advance(1_000);
    await clock.waiting(400, 4_000);
    await clock.advance(4_000);
    // The poll that follows is answered by nobody: it hangs as it should.
    await clock.waiting(15_000, 45_000);
    assert.ok(!harness.reports.some(({ state }) => state === 'failed'), harness.said());
  });

test('D3: a send that is answered without a message may have arrived', async (t) => {
  const harness = createHarness(t, { url: await serveStrange(t, {}) });
  const sent = harness.adapter.send(message(placeOf({ id: 7 }), 'hello'), AbortSignal.timeout(5_000));
  await assert.rejects(sent, { code: 'delivery', outcome: 'unknown' });
});
