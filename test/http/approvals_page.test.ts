/** The page of approvals in a real browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { needs } from '../support/needs.ts';
import { createDesk, type Desk, question } from './approvals_desk.ts';
import { openPage } from './browser.ts';
import { startGateway } from './support.ts';

const options = { skip: needs('chromium'), timeout: 60_000 };

async function open(t: TestContext, desk: Desk, profile: BrowserContextOptions = {}) {
  const gateway = await startGateway(t, { approvals: desk });
  const { page, troubles } = await openPage(t, profile);
  const cookie = await gateway.signIn('ada', { name: 'Ada' });
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: gateway.url }]);
  await page.goto(`${gateway.url}/approvals`);
  await page.waitForSelector('#link[data-state=up]');
  return { gateway, page, troubles, card: (id: string) => page.locator(`[data-id="${id}"]`) };
}

/** The page looks every five seconds; this makes it look now. */
const look = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** As they stand on the screen. */
const wordsOf = async (card: Locator) => (await card.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');

const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
};

test(
  'R49, R93: a question shows what would run, in whose words, who asked, where, and who decides',
  options,
  async (t) => {
    const desk = createDesk(
      question('a1', {
        name: 'tidy_up',
        input: '{"folder":"/var/\u202ecache","script":"<img src=x onerror=window.hit=1>"}',
        message: '<b>Harmless</b> cleaning',
        dual: true,
        signatures: [{ name: 'Carol', account: 'web:carol', at: Date.now() - 120_000 }],
      }),
      question('d1', {
        tool: 'snapshot_purge',
        state: 'denied',
        decidedBy: 'Bob (web:bob)',
        decidedAt: Date.now() - 7_200_000,
        reason: 'we need them until Friday',
        mayDecide: false,
      }),
    );
    const { page, card, troubles } = await open(t, desk);
    const words = await wordsOf(card('a1'));
    for (const part of [
      'cache_cleaner',
      'skill:cache_cleaner',
      'the agent calls it tidy_up',
      'Agent helper, asked by Bob in web / bob',
      '3 min. ago',
      'expires in 2 days',
      '4K7',
      '"folder": "/var/\\u202ecache"',
      '<img src=x onerror=window.hit=1>',
      "In the agent's own words <b>Harmless</b> cleaning",
      'Two people must approve, one of them an admin',
      'approved by Carol 2 min. ago',
    ])
      assert.ok(words.includes(part), `${part} is not in: ${words}`);
    assert.equal(await card('a1').locator('.arguments').getAttribute('tabindex'), '0');
    const past = await wordsOf(card('d1'));
    for (const part of ['snapshot_purge', 'denied by Bob (web:bob) 2 hr. ago', 'we need them until Friday'])
      assert.ok(past.includes(part), `${part} is not in: ${past}`);
    assert.equal(await page.locator('#count').textContent(), '1');
    assert.equal(await page.title(), '(1) Approvals · Gatehouse');
    assert.equal(await page.evaluate('window.hit ?? null'), null);
    assert.deepEqual(troubles, []);
    await shot(page, 'two');
  },
);

test('approve, deny, deny with a reason, always allow, withdraw', options, async (t) => {
  const own = { requester: { account: 'web:ada', name: 'Ada' } };
  const desk = createDesk(
    question('a1'),
    question('a2'),
    question('a3'),
    question('a4', { grantable: 'any' }),
    question('a5', { grantable: 'exact' }),
    question('a6', { ...own, mayDecide: false }),
  );
  const { page, card } = await open(t, desk);
  const press = (id: string, name: string) => card(id).getByRole('button', { name, exact: true }).click();
  const closed = (id: string, state: string) => card(id).locator(`.outcome .${state}`).waitFor();

  await press('a1', 'Approve');
  await closed('a1', 'approved');
  await press('a2', 'Deny');
  await closed('a2', 'denied');
  await press('a3', 'Deny with a reason');
  await page.keyboard.type('not on a Friday');
  await page.keyboard.press('Enter');
  await closed('a3', 'denied');
  assert.match(await wordsOf(card('a3')), /not on a Friday/);
  await press('a4', 'Always allow');
  await closed('a4', 'approved');
  await press('a5', 'Always allow exactly this');
  await closed('a5', 'approved');
  await card('a6').getByText('Somebody else decides this.').waitFor();
  assert.equal(await card('a6').getByRole('button', { name: 'Approve' }).count(), 0);
  await press('a6', 'Withdraw');
  await closed('a6', 'withdrawn');
  assert.deepEqual(
    desk.asked.map(({ account, id, choice, reason }) => [account, id, choice, reason]),
    [
      ['web:ada', 'a1', 'approve', null],
      ['web:ada', 'a2', 'deny', null],
      ['web:ada', 'a3', 'deny', 'not on a Friday'],
      ['web:ada', 'a4', 'always', null],
      ['web:ada', 'a5', 'always_exact', null],
      ['web:ada', 'a6', 'withdraw', null],
    ],
  );
  assert.equal(await page.locator('#pending button').count(), 0);
  assert.equal(await page.locator('#count').isVisible(), false);
  await page.reload();
  await page.getByText('Nothing is waiting.').waitFor();
  assert.equal(await page.locator('#decided .card').count(), 6);
});

test('R48: decided elsewhere shows at once, in its place; a late press says who decided', options, async (t) => {
  const desk = createDesk(question('a1'), question('a2'));
  const { page, card } = await open(t, desk);
  const top = async () => (await card('a2').boundingBox())?.y;
  const before = await top();
  desk.set('a1', { state: 'approved', decidedBy: 'Carol (web:carol)', decidedAt: Date.now() });
  await look(page);
  await card('a1').getByText('approved by Carol (web:carol)').waitFor();
  assert.equal(await card('a1').getByRole('button').count(), 0);
  assert.equal(await top(), before);

  desk.refusal = {
    ok: false,
    why: 'decided',
    words: 'Carol (web:carol) has denied this.',
    state: 'denied',
    decidedBy: 'Carol (web:carol)',
  };
  await card('a2').getByRole('button', { name: 'Approve' }).click();
  await page.locator('#problems[role=alert] .toast', { hasText: 'Carol (web:carol) has denied this.' }).waitFor();
  desk.set('a3', {});
  desk.views.push(question('a3', { createdAt: Date.now() }));
  await look(page);
  await card('a3').waitFor();
  const order = await page
    .locator('#pending .card')
    .evaluateAll((cards) => cards.map((one) => (one as unknown as { dataset: { id: string } }).dataset.id));
  assert.deepEqual(order, ['a1', 'a2', 'a3']);
});

test(
  'a reason that is being written survives what others sign, and a press under way is not doubled',
  options,
  async (t) => {
    const desk = createDesk(question('a1', { dual: true }));
    const { page, card } = await open(t, desk);
    await card('a1').getByRole('button', { name: 'Deny with a reason' }).click();
    await page.keyboard.type('half a sen');
    desk.set('a1', { signatures: [{ name: 'Carol', account: 'web:carol', at: Date.now() }] });
    await look(page);
    await card('a1').getByText('approved by Carol').waitFor();
    await page.keyboard.type('tence');
    assert.equal(await card('a1').getByLabel('Reason').inputValue(), 'half a sentence');

    const answer = Promise.withResolvers<void>();
    desk.held = answer.promise;
    await card('a1').getByRole('button', { name: 'Approve' }).click();
    await card('a1').locator('.actions[aria-busy=true]').waitFor();
    await card('a1').getByRole('button', { name: 'Approve' }).click({ force: true });
    await card('a1').getByRole('button', { name: 'Deny', exact: true }).click({ force: true });
    answer.resolve();
    await card('a1').locator('.outcome .approved').waitFor();
    assert.equal(desk.asked.length, 1);
  },
);

test('nothing waits: the page says what would stand here; signed out: it says so', options, async (t) => {
  const { page, gateway } = await open(t, createDesk());
  await page.getByText('Nothing is waiting.').waitFor();
  await shot(page, 'empty');
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  await gateway.db.run('delete from sessions');
  await look(page);
  await page.waitForSelector('#link[data-state=out]');
});

test('on a phone in the dark everything fits and can be touched', options, async (t) => {
  const desk = createDesk(
    question('a1', {
      tool: 'a_tool_with_quite_a_long_name_that_has_to_be_broken_somewhere',
      input: JSON.stringify({ path: `/${'folder/'.repeat(60)}`, lines: Array.from({ length: 60 }, (_, i) => i) }),
      grantable: 'exact',
    }),
    question('a2'),
    question('d1', { state: 'approved', decidedBy: 'Bob', decidedAt: Date.now() - 3_700_000 }),
  );
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' as const };
  const { page } = await open(t, desk, phone);
  await page.getByRole('button', { name: 'Deny with a reason' }).first().click();
  const rights = await page
    .locator('.card *, .bar *')
    .evaluateAll((all) =>
      all.map((one) =>
        Math.ceil((one as unknown as { getBoundingClientRect(): { right: number } }).getBoundingClientRect().right),
      ),
    );
  assert.ok(Math.max(...rights) <= 360, String(Math.max(...rights)));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
  const box = await page.locator('.arguments').first().boundingBox();
  assert.ok(box && box.height < 400, `${box?.height}`);
  for (const button of await page.locator('.choice:visible').all())
    assert.ok(((await button.boundingBox())?.height ?? 0) >= 44);
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(22, 24, 27)');
  await shot(page, 'phone');
});

test('the colours chosen here hold on the chat page too, as one cookie', options, async (t) => {
  const { page } = await open(t, createDesk());
  await page.click('#theme');
  await page.reload();
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  const cookies = await page.context().cookies();
  assert.equal(cookies.find(({ name }) => name === 'gatehouse_theme')?.path, '/');
});
