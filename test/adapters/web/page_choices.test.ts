/** Buttons of questions in a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Receipt } from '../../../src/types/adapter.ts';
import type { Button } from '../../../src/types/message.ts';
import { startChat } from './support.ts';
import { connected, openTab, options } from './tab.ts';

const approve: Button = { data: 'c1.0.a', label: 'Approve', style: 'approve' };
const deny: Button = { data: 'c1.0.d', label: 'Deny', style: 'deny' };
const details: Button = { data: 'c1.0.x', label: 'Details', style: 'plain' };

test('R46: a question is pressed once, waits, says what came of it, and loses its buttons', options, async (t) => {
  const chat = await startChat(t);
  const tab = await openTab(t, chat);
  const ref = await chat.ask('ada', 'out1', 'May I run `deploy`?', [[approve, deny], [details]]);
  const button = tab.page.getByRole('button', { name: 'Approve' });
  await button.waitFor();
  const answered = Promise.withResolvers<Receipt>();
  chat.receipt = answered.promise;
  const pressed = chat.nextPress();
  await button.click();
  assert.deepEqual([(await pressed).ref, (await pressed).data], [ref, 'c1.0.a']);
  // Under way: nothing else of this question can be pressed.
  await tab.page.locator('.choices[aria-busy=true]').waitFor();
  await tab.page.getByRole('button', { name: 'Deny' }).click({ force: true });
  await button.click({ force: true });
  answered.resolve({ notice: 'Approved. It runs now.' });
  const notice = tab.page.locator('#notices[role=status] .toast', { hasText: 'Approved. It runs now.' });
  await notice.waitFor();
  await chat.change('ada', ref, 'May I run `deploy`?\n\napproved by Ada');
  await tab.sees('approved by Ada');
  await button.waitFor({ state: 'detached' });
  assert.equal(await tab.page.locator('.choice').count(), 0);
  assert.equal(chat.presses.length, 1);
  assert.deepEqual(tab.troubles, []);
});

test('a question can be answered by keyboard alone, and the focus is not lost', options, async (t) => {
  const chat = await startChat(t);
  const ref = await chat.ask('ada', 'out1', 'May I?', [[approve, deny]]);
  const tab = await openTab(t, chat);
  const focus = () => tab.evaluate<string>('document.activeElement.dataset.press ?? document.activeElement.className');
  await tab.page.locator('.choice.approve').waitFor();
  await tab.evaluate("document.getElementById('scroll').focus()");
  for (let presses = 0; presses < 20 && (await focus()) !== 'c1.0.d'; presses++) await tab.page.keyboard.press('Tab');
  assert.equal(await focus(), 'c1.0.d');
  const pressed = chat.nextPress();
  await tab.page.keyboard.press('Enter');
  assert.equal((await pressed).data, 'c1.0.d');
  await chat.change('ada', ref, 'One of two', [[approve, deny]]);
  await tab.sees('One of two');
  assert.equal(await focus(), 'c1.0.d');
  await chat.change('ada', ref, 'denied by Ada');
  await tab.sees('denied by Ada');
  assert.match(await focus(), /^line bot/);
});

test('a press whose answer is lost counts once; one that cannot be told says so', options, async (t) => {
  const chat = await startChat(t);
  await chat.ask('ada', 'out1', 'May I?', [[approve, deny]]);
  const tab = await openTab(t, chat);
  chat.receipt = Promise.resolve({ notice: 'Approved.' });
  let posts = 0;
  await tab.page.route('**/chat/api/presses', async (route) => {
    posts++;
    if (posts === 1) {
      await route.fetch();
      return route.abort();
    }
    await route.continue();
  });
  await tab.page.getByRole('button', { name: 'Approve' }).click();
  await tab.page.locator('.toast', { hasText: 'Approved.' }).waitFor();
  assert.equal(chat.presses.length, 2);
  assert.equal(new Set(chat.presses.map(({ key }) => key)).size, 1);

  await tab.page.unroute('**/chat/api/presses');
  await tab.page.route('**/chat/api/presses', (route) =>
    route.fulfill({ status: 400, json: { error: 'Not like this.' } }),
  );
  await tab.page.locator('.choices[aria-busy=false]').waitFor();
  await tab.page.getByRole('button', { name: 'Deny' }).click();
  await tab.page.locator('#problems[role=alert] .toast', { hasText: 'Not like this.' }).waitFor();
  await tab.page.locator('.choices[aria-busy=false]').waitFor();
});

test('buttons stay after a reload, in dark colours, and fit a phone', options, async (t) => {
  const chat = await startChat(t);
  const wide = { ...details, label: `Always allow ${'these-arguments'.repeat(6)}` };
  const rows = Array.from({ length: 3 }, (_, i) => [approve, deny, { ...details, data: `c1.${i}.x` }]);
  await chat.ask('ada', 'out1', 'May I?', [...rows, [wide]]);
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' as const };
  const tab = await openTab(t, chat, phone);
  await tab.page.reload();
  await connected(tab.page);
  assert.equal(await tab.page.locator('.choice').count(), 10);
  const sizes = await tab.evaluate<{ right: number; height: number }[]>(
    `[...document.querySelectorAll('.choice')].map((e) => e.getBoundingClientRect()).map(({ right, height }) => ({ right, height }))`,
  );
  for (const { right, height } of sizes) assert.ok(right <= 360 && height >= 44, JSON.stringify(sizes));
  assert.equal(await tab.evaluate('document.documentElement.scrollWidth'), 360);
  const colour = (kind: string) =>
    tab.evaluate(`getComputedStyle(document.querySelector('.choice.${kind}')).backgroundColor`);
  assert.equal(await colour('approve'), 'rgb(116, 201, 182)');
  assert.equal(await colour('deny'), 'rgba(0, 0, 0, 0)');
  if (process.env.SHOT) await tab.page.screenshot({ path: process.env.SHOT });
});
