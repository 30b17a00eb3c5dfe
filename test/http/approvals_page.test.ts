/** The page of approvals in a real browser. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Db } from '../../src/store/db.ts';
import { needs } from '../support/needs.ts';
import { openPage } from './browser.ts';
import { addPerson, addQuestion, decideAs, kept } from './questions.ts';
import { startGateway } from './support.ts';

const options = { skip: needs('chromium'), timeout: 60_000 };

/** Ada's page, with Bob, who asks, and Carol, an admin, elsewhere. `fill` puts the questions there. */
async function open(t: TestContext, fill: (db: Db) => Promise<void>, profile: BrowserContextOptions = {}) {
  const gateway = await startGateway(t);
  const { db } = gateway;
  await addPerson(db, 'ada', 'Ada');
  await addPerson(db, 'bob', 'Bob');
  await addPerson(db, 'carol', 'Carol', true);
  await db.run("update accounts set paired_at = 1 where user_id = 'ada'");
  await fill(db);
  const { page, troubles } = await openPage(t, profile);
  const cookie = await gateway.signIn('ada', { name: 'Ada' });
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: gateway.url }]);
  await page.goto(`${gateway.url}/approvals`);
  await page.waitForSelector('#link[data-state=up]');
  return { gateway, db, page, troubles, card: (id: string) => page.locator(`[data-id="${id}"]`) };
}

/** The page looks every five seconds; this makes it look now. */
const look = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** As they stand on the screen. */
const wordsOf = async (card: Locator) => (await card.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');

const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
};

const own = { approvers: 'requester', requester: 'person-ada', requesterAccount: 'web:ada' } as const;

test('R49: a question shows what would run, in whose words, who asked, and who decides', options, async (t) => {
  const { page, card, troubles } = await open(t, async (db) => {
    await addQuestion(db, 'a1', {
      name: 'tidy_up',
      input: '{\n  "folder": "/var/\\u202ecache",\n  "script": "<img src=x onerror=window.hit=1>"\n}',
      message: '<b>Harmless</b> cleaning',
      dual: true,
    });
    await addQuestion(db, 'd1', { tool: 'snapshot_purge', name: 'snapshot_purge' });
    await decideAs(db, 'carol', 'a1', 'approve');
    await decideAs(db, 'ada', 'd1', 'deny', 'we need them until Friday');
    await db.run("update approvals set decided_at = decided_at - 7200000 where id = 'd1'");
  });
  await card('d1').waitFor();
  const words = await wordsOf(card('a1'));
  for (const part of [
    'cache_cleaner skill:cache_cleaner the agent calls it tidy_up',
    'Agent helper, asked by Bob in web / bob',
    '3 min. ago',
    'expires in 3 days',
    '4K7',
    '{ "folder": "/var/\\u202ecache", "script": "<img src=x onerror=window.hit=1>" }',
    "In the agent's own words <b>Harmless</b> cleaning",
    'Two people must approve, one of them an admin.',
    'approved by Carol just now',
  ])
    assert.ok(words.includes(part), `${part} is not in: ${words}`);
  assert.equal(await card('a1').locator('.arguments').getAttribute('tabindex'), '0');
  const past = await wordsOf(card('d1'));
  for (const part of ['snapshot_purge', 'denied by Ada (web:ada) 2 hr. ago', 'we need them until Friday'])
    assert.ok(past.includes(part), `${part} is not in: ${past}`);
  assert.equal(await page.locator('#count').textContent(), '1');
  assert.equal(await page.title(), '(1) Approvals · Gatehouse');
  assert.equal(await page.evaluate('window.hit ?? null'), null);
  assert.deepEqual(troubles, []);
  await shot(page, 'two');
});

test('approve, deny, deny with a reason, always allow, withdraw', options, async (t) => {
  const { db, page, card } = await open(t, async (store) => {
    await addQuestion(store, 'a1');
    await addQuestion(store, 'a2');
    await addQuestion(store, 'a3');
    await addQuestion(store, 'a4', { ...own, grantable: 'any' });
    await addQuestion(store, 'a5', { ...own, grantable: 'exact' });
    await addQuestion(store, 'a6', { ...own, approvers: 'admins' });
  });
  const press = (id: string, name: string) => card(id).getByRole('button', { name, exact: true }).click();
  const closed = async (id: string, state: string, reason: string | null = null) => {
    await card(id).locator(`.outcome .${state}`).waitFor();
    assert.deepEqual({ ...(await kept(db, id)) }, { state, by: 'Ada (web:ada)', reason, answer: null });
  };

  await press('a1', 'Approve');
  await closed('a1', 'approved');
  await press('a2', 'Deny');
  await closed('a2', 'denied');
  await press('a3', 'Deny with a reason');
  await page.keyboard.type('not on a Friday');
  await page.keyboard.press('Enter');
  await closed('a3', 'denied', 'not on a Friday');
  assert.match(await wordsOf(card('a3')), /not on a Friday/);
  assert.equal(await card('a1').getByRole('button').count(), 0);
  await press('a4', 'Always allow');
  await closed('a4', 'approved');
  await press('a5', 'Always allow exactly this');
  await closed('a5', 'approved');
  assert.equal((await db.all('select id from grants')).length, 2);
  await card('a6').getByText('Somebody else decides this.').waitFor();
  assert.equal(await card('a6').getByRole('button', { name: 'Approve' }).count(), 0);
  await press('a6', 'Withdraw');
  await closed('a6', 'withdrawn', 'asked');
  assert.equal(await page.locator('#count').isVisible(), false);
  await page.reload();
  await page.getByText('Nothing is waiting.').waitFor();
  assert.equal(await page.locator('#decided .card').count(), 6);
});

test('R56: a question of the agent is answered by an option, in own words, or not', options, async (t) => {
  const asked = { ...own, kind: 'question', input: 'Which <colour>?' } as const;
  const { db, page, card } = await open(t, async (store) => {
    for (const id of ['q1', 'q2', 'q3']) await addQuestion(store, id, { ...asked, options: ['red', 'green'] });
  });
  assert.match(await wordsOf(card('q1')), /Which <colour>\?/);
  await shot(page, 'asks');
  await card('q1').getByRole('button', { name: 'green' }).click();
  await card('q1').getByText('answered').waitFor();
  await card('q2').getByLabel('Answer').fill('a light blue');
  await page.keyboard.press('Enter');
  await card('q2').getByText('a light blue').waitFor();
  await card('q3').getByRole('button', { name: 'Skip' }).click();
  await card('q3').getByText('skipped').waitFor();
  const answers = await Promise.all(['q1', 'q2', 'q3'].map(async (id) => (await kept(db, id))?.answer));
  assert.deepEqual(answers, ['green', 'a light blue', null]);
});

test('R48: decided elsewhere shows at once, in its place; a late press says who decided', options, async (t) => {
  const both = { approvers: ['web:ada', 'web:carol'] };
  const { db, page, card } = await open(t, async (store) => {
    await addQuestion(store, 'a1', { ...both, createdAt: Date.now() - 500_000 });
    await addQuestion(store, 'a2', { ...both, createdAt: Date.now() - 400_000 });
  });
  const top = async () => (await card('a2').boundingBox())?.y;
  const before = await top();
  await decideAs(db, 'carol', 'a1', 'approve');
  await look(page);
  await card('a1').getByText('approved by Carol (web:carol)').waitFor();
  assert.equal(await card('a1').getByRole('button').count(), 0);
  assert.equal(await top(), before);

  // The page knows nothing of it yet.
  await page.route('**/api/v1/approvals?*', (route) => route.abort());
  await decideAs(db, 'carol', 'a2', 'deny');
  await card('a2').getByRole('button', { name: 'Approve' }).click();
  await page.locator('#problems[role=alert] .toast', { hasText: 'Already denied by Carol (web:carol).' }).waitFor();
  await page.waitForSelector('#link[data-state=down]');
  await page.unroute('**/api/v1/approvals?*');
  await addQuestion(db, 'a3', both);
  await look(page);
  await card('a3').waitFor();
  await page.waitForSelector('#link[data-state=up]');
  await card('a2').getByText('denied by Carol (web:carol)').waitFor();
  const cards = await page.locator('#pending .card').all();
  assert.deepEqual(await Promise.all(cards.map((one) => one.getAttribute('data-id'))), ['a1', 'a2', 'a3']);
});

test('a reason being written survives what others sign; a press under way is not doubled', options, async (t) => {
  const { db, page, card } = await open(t, (store) => addQuestion(store, 'a1', { dual: true }));
  await card('a1').getByRole('button', { name: 'Deny with a reason' }).click();
  await page.keyboard.type('half a sen');
  await decideAs(db, 'carol', 'a1', 'approve');
  await look(page);
  await card('a1').getByText('approved by Carol').waitFor();
  await page.keyboard.type('tence');
  assert.equal(await card('a1').getByLabel('Reason').inputValue(), 'half a sentence');

  const answer = Promise.withResolvers<void>();
  let posts = 0;
  await page.route('**/api/v1/approvals/a1', async (route) => {
    posts++;
    await answer.promise;
    await route.continue();
  });
  await card('a1').getByRole('button', { name: 'Approve' }).click();
  await card('a1').locator('.actions[aria-busy=true]').waitFor();
  await card('a1').getByRole('button', { name: 'Approve' }).click({ force: true });
  await card('a1').getByRole('button', { name: 'Deny', exact: true }).click({ force: true });
  answer.resolve();
  await card('a1').locator('.outcome .approved').waitFor();
  assert.equal(posts, 1);
});

test('R57: the first of two is told that another person must approve too', options, async (t) => {
  const { page, card } = await open(t, (store) => addQuestion(store, 'a1', { dual: true }));
  await card('a1').getByRole('button', { name: 'Approve' }).click();
  const notice = 'Your approval is noted; another person must approve too.';
  await page.locator('#notices[role=status] .toast', { hasText: notice }).waitFor();
  await card('a1').getByText('approved by Ada').waitFor();
});

test('nothing waits: the page says what would stand here; signed out: it says so', options, async (t) => {
  const { page, gateway } = await open(t, async () => {});
  await page.getByText('Nothing is waiting.').waitFor();
  await shot(page, 'empty');
  await page.getByRole('link', { name: 'Chat' }).waitFor();
  await gateway.db.run('delete from sessions');
  await look(page);
  await page.waitForSelector('#link[data-state=out]');
});

test('on a phone in the dark everything fits and can be touched', options, async (t) => {
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' as const };
  const path = `/${'folder/'.repeat(60)}`;
  const lines = Array.from({ length: 60 }, (_, i) => i);
  const { page, card } = await open(
    t,
    async (db) => {
      await addQuestion(db, 'a1', {
        ...own,
        tool: 'a_tool_with_quite_a_long_name_that_has_to_be_broken_somewhere',
        input: JSON.stringify({ path, lines }, null, 2),
        grantable: 'exact',
        createdAt: Date.now() - 500_000,
      });
      await addQuestion(db, 'a2');
      await addQuestion(db, 'd1');
      await decideAs(db, 'ada', 'd1', 'approve');
    },
    phone,
  );
  await card('d1').waitFor();
  await page.getByRole('button', { name: 'Deny with a reason' }).first().click();
  const boxes = await Promise.all((await page.locator('.card *, .bar *').all()).map((one) => one.boundingBox()));
  const right = Math.max(...boxes.map((box) => Math.ceil((box?.x ?? 0) + (box?.width ?? 0))));
  assert.ok(right <= 360, String(right));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
  const box = await page.locator('.arguments').first().boundingBox();
  assert.ok(box && box.height < 400, `${box?.height}`);
  for (const button of await page.locator('.choice:visible').all())
    assert.ok(((await button.boundingBox())?.height ?? 0) >= 44);
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(22, 24, 27)');
  await shot(page, 'phone');
});

test('the colours chosen here hold on the chat page too, as one cookie', options, async (t) => {
  const { page } = await open(t, async () => {});
  await page.click('#theme');
  await page.reload();
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  const cookies = await page.context().cookies();
  assert.equal(cookies.find(({ name }) => name === 'gatehouse_theme')?.path, '/');
});
